//! What a run tells while it goes on, and what it comes to.

use std::ops::Range;

use dmlcts_backend::Capabilities;
use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome};
use dmlcts_spec::{Judgement, Operator};

use crate::{
    CaseResults, Class, Differences, Ending, KnownTally, Partition, Rate, Recorded, RunKind, Totals, Verdict,
};

/// Something that happened. Events come in the order of the cases, whatever the number of threads.
#[derive(Debug)]
pub enum Event<'a> {
    /// The first event.
    Started {
        /// What the backend says of itself.
        capabilities: &'a Capabilities,
        /// The level that the run judges at.
        level: FeatureLevel,
        /// How many cases there are; `None` where they never end.
        cases: Option<u64>,
    },
    /// Some more cases are done: what became of each of them. Only where [`Configuration::record`] asks for it.
    ///
    /// [`Configuration::record`]: crate::Configuration::record
    Cases {
        /// The cases, in their order.
        cases: &'a CaseResults,
        /// What they and all before them came to, where a run can go on from there: no case before them is left out.
        totals: Option<&'a Totals>,
        /// The first failures of the groups of these totals.
        groups: &'a [Group],
    },
    /// Nobody has anything to tell for the moment: what was told of cases stands, and a run can go on from there. Only where
    /// [`Configuration::record`] asks for it.
    ///
    /// [`Configuration::record`]: crate::Configuration::record
    Pause {
        /// What all cases so far came to.
        totals: &'a Totals,
        /// The first failures of their groups.
        groups: &'a [Group],
    },
    /// Some more cases are done.
    Progress(Progress),
    /// Something happened to the backend that no verdict tells yet, such as the first end of a process: a sentence.
    Incident(&'a str),
    /// A case failed in a way that no case before it did: the first of a group.
    Failed(&'a Failure),
    /// All cases are done, and a smaller case is sought in each group of failures.
    Shrinking {
        /// How many groups there are.
        groups: usize,
    },
    /// The last event.
    Finished(&'a Summary),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cases looked at, including those that the filter left out.
    pub read: u64,
    /// Cases put to the backend, or skipped without, since it has not declared what they need.
    pub ran: u64,
    /// Cases whose verdict is not expected.
    pub unexpected: u64,
}

/// What a run came to.
#[derive(Debug)]
pub struct Summary {
    /// What the backend says of itself.
    pub capabilities: Capabilities,
    /// The level that the run judged at.
    pub level: FeatureLevel,
    /// How many cases the source has; `None` where they never end.
    pub cases: Option<u64>,
    /// What the cases came to, added up.
    pub totals: Totals,
    /// Verdicts by strategy, in the order of the source's strategies.
    pub strategies: Vec<(String, Tally)>,
    /// How open questions were answered, in the order of the spec.
    pub recorded: Vec<Recorded>,
    /// What failed, by group, in the order of each group's first case.
    pub groups: Vec<Group>,
    /// Why it ended.
    pub ending: Ending,
    /// Cases that a worker was still busy with when the run ended without it.
    pub abandoned: Vec<Range<u64>>,
    /// Why a backend could not be started, where one could not.
    pub lost: Option<String>,
    /// How processes of the backend ended badly that were told to end, where some did: how many, and how the first of them did.
    pub bad_end: Option<String>,
    /// Where several machines shared the run, those of its parts that ended early; none of the run of one machine.
    pub cut: Vec<CutPart>,
}

/// A part of a run that ended before it had looked at every case. Nobody asked those behind that belong to the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPart {
    /// Which part.
    pub partition: Partition,
    /// Why it ended.
    pub ending: Ending,
    /// How many cases it had looked at, those of other parts included.
    pub read: u64,
}

impl Summary {
    /// The known failures that are not as they are known, where the whole of this suite was to run: each must be
    /// corrected. None of a run that ended early, since nobody knows what its other cases come to.
    pub fn untrue<'a>(&'a self, suite: Option<&'a str>) -> impl Iterator<Item = &'a KnownTally> {
        let is_complete = self.ending == Ending::Complete && self.abandoned.is_empty();
        let suite = suite.filter(|_| is_complete);
        let known = suite
            .into_iter()
            .flat_map(|suite| self.totals.known.iter().filter(move |tally| tally.is_of_suite(suite)));
        known.filter(|tally| tally.conclude().is_error())
    }

    /// The verdicts of all strategies together.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.strategies.iter().for_each(|(_, tally)| all.add(tally));
        all
    }

    /// Whether every case was skipped, so that nothing was judged: no proof of anything, though nothing failed.
    pub fn is_unjudged(&self) -> bool {
        let tally = self.tally();
        tally.total() > 0 && tally.of(Verdict::Skip) == tally.total()
    }

    /// Whether there were outputs to compare, and every one was too large for this run or for the backend: no proof that any is
    /// right, though nothing failed. What failed before it ran, as it is known to, is another reason, unless it may have been too
    /// large, too.
    pub fn is_uncompared(&self) -> bool {
        let work = &self.totals.work;
        let refused = self.totals.known.iter().filter(|tally| tally.entry.signature.keeps_from_running());
        let refused: u64 = refused.map(|tally| tally.counts.as_expected).sum();
        self.has_no_output() && refused <= work.too_large.saturating_sub(work.only_created)
    }

    /// Whether no output was compared and some were too large for it.
    pub(crate) fn has_no_output(&self) -> bool {
        let work = &self.totals.work;
        work.too_large > 0 && work.runs == 0
    }
}

