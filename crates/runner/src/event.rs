//! The events of a run, and its summary.

use std::ops::Range;

use dmlcts_backend::Capabilities;
use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome};
use dmlcts_spec::{Judgement, Operator};

use crate::{
    CaseResults, Class, Differences, Ending, KnownTally, Partition, Rate, Recorded, RunKind, Totals, Verdict,
};

/// Something that happened during a run. Events come in the order of the cases, for any number of threads.
#[derive(Debug)]
pub enum Event<'a> {
    /// The first event.
    Started {
        /// The backend's capabilities.
        capabilities: &'a Capabilities,
        /// The feature level that the run judges at.
        level: FeatureLevel,
        /// The number of cases; `None` for an endless source.
        cases: Option<u64>,
    },
    /// More cases are done: the result of each. Only if [`Configuration::record`] is set.
    ///
    /// [`Configuration::record`]: crate::Configuration::record
    Cases {
        /// The cases, in their order.
        cases: &'a CaseResults,
        /// The totals of these and all earlier cases, from which a run can resume. `None` if an earlier case
        /// was left out.
        totals: Option<&'a Totals>,
        /// The first failures of the groups in these totals.
        groups: &'a [Group],
    },
    /// No result is waiting: all earlier events are up to date, and a run can resume from here. Only if
    /// [`Configuration::record`] is set.
    ///
    /// [`Configuration::record`]: crate::Configuration::record
    Pause {
        /// The totals of all cases so far.
        totals: &'a Totals,
        /// The first failures of the groups in these totals.
        groups: &'a [Group],
    },
    /// More cases are done: the counts so far.
    Progress(Progress),
    /// Something happened to the backend that no verdict shows yet, such as the first end of a process: a
    /// sentence.
    Incident(&'a str),
    /// A case failed in a new way: the first of its group.
    Failed(&'a Failure),
    /// All cases are done. The collector starts to look for a smaller case in each group of failures.
    Shrinking {
        /// The number of groups.
        groups: usize,
    },
    /// The last event.
    Finished(&'a Summary),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cases read, including those that the filter left out.
    pub read: u64,
    /// Cases that ran on the backend, or were skipped because the backend has not declared what they need.
    pub ran: u64,
    /// Cases with an unexpected verdict.
    pub unexpected: u64,
}

/// The result of a run.
#[derive(Debug)]
pub struct Summary {
    /// The backend's capabilities.
    pub capabilities: Capabilities,
    /// The feature level that the run judged at.
    pub level: FeatureLevel,
    /// The number of cases of the source; `None` for an endless source.
    pub cases: Option<u64>,
    /// The totals of all cases.
    pub totals: Totals,
    /// Verdicts by strategy, in the order of the source's strategies.
    pub strategies: Vec<(String, Tally)>,
    /// The answers to open questions, in the order of the spec.
    pub recorded: Vec<Recorded>,
    /// The groups of failures, in the order of each group's first case.
    pub groups: Vec<Group>,
    /// Why the run ended.
    pub ending: Ending,
    /// Cases in flight on a worker that did not finish before the run ended.
    pub abandoned: Vec<Range<u64>>,
    /// Why a backend could not be started, if one could not.
    pub lost: Option<String>,
    /// How processes of the backend failed to shut down properly, if any did: their number, and how the first
    /// one ended.
    pub bad_end: Option<String>,
    /// If several machines shared the run: the parts that ended early. Empty for a run on one machine.
    pub cut: Vec<CutPart>,
}

/// A part of a run that ended before it had read every case. Its later cases were never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPart {
    /// The part.
    pub partition: Partition,
    /// Why the part ended.
    pub ending: Ending,
    /// The number of cases that it had read, including cases of other parts.
    pub read: u64,
}

impl Summary {
    /// The known failures that do not match what happened, if the whole of this suite was to run: each entry
    /// must be corrected. Empty for a run that ended early, since the results of the other cases are unknown.
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

    /// Whether every case was skipped: nothing failed, but nothing was judged either.
    pub fn is_unjudged(&self) -> bool {
        let tally = self.tally();
        tally.total() > 0 && tally.of(Verdict::Skip) == tally.total()
    }

    /// Whether there were outputs to compare, but every one was too large for this run or for the backend.
    /// Nothing failed, but no output was shown to be right.
    ///
    /// Known failures that keep cases from running are another reason for missing outputs. So the answer is
    /// `false` if there are more such failures than cases that were too large and did not pass.
    pub fn is_uncompared(&self) -> bool {
        let work = &self.totals.work;
        let refused = self.totals.known.iter().filter(|tally| tally.entry.signature.keeps_from_running());
        let refused: u64 = refused.map(|tally| tally.counts.as_expected).sum();
        self.has_no_output() && refused <= work.too_large.saturating_sub(work.only_created)
    }

    /// Whether no output was compared and at least one case was too large to run.
    pub(crate) fn has_no_output(&self) -> bool {
        let work = &self.totals.work;
        work.too_large > 0 && work.runs == 0
    }
}

/// The number of cases for each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Verdict::ALL.len()]);

impl Tally {
    /// The number of cases with this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize]
    }

    /// The number of all cases.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The number of cases that were neither skipped nor lost.
    pub fn tried(&self) -> u64 {
        self.total() - self.of(Verdict::Skip) - self.of(Verdict::Lost)
    }

    /// The number of cases with an unexpected verdict.
    pub fn unexpected(&self) -> u64 {
        Verdict::ALL
            .into_iter()
            .filter(|verdict| verdict.is_unexpected())
            .map(|verdict| self.of(verdict))
            .sum()
    }

    /// Counts one more case with this verdict.
    pub fn count(&mut self, verdict: Verdict) {
        self.count_many(verdict, 1);
    }

    /// Counts more cases with this verdict.
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

/// The amount of work that a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The number of runs of created operators, according to the backend.
    pub runs: u64,
    /// Cases whose operator ran a second time on other data.
    pub on_other_data: u64,
    /// The total size of the outputs of these runs, in bytes.
    pub bytes: u64,
    /// Valid cases that were only created, because they exceed the memory limit of a case or a limit of the
    /// backend.
    pub too_large: u64,
    /// The part of [`Work::too_large`] that passed: the operators were created as expected, with no output to
    /// compare.
    pub only_created: u64,
}

