//! Ending a run early, from any thread: a signal, a deadline, a limit, the first failure.

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
    /// Every case of the suite was looked at.
    Complete,
    /// As many cases ran as were asked for.
    Limit,
    /// A case failed, and the run was to end there.
    FirstFailure,
    /// The time was up.
    Timeout,
    /// As many cases hung as may.
    Hangs,
    /// Somebody asked for it, by Ctrl-C or another signal.
    Interrupted,
    /// A backend could not be started.
    BackendLost,
    /// What became of the cases could not be recorded any more.
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

    /// As files spell it.
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

    /// The ending that is spelled so.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.id() == id)
    }
}

/// A switch that ends a run. Copies share it; the first reason given stays.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicU8>,
    deadline: Deadline,
}

impl Stop {
    /// Asks the run to end. Cases that are being run are finished first, and what failed is looked into; but where the reason is
    /// [`Ending::Interrupted`], that has to be done within a [moment](Configuration::MOMENT), though another reason was given before.
    pub fn request(&self, reason: Ending) {
        // Nothing was requested where the byte is still 0, which is `Ending::Complete`.
        let _ = self.reason.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
        if reason == Ending::Interrupted {
            self.deadline.set(Instant::now() + Configuration::MOMENT);
        }
    }

    /// When nobody waits for backends any more: a moment after somebody asked for the end, by Ctrl-C or another signal.
    pub fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Whether somebody asked for the end, be it that the run was ending for another reason already.
    pub fn is_interrupted(&self) -> bool {
        self.deadline.time().is_some()
    }

    /// Whether the run is to end.
    pub fn is_requested(&self) -> bool {
        self.reason.load(Ordering::Relaxed) != 0
    }

    /// The first reason that was given; [`Ending::Complete`] where there was none.
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
