//! Ends a run early, from any thread: after a signal, a deadline, a limit, or the first failure.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use dmlcts_backend::process::Deadline;
use dmlcts_model::named_enum;

named_enum! {
    /// Why a run ended.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Ending: id, from_id {
        /// Every case was read.
        Complete = "complete",
        /// The maximum number of cases ran.
        Limit = "limit",
        /// The maximum number of cases failed.
        MaxFailures = "max-failures",
        /// The time limit was reached.
        Timeout = "timeout",
        /// The maximum number of cases hung.
        Hangs = "hangs",
        /// The process got Ctrl-C or another signal.
        Interrupted = "interrupted",
        /// A backend could not be started or replaced.
        BackendLost = "backend-lost",
        /// The results could not be recorded.
        NotRecorded = "not-recorded",
    }
}

/// A switch that ends a run. Clones share it. The first reason stays.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicU8>,
    deadline: Deadline,
    is_extended: Arc<AtomicBool>,
}

impl Stop {
    /// The time in which cases that are in flight at the deadline, or at an interrupt, may still be answered.
    /// A backend should not wait longer either. Cases without an outcome after this time count as not run.
    pub const MOMENT: Duration = Duration::from_millis(500);

    /// The time that each [extension](Self::extend) gives.
    pub const EXTENSION: Duration = Duration::from_millis(2_500);

    /// Asks the run to end. Cases in flight are finished first, and failures are examined. After
    /// [`Ending::Interrupted`], this must be done within a [moment](Self::MOMENT), even if another reason was
    /// given before.
    pub fn request(&self, reason: Ending) {
        // The byte is 0, which is `Ending::Complete`, until the first request.
        let _ = self.reason.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
        if reason == Ending::Interrupted {
            self.deadline.set(Instant::now() + Self::MOMENT);
        }
    }

    /// A switch for another run of the same command. Only an interrupt ends both.
    #[must_use]
    pub fn of_next_run(&self) -> Self {
        Self { reason: Arc::default(), ..self.clone() }
    }

    /// The deadline after which no backend is waited for. It is set by an interrupt, to a moment later.
    pub fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Whether the run was interrupted, even if it was ending for another reason. After
    /// [`Self::extend`], whether the time that it gave is over.
    pub fn is_interrupted(&self) -> bool {
        let is_over = |time| !self.is_extended.load(Ordering::Relaxed) || Instant::now() >= time;
        self.deadline.time().is_some_and(is_over)
    }

    /// Lets an explanation go on for [some more time](Self::EXTENSION), if the run was interrupted.
    pub fn extend(&self) {
        if self.deadline.time().is_some() {
            self.deadline.move_to(Instant::now() + Self::EXTENSION);
            self.is_extended.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the run must end.
    pub fn is_requested(&self) -> bool {
        self.reason.load(Ordering::Relaxed) != 0 || self.deadline.time().is_some()
    }

    /// The first reason that was given; [`Ending::Complete`] if there was none.
    pub fn reason(&self) -> Ending {
        match self.reason.load(Ordering::Relaxed) {
            // The interrupt came while another run of the command was going on.
            0 if self.deadline.time().is_some() => Ending::Interrupted,
            reason => Ending::ALL[usize::from(reason) % Ending::ALL.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interrupt_ends_the_next_run() {
        let first = Stop::default();
        first.request(Ending::MaxFailures);
        let second = first.of_next_run();
        assert_eq!((second.is_requested(), second.reason()), (false, Ending::Complete));
        first.request(Ending::Interrupted);
        assert_eq!((second.is_requested(), second.reason()), (true, Ending::Interrupted));
        assert!(second.is_interrupted() && second.of_next_run().is_requested());
    }

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
        let at = stop.deadline().time();
        stop.extend();
        assert!(!stop.is_interrupted() && stop.deadline().time() > at, "there is some more time");
        stop.deadline().move_to(Instant::now());
        assert!(stop.is_interrupted(), "it is over");
        for (code, ending) in Ending::ALL.into_iter().enumerate() {
            assert_eq!(ending as usize, code);
            assert_eq!(Ending::from_id(ending.id()), Some(ending));
        }
    }
}
