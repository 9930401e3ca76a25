//! How all processes of a command fare, whichever host has them: when the first one fails, people are told; and when none
//! of them ever answers anything, it is given up soon.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{Incidents, child::Fault};

/// So many processes may fail before any process has answered a single case. Three cases that somebody gives, each of which
/// ends its process, need fewer: a process for all, one for each alone, and one for each to be shown.
const NEVER_ANSWERED: u64 = 8;

/// The failures of all processes of a command.
#[derive(Debug, Default)]
pub(super) struct Health {
    has_answered: AtomicBool,
    failures: AtomicU64,
    /// Why no process is worth being started any more.
    given_up: OnceLock<String>,
    incidents: Incidents,
}

impl Health {
    pub(super) fn telling(incidents: Incidents) -> Self {
        Self { incidents, ..Self::default() }
    }

    /// Notes that a process answered a case.
    pub(super) fn answered(&self) {
        // Most often it is known, and a cache line that nobody writes to is not fought for.
        if !self.has_answered() {
            self.has_answered.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// Notes that a process failed. Returns why none is worth being started any more, where that is so.
    pub(super) fn failed(&self, fault: &Fault) -> Option<String> {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures == 1 {
            self.incidents
                .add(format!("a backend process failed: {fault}; looking for the case that makes it fail"));
        } else if is_power_of_ten(failures) {
            self.incidents.add(format!("{failures} backend processes have failed so far"));
        }
        if failures >= NEVER_ANSWERED && !self.has_answered() {
            let reason =
                || format!("{NEVER_ANSWERED} processes failed, and none answered a single case: {fault}");
            return Some(self.given_up.get_or_init(reason).clone());
        }
        None
    }
}

fn is_power_of_ten(number: u64) -> bool {
    number == 10_u64.pow(number.max(1).ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_told_at_once_and_later_ones_by_powers_of_ten() {
        let (incidents, fault) = (Incidents::default(), Fault::Ended("it ended (exit status: 3)".to_owned()));
        let health = Health::telling(incidents.clone());
        health.answered();
        assert!((0..1234).all(|_| health.failed(&fault).is_none()));
        let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
        assert_eq!(
            told,
            [
                "a backend process failed: it ended (exit status: 3); looking for the case that makes it fail",
                "10 backend processes have failed so far",
                "100 backend processes have failed so far",
                "1000 backend processes have failed so far",
            ]
        );
    }

    #[test]
    fn what_never_answers_is_given_up_for_the_first_reason() {
        let health = Health::default();
        let failed = |how: &str| health.failed(&Fault::Ended(how.to_owned()));
        assert!((1..NEVER_ANSWERED).all(|_| failed("early").is_none()));
        let reason = failed("it ended").expect("it is given up");
        assert_eq!(reason, "8 processes failed, and none answered a single case: it ended");
        assert_eq!(failed("late"), Some(reason));
    }
}
