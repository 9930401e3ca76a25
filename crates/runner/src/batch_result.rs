//! The results of a batch.

use std::ops::Range;

use crate::{CaseResults, Ending, Found, Timings, Totals};

/// The results of the cases of a batch.
#[derive(Debug)]
pub(crate) struct BatchResult {
    /// The range of the cases.
    pub(crate) range: Range<u64>,
    /// Their totals. The coverage is everything that the worker exercised up to the end of this batch.
    pub(crate) totals: Totals,
    /// The times that the worker took since its last result.
    pub(crate) timings: Timings,
    /// The result of each case, if results are recorded.
    pub(crate) cases: CaseResults,
    /// The cases that passed, without those that were only created.
    pub(crate) passes: Vec<u64>,
    /// The cases that failed.
    pub(crate) failures: Vec<Found>,
    /// The cases that failed as a known failure says.
    pub(crate) expected: Vec<Found>,
    /// The number of cases without an answer in time.
    pub(crate) hangs: u64,
    /// Why the results end before the last case, if they do: a failure ended the run, or a case had no answer
    /// when the run was cut off.
    pub(crate) cut: Option<Ending>,
}

impl BatchResult {
    /// A result for cases that were all read but not judged yet. `totals` are those of no case.
    pub(crate) fn new(range: Range<u64>, mut totals: Totals) -> Self {
        totals.progress.read = range.end - range.start;
        Self {
            range,
            totals,
            timings: Timings::default(),
            cases: CaseResults::default(),
            passes: Vec::new(),
            failures: Vec::new(),
            expected: Vec::new(),
            hangs: 0,
            cut: None,
        }
    }

    /// Ends the results before the case at an index, which counts as not read like all later ones.
    pub(crate) fn end_before(&mut self, index: u64) {
        let progress = &mut self.totals.progress;
        progress.read = progress.read.min(index - self.range.start);
    }

    /// Ends the results before the case at an index, for this reason.
    pub(crate) fn cut(&mut self, index: u64, ending: Ending) {
        self.end_before(index);
        self.cut = Some(ending);
    }

    /// Whether every case of the batch was read.
    pub(crate) fn is_whole(&self) -> bool {
        self.totals.progress.read == self.range.end - self.range.start
    }
}
