//! What the memory of outputs holds before they are written: it is sent with a question, and it is there again before anybody
//! asks a second time.

use std::ops::Range;

use crate::Job;

/// What the outputs of some jobs are full of, a byte a run.
pub(super) struct Poison(Vec<u8>);

impl Poison {
    pub(super) fn of(jobs: &[Job], outputs: &[u8]) -> Self {
        let runs = jobs.iter().flat_map(|job| &job.runs);
        Self(runs.map(|run| outputs.get(run.output.start).copied().unwrap_or_default()).collect())
    }

    /// The bytes, in the order of the runs.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Fills the outputs of the jobs in `range` again.
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
