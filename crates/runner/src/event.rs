//! The events of a run, and its summary.

use std::ops::Range;

use dmlcts_backend::Capabilities;
use dmlcts_model::FeatureLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CaseResults, Class, Conclusion, Ending, Failure, Group, KnownTally, Partition, QuestionAnswers, Tally,
    Timings, Totals, Verdict,
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
    /// More cases are done: the totals so far.
    Progress(&'a Totals),
    /// Something happened to the backend that no verdict shows yet, such as the first end of a process: a
    /// sentence.
    Incident(&'a str),
    /// This many cases failed in this class before any passed: the backend may not work at all.
    FailsFromStart {
        /// The number of cases.
        cases: usize,
        /// How they failed.
        class: Class,
    },
    /// A case failed in a new way: the first of its group.
    Failed(&'a Failure),
}

/// What a run came to.
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
    /// The times of the workers; `None` for a run that was read from a file.
    pub timings: Option<Timings>,
    /// Verdicts by strategy, in the order of the source's strategies.
    pub strategies: Vec<(String, Tally)>,
    /// The answers to open questions, in the order of the spec.
    pub recorded: Vec<QuestionAnswers>,
    /// The groups of failures, in the order of each group's first case: what a record of the run keeps.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutPart {
    /// The part.
    pub partition: Partition,
    /// Why the part ended.
    pub ending: Ending,
    /// The number of cases that it had read, including cases of other parts.
    pub read: u64,
}

impl Summary {
    /// What became of each known failure. `is_whole` is whether all cases of a suite were to run.
    pub fn known(&self, is_whole: bool) -> impl Iterator<Item = (&KnownTally, Conclusion)> {
        let is_complete = self.ending == Ending::Complete && self.abandoned.is_empty();
        self.totals.known.iter().map(move |tally| (tally, tally.conclude(is_whole && is_complete)))
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
        let refused = self
            .totals
            .known
            .iter()
            .filter(|tally| tally.entry.classes.iter().any(|class| class.keeps_from_running()));
        let refused: u64 = refused.map(|tally| tally.counts.as_expected).sum();
        self.has_no_output() && refused <= work.too_large.saturating_sub(work.only_created)
    }

    /// Whether no output was compared and at least one case was too large to run.
    pub fn has_no_output(&self) -> bool {
        let work = &self.totals.work;
        work.too_large > 0 && work.runs == 0
    }
}
