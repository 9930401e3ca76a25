//! Counts the failures of a command's processes over all hosts, and reports them as incidents.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use super::{Incidents, child::ProcessFault};

/// After this many hangs, an incident reports their cost.
const HANGS: u64 = 8;
/// How often the host waits for a case that hangs: once in its batch, and once in each of two fresh
/// processes.
const WAITS: f64 = 3.0;

/// The failures of all processes of a command.
#[derive(Debug, Default)]
pub(super) struct Health {
    has_failed: AtomicBool,
    hangs: AtomicU64,
    silences: AtomicU64,
    is_killed: AtomicBool,
    /// The incidents to which failures are reported.
    pub(super) incidents: Incidents,
}

impl Health {
    pub(super) fn with_incidents(incidents: Incidents) -> Self {
        Self { incidents, ..Self::default() }
    }

    /// Records that a process was silent, and that each of its cases, of this number, was answered alone.
    pub(super) fn silent(&self, cases: usize, patience: Duration) {
        let silences = self.silences.fetch_add(1, Ordering::Relaxed) + 1;
        if silences == 1 {
            let noun = if cases == 1 { "case" } else { "cases" };
            self.incidents.add(format!(
                "no case hung alone: a process gave no answer to {cases} {noun} within --case-timeout ({:.1} s), but to each alone; \
                 a backend that compiles declares `create_timeout`",
                patience.as_secs_f64(),
            ));
        } else if is_power_of_ten(silences) {
            self.incidents.add(format!(
                "{silences} times so far, a process was silent although none of its cases hung alone"
            ));
        }
    }

    /// Records that SIGKILL ended a process, although each of its cases was answered alone.
    pub(super) fn killed(&self) {
        if !self.is_killed.swap(true, Ordering::Relaxed) {
            self.incidents.add(
                "a backend process was killed from outside (SIGKILL), as the kernel does when memory runs out; \
                 each of its cases was answered alone; fewer --jobs need less memory"
                    .to_owned(),
            );
        }
    }

    /// Records a case that hangs; `patience` is the time of one wait. After a few hangs, an incident names
    /// the options that help. `is_bounded` is whether the number of hangs is already limited.
    pub(super) fn hung(&self, patience: Duration, is_bounded: bool) {
        if self.hangs.fetch_add(1, Ordering::Relaxed) + 1 == HANGS {
            let time = WAITS * patience.as_secs_f64();
            let bound = if is_bounded { "" } else { ", and --max-hangs ends such a run" };
            self.incidents.add(format!(
                "{HANGS} cases have hung so far, and each took {time:.1} s; a shorter --case-timeout makes that less{bound}"
            ));
        }
    }

    /// The number of known hangs.
    pub(super) fn hangs(&self) -> u64 {
        self.hangs.load(Ordering::Relaxed)
    }

    /// Records that a process failed. The first one is an incident; the cases that make processes fail are
    /// failures of the run.
    pub(super) fn failed(&self, fault: &ProcessFault) {
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            let time = match fault {
                ProcessFault::Silent(_) => {
                    "; a longer --case-timeout or the backend's `create_timeout` gives one that compiles more time"
                }
                _ => "",
            };
            self.incidents.add(format!(
                "a backend process failed: {fault}; looking for the case that makes it fail{time}"
            ));
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
    fn the_first_failure_is_told_at_once_and_no_later_one() {
        let (incidents, fault) = (Incidents::default(), ProcessFault::ended("it ended (exit status: 3)"));
        let health = Health::with_incidents(incidents.clone());
        (0..1234).for_each(|_| health.failed(&fault));
        let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
        assert_eq!(
            told,
            ["a backend process failed: it ended (exit status: 3); looking for the case that makes it fail"]
        );
    }

    #[test]
    fn what_hanging_costs_is_told_once() {
        let what = "8 cases have hung so far, and each took 30.0 s; a shorter --case-timeout makes that less";
        for (is_bounded, bound) in [(false, ", and --max-hangs ends such a run"), (true, "")] {
            let incidents = Incidents::default();
            let health = Health::with_incidents(incidents.clone());
            (1..HANGS).for_each(|_| health.hung(Duration::from_secs(10), is_bounded));
            assert_eq!(incidents.take(), None);
            (0..HANGS).for_each(|_| health.hung(Duration::from_secs(10), is_bounded));
            let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
            assert_eq!(told, [format!("{what}{bound}")]);
        }
    }

    #[test]
    fn silent_processes_are_told_at_once_and_later_by_powers_of_ten() {
        let incidents = Incidents::default();
        let health = Health::with_incidents(incidents.clone());
        (0..12).for_each(|_| health.silent(40, Duration::from_secs(10)));
        let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
        let first = "no case hung alone: a process gave no answer to 40 cases within --case-timeout (10.0 s), but to each alone; \
                     a backend that compiles declares `create_timeout`";
        let later = "10 times so far, a process was silent although none of its cases hung alone";
        assert_eq!(told, [first, later]);
    }
}
