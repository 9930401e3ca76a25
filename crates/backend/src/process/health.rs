//! How all processes of a command fare, whichever host has them: when the first one fails, people are told; and when one
//! host has given up, the others do, too.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{Incidents, child::Fault, goodbye::Goodbye};

/// The part of its deadline that a slow process is to take for what it is asked at a time, as far as can be foreseen.
const SHARE: f64 = 0.25;

/// After so many cases that hung, people are told what that costs them.
const HANGS: u64 = 8;

/// The failures of all processes of a command.
#[derive(Debug)]
pub(super) struct Health {
    has_answered: AtomicBool,
    failures: AtomicU64,
    hangs: AtomicU64,
    /// Why no process is worth being started any more.
    given_up: OnceLock<String>,
    /// As many cases are asked for at a time.
    at_a_time: AtomicUsize,
    incidents: Incidents,
}

impl Default for Health {
    fn default() -> Self {
        Self::telling(Incidents::default())
    }
}

impl Health {
    pub(super) fn telling(incidents: Incidents) -> Self {
        Self {
            has_answered: AtomicBool::default(),
            failures: AtomicU64::default(),
            hangs: AtomicU64::default(),
            given_up: OnceLock::new(),
            at_a_time: AtomicUsize::new(usize::MAX),
            incidents,
        }
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

    /// As many cases at most a process is to be asked for at a time.
    pub(super) fn at_a_time(&self) -> usize {
        self.at_a_time.load(Ordering::Relaxed)
    }

    /// Notes that a process was silent for longer than it may over so many cases, at least two, since each takes its time: fewer
    /// of them took so long in smaller questions. From now on it is asked for so few that their answers come well in time.
    pub(super) fn slow(&self, cases: usize, took: Duration, patience: Duration) {
        let share = SHARE * patience.as_secs_f64() / took.as_secs_f64();
        let fewer = ((cases as f64 * share) as usize).clamp(1, (cases / 2).max(1));
        if self.at_a_time.fetch_min(fewer, Ordering::Relaxed) <= fewer {
            // Another host found out first.
            return;
        }
        self.incidents.add(format!(
            "no case hung: {cases} cases together took longer than --case-timeout ({:.1} s), and each of them was answered in a \
             smaller question; from now on the backend is asked for at most {fewer} at a time",
            patience.as_secs_f64(),
        ));
    }

    /// Notes that a case hangs, which was waited for so long, twice. After a few, people are told what they can do; whether they have said how
    /// many cases may hang is known.
    pub(super) fn hung(&self, patience: Duration, is_bounded: bool) {
        if self.hangs.fetch_add(1, Ordering::Relaxed) + 1 == HANGS {
            let time = 2.0 * patience.as_secs_f64();
            let bound = if is_bounded { "" } else { ", and --max-hangs ends such a run" };
            self.incidents.add(format!(
                "{HANGS} cases have hung so far, and each took {time:.1} s; a shorter --case-timeout makes that less{bound}"
            ));
        }
    }

    /// How many cases hang, as far as that is known.
    pub(super) fn hangs(&self) -> u64 {
        self.hangs.load(Ordering::Relaxed)
    }

    /// Why no process is worth being started any more, where that is so.
    pub(super) fn given_up(&self) -> Option<String> {
        self.given_up.get().cloned()
    }

    /// Notes that no process is worth being started any more, after so many in a row have answered nothing, the last one for
    /// this fault. Returns the first reason that was noted.
    pub(super) fn give_up(&self, fault: &Fault, fruitless: u32) -> String {
        let reason = || {
            if self.has_answered() {
                format!(
                    "{fruitless} processes in a row answered no case, and another one not even what was answered before; \
                     the last one: {fault}"
                )
            } else {
                format!("{fruitless} processes failed, and none answered a single case: {fault}")
            }
        };
        self.given_up.get_or_init(reason).clone()
    }

    /// Notes how a process ended that was told to, and what it sent though nothing was asked.
    pub(super) fn ended(&self, goodbye: Goodbye, surplus: Option<String>) {
        self.incidents.ended(goodbye, surplus);
    }

    /// Who is told what happens.
    pub(super) fn incidents(&self) -> Incidents {
        self.incidents.clone()
    }

    /// Notes that a process failed.
    pub(super) fn failed(&self, fault: &Fault) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures == 1 {
            self.incidents
                .add(format!("a backend process failed: {fault}; looking for the case that makes it fail"));
        } else if is_power_of_ten(failures) {
            self.incidents.add(format!("{failures} backend processes have failed so far"));
        }
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
        (0..1234).for_each(|_| health.failed(&fault));
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
    fn what_hanging_costs_is_told_once() {
        let what = "8 cases have hung so far, and each took 20.0 s; a shorter --case-timeout makes that less";
        for (is_bounded, bound) in [(false, ", and --max-hangs ends such a run"), (true, "")] {
            let incidents = Incidents::default();
            let health = Health::telling(incidents.clone());
            (1..HANGS).for_each(|_| health.hung(Duration::from_secs(10), is_bounded));
            assert_eq!(incidents.take(), None);
            (0..HANGS).for_each(|_| health.hung(Duration::from_secs(10), is_bounded));
            let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
            assert_eq!(told, [format!("{what}{bound}")]);
        }
    }

    #[test]
    fn what_is_slow_is_asked_for_less_each_time() {
        let health = Health::default();
        assert_eq!(health.at_a_time(), usize::MAX);
        let second = Duration::from_secs(1);
        health.slow(40, 4 * second, second);
        assert_eq!(health.at_a_time(), 2);
        health.slow(40, second, second);
        assert_eq!(health.at_a_time(), 2, "never more");
        health.slow(2, second / 2, second);
        assert_eq!(health.at_a_time(), 1, "fewer in any case");
        health.slow(2, 1000 * second, second);
        assert_eq!(health.at_a_time(), 1);
    }

    #[test]
    fn what_never_answers_is_given_up_for_the_first_reason() {
        let health = Health::default();
        assert_eq!(health.given_up(), None);
        let reason = health.give_up(&Fault::Ended("it ended".to_owned()), 8);
        assert_eq!(reason, "8 processes failed, and none answered a single case: it ended");
        assert_eq!(health.give_up(&Fault::Ended("late".to_owned()), 9), reason);
        assert_eq!(health.given_up(), Some(reason));
    }
}