/// Behaviour that the documentation allows but a careful implementation avoids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Runs that wrote into the gaps between the elements of a strided output.
    pub holes: u64,
    /// Runs that wrote between the last element and `TotalTensorSizeInBytes`.
    pub tails: u64,
    /// Runs whose output differed only in ways that this run allows.
    pub forgiven: u64,
}

/// Failures that share their operator, class and clauses.
#[derive(Debug)]
pub struct Group {
    /// The number of cases.
    pub cases: u64,
    /// The number of cases that were run again alone. The other cases are assumed to fail each time.
    pub again: u64,
    /// The first failure.
    pub first: Failure,
    /// A smaller case that fails in the same way, if one was found.
    pub smallest: Option<Failure>,
}

/// A case that failed, with everything known about it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The index of the case in the source.
    pub index: u64,
    /// The strategy that made it.
    pub strategy: String,
    /// The case.
    pub case: Case,
    /// The operator of its desc.
    pub operator: &'static Operator,
    /// The feature level that the case was judged at.
    pub level: FeatureLevel,
    /// The spec's judgement of its desc.
    pub judgement: Judgement,
    /// The spec's expectation.
    pub expectation: Expectation,
    /// What the backend did when the case was run again alone.
    pub outcome: Outcome,
    /// The verdict; a flake if the case passed alone.
    pub verdict: Verdict,
    /// How often the case failed, if it is a flake.
    pub rate: Option<Rate>,
    /// How it failed.
    pub class: Class,
    /// The memory of the run that went wrong, if there is one and it is small enough to keep.
    pub evidence: Option<Evidence>,
}

/// The memory of one run, and its differences.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Which run of the operator this is.
    pub run: RunKind,
    /// `InputTensor`'s memory.
    pub input: Vec<u8>,
    /// The expected memory of `OutputTensor`.
    pub expected: Vec<u8>,
    /// The actual memory of `OutputTensor`.
    pub actual: Vec<u8>,
    /// The elements that differ.
    pub differences: Differences,
}
