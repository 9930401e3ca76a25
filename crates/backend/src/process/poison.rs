//! The content of output memory before a run. It is sent with a question, and it is restored before the
//! question is asked again.

use std::ops::Range;

use crate::Job;

/// The poison of some jobs' outputs, one byte for each run in order.
pub(super) struct Poison(pub(super) Vec<u8>);

impl Poison {
    pub(super) fn of(jobs: &[Job], outputs: &[u8]) -> Self {
        let runs = jobs.iter().flat_map(|job| &job.runs);
        Self(runs.map(|run| outputs.get(run.output.start).copied().unwrap_or_default()).collect())
    }

    /// Fills the outputs of the jobs in `range` with their poison again.
    pub(super) fn restore(&self, range: Range<usize>, jobs: &[Job], outputs: &mut [u8]) {
        let runs =
            jobs.iter().enumerate().flat_map(|(place, job)| job.runs.iter().map(move |run| (place, run)));
        for ((place, run), byte) in runs.zip(&self.0) {
            if range.contains(&place) {
                outputs[run.output.clone()].fill(*byte);
            }
        }
    }
}
