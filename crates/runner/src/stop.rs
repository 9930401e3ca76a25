//! Ends a run early, from any thread: after a signal, a deadline, a limit, or the first failure.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Instant,
};

use dmlcts_backend::process::Deadline;

use crate::Configuration;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Every case of the suite was read.
    Complete,
    /// The limit on the number of cases was reached.
    Limit,
    /// A case failed in a run that ends at the first failure.
    FirstFailure,
    /// The deadline passed.
    Timeout,
    /// The limit on the number of hangs was reached.
    Hangs,
    /// The run was interrupted, by Ctrl-C or another signal.
    Interrupted,
    /// A backend could not be started.
    BackendLost,
    /// The results could not be recorded.
    NotRecorded,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 8] = [
        Self::Complete,
        Self::Limit,
        Self::FirstFailure,
        Self::Timeout,
        Self::Hangs,
        Self::Interrupted,
        Self::BackendLost,
        Self::NotRecorded,
    ];

    /// The name in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Limit => "limit",
            Self::FirstFailure => "first-failure",
            Self::Timeout => "timeout",
            Self::Hangs => "hangs",
            Self::Interrupted => "interrupted",
            Self::BackendLost => "backend-lost",
            Self::NotRecorded => "not-recorded",
        }
    }

    /// The ending with this name.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.id() == id)
    }
}

/// A switch that ends a run. Clones share it. The first reason stays.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicU8>,
    deadline: Deadline,
}

impl Stop {
    /// Asks the run to end. Cases in flight are finished first, and failures are examined. After
    /// [`Ending::Interrupted`], this must be done within a [moment](Configuration::MOMENT), even if another
    /// reason was given before.
    pub fn request(&self, reason: Ending) {
        // The byte is 0, which is `Ending::Complete`, until the first request.
        let _ = self.reason.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
        if reason == Ending::Interrupted {
            self.deadline.set(Instant::now() + Configuration::MOMENT);
        }
    }

    /// The deadline after which no backend is waited for. It is set by an interrupt, to a moment later.
    pub fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Whether the run was interrupted, even if it was ending for another reason.
    pub fn is_interrupted(&self) -> bool {
        self.deadline.time().is_some()
    }

    /// Whether the run must end.
    pub fn is_requested(&self) -> bool {
        self.reason.load(Ordering::Relaxed) != 0
    }

    /// The first reason that was given; [`Ending::Complete`] if there was none.
    pub fn reason(&self) -> Ending {
        Ending::ALL[usize::from(self.reason.load(Ordering::Relaxed)) % Ending::ALL.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let stop = Stop::default();
        assert!(!stop.is_requested());
        assert_eq!(stop.reason(), Ending::Complete);
        stop.clone().request(Ending::Timeout);
        assert!(!stop.is_interrupted());
        stop.request(Ending::Interrupted);
        assert!(stop.is_requested() && stop.is_interrupted());
        assert_eq!(stop.reason(), Ending::Timeout);
        for (code, ending) in Ending::ALL.into_iter().enumerate() {
            assert_eq!(ending as usize, code);
            assert_eq!(Ending::from_id(ending.id()), Some(ending));
        }
    }
}