/// How many cases came to which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Verdict::ALL.len()]);

impl Tally {
    /// Cases that came to this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize]
    }

    /// Cases of any verdict.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Cases that the backend was asked and that it has, whatever became of them.
    pub fn tried(&self) -> u64 {
        self.total() - self.of(Verdict::Skip) - self.of(Verdict::Lost)
    }

    /// Cases whose verdict is not expected.
    pub fn unexpected(&self) -> u64 {
        Verdict::ALL
            .into_iter()
            .filter(|verdict| verdict.is_unexpected())
            .map(|verdict| self.of(verdict))
            .sum()
    }

    /// Counts one more case of this verdict.
    pub fn count(&mut self, verdict: Verdict) {
        self.count_many(verdict, 1);
    }

    /// Counts so many more.
    pub fn count_many(&mut self, verdict: Verdict, cases: u64) {
        self.0[verdict as usize] += cases;
    }

    pub(crate) fn correct(&mut self, from: Verdict, to: Verdict) {
        self.0[from as usize] = self.0[from as usize].saturating_sub(1);
        self.0[to as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

/// How much was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often a created operator was run, as far as the backend says that it was.
    pub runs: u64,
    /// Cases whose operator ran a second time, on other data than their own.
    pub on_other_data: u64,
    /// Bytes of the outputs of these runs.
    pub bytes: u64,
    /// Valid cases that were created only, being larger than the memory that a case may take or than the
    /// backend's limit.
    pub too_large: u64,
    /// Those of them that passed: created as they should be, with no output to compare.
    pub only_created: u64,
}

/// What the documentation lets an implementation do, but a careful one does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Runs that wrote into the holes of a strided output.
    pub holes: u64,
    /// Runs that wrote between the last element and `TotalTensorSizeInBytes`.
    pub tails: u64,
    /// Runs whose output differed in no way but those that this run allows.
    pub forgiven: u64,
}

/// Failures that have their operator, their class and their clauses in common.
#[derive(Debug)]
pub struct Group {
    /// How many cases.
    pub cases: u64,
    /// How many of them were run again alone. The others are taken to fail each time, too.
    pub again: u64,
    /// The first of them.
    pub first: Failure,
    /// A smaller case that fails in the same way, where one was found.
    pub smallest: Option<Failure>,
}

/// A case that failed, and what is known of it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its index in the source.
    pub index: u64,
    /// The strategy that made it.
    pub strategy: String,
    /// The case.
    pub case: Case,
    /// Its operator.
    pub operator: &'static Operator,
    /// The feature level that it was judged at.
    pub level: FeatureLevel,
    /// What the spec says of its desc.
    pub judgement: Judgement,
    /// What was expected.
    pub expectation: Expectation,
    /// What the backend did when the case was run again alone.
    pub outcome: Outcome,
    /// What it comes to; a flake where it passed alone.
    pub verdict: Verdict,
    /// How often it failed, where it is a flake.
    pub rate: Option<Rate>,
    /// In which way it failed.
    pub class: Class,
    /// The memory of the run that went wrong, where there was one and it is not too large to keep.
    pub evidence: Option<Evidence>,
}

/// The memory of one run, and how it differs.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Which run of the operator this was.
    pub run: RunKind,
    /// `InputTensor`'s memory.
    pub input: Vec<u8>,
    /// `OutputTensor`'s memory as it should be.
    pub expected: Vec<u8>,
    /// `OutputTensor`'s memory as it is.
    pub actual: Vec<u8>,
    /// The elements that differ.
    pub differences: Differences,
}
