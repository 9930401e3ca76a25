//! The times of a batch. They tell the author of a slow backend where its time goes, and decide no verdict.

use std::time::Duration;

/// The times of a batch, as far as the backend measures them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The time that the start of processes took.
    pub start: Duration,
    /// The time from the question to the answer, without `start`. `None` if only the caller can measure it.
    pub answer: Option<Duration>,
    /// The part of it in which the backend did its own work.
    pub work: Option<WorkTimes>,
}

/// The times in which a backend did its own work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkTimes {
    /// The time that the creation of operators took, and their destruction.
    pub create: Duration,
    /// The time that the runs of operators took.
    pub run: Duration,
}

impl WorkTimes {
    /// Adds times. A process may claim any time, so the sum is limited.
    pub fn add(&mut self, other: Self) {
        self.create = self.create.saturating_add(other.create);
        self.run = self.run.saturating_add(other.run);
    }
}
