//! Where the time of a run goes, summed over its workers. A process works while its host prepares the next
//! batch, so the times overlap.

use std::time::Duration;

use dmlcts_backend::{Times, WorkTimes};

/// The times of a run's workers. Cases that run again alone are not in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// The number of workers.
    pub workers: u64,
    /// The time that the start of backends took.
    pub start: Duration,
    /// The time from questions to answers.
    pub answer: Duration,
    /// The part of it in which the backend did its own work, if it measures that.
    pub work: Option<WorkTimes>,
    /// The time that the host took to prepare and to judge cases.
    pub host: Duration,
    /// The time that the explanation of failures took, which is after the cases.
    pub explanation: Duration,
}

impl Timings {
    /// The part of the answers' time in which the backend neither created nor ran an operator, if it measures
    /// its work.
    pub fn transfer(&self) -> Option<Duration> {
        self.work.map(|work| self.answer.saturating_sub(work.create.saturating_add(work.run)))
    }

    /// Adds other times.
    pub(crate) fn add(&mut self, other: &Self) {
        self.workers += other.workers;
        self.start += other.start;
        self.answer += other.answer;
        self.add_work(other.work);
        self.host += other.host;
    }

    /// Adds the times of a batch. `called` is the time that the calls of its backend took.
    pub(crate) fn add_batch(&mut self, times: &Times, called: Duration) {
        self.start += times.start;
        self.answer += times.answer.unwrap_or(called);
        self.add_work(times.work);
    }

    fn add_work(&mut self, work: Option<WorkTimes>) {
        if let Some(work) = work {
            self.work.get_or_insert_default().add(work);
        }
    }
}
