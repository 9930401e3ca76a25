//! Finding the case over which a process failed.
//!
//! The cases without an answer are asked one at a time, of a fresh process to begin with. A case is blamed only after it failed
//! alone in two fresh processes that had each answered a probe: a process may fail for reasons of its own, such as a machine that
//! is short of memory. If no case fails again, the first case without an answer gets the outcome, so that no crash is passed over;
//! the runner finds that it passes alone, and reports a flake. Cases that only together took longer than the deadline are not
//! blamed.

use std::time::{Duration, Instant};

use dmlcts_model::{Outcome, Phase};

use super::{
    Host,
    answers::{Failure, LISTEN},
    child::Fault,
    host::MOMENT,
};
use crate::Batch;

/// In how many fresh processes a case fails before it is blamed.
const BLAME: u32 = 2;
/// A process was silent because it is slow if its cases took more than one part in so many of the deadline, asked one at a time.
/// Another question may have kept it busy as well, and no machine is equally fast all the time.
const SLOW: u32 = 2;

/// What asking the cases one at a time has shown.
#[derive(Default)]
struct Search {
    /// Whether a case was blamed.
    is_blamed: bool,
    /// Whether a process failed, other than at the first time.
    is_troubled: bool,
    /// How long the answers took.
    took: Duration,
    /// How many cases there were.
    cases: usize,
    /// How long a process is listened to after each answer.
    listen: Duration,
}

impl Host {
    /// Finds an outcome for each job of a batch that has none, since a process failed over it. When the run ends meanwhile, or the
    /// backend is lost, the remaining jobs have no outcome.
    pub(super) fn find_fault(&mut self, first: &Failure, batch: &mut Batch) {
        let jobs = first.answered..batch.jobs().len();
        let listen = if first.is_doubtful { LISTEN } else { MOMENT };
        let mut search = Search { cases: jobs.len(), listen, ..Search::default() };
        for place in jobs {
            self.ask_alone(place, &mut search, batch);
        }
        if search.is_blamed || self.is_at_its_end() {
            return;
        }
        if matches!(first.fault, Fault::Silent(_)) && search.is_slow(self.launcher.case_timeout()) {
            self.launcher.note_slow(search.cases);
        } else if let Some(job) = batch.parts().0.get_mut(first.answered) {
            job.outcome = first.fault.outcome("; no case does it again when it is run alone");
        }
    }

    /// Asks for one case until it is answered or blamed.
    fn ask_alone(&mut self, place: usize, search: &mut Search, batch: &mut Batch) {
        let mut failures = 0;
        while !self.is_at_its_end() {
            let is_fresh = self.process.is_none();
            if is_fresh && !self.start_probed() {
                return;
            }
            let is_probed = is_fresh && self.has_answered();
            let asked = Instant::now();
            let Err(failure) = self.try_one(place, search.listen, batch) else {
                search.took += asked.elapsed();
                return;
            };
            if self.is_at_its_end() {
                return;
            }
            search.is_troubled = true;
            failures += u32::from(is_probed);
            if failures == BLAME {
                search.is_blamed = true;
                if matches!(failure.fault, Fault::Silent(_)) {
                    self.note_hang();
                }
                if let Some(job) = batch.parts().0.get_mut(place) {
                    job.outcome = failure.fault.outcome("");
                }
                return;
            }
        }
    }

    /// Starts a process that answers a probe, or any process where no probe is known. Returns whether there is one.
    fn start_probed(&mut self) -> bool {
        while self.start_process() {
            // A probe that kills processes must not give up the backend.
            let Some(mut probe) = self.launcher.probes.batch(self.dead as usize) else { return true };
            if self.try_one(0, MOMENT, &mut probe).is_ok() {
                return true;
            }
        }
        false
    }

    /// Asks for one case, and for nothing else.
    fn try_one(&mut self, place: usize, listen: Duration, batch: &mut Batch) -> Result<(), Failure> {
        let (jobs, inputs, outputs) = batch.parts();
        let Some(job) = jobs.get_mut(place..=place) else { return Ok(()) };
        let mut question = self.question(job, inputs, outputs);
        self.send(&mut question);
        let collected = self.collect(job, outputs, &question, listen);
        self.launcher.probes.note(job, inputs);
        collected
    }
}

impl Search {
    /// Whether a process was silent because several cases took their time, and none of them hangs.
    fn is_slow(&self, patience: Duration) -> bool {
        self.cases > 1 && !self.is_troubled && self.took * SLOW >= patience
    }
}

impl Fault {
    /// The outcome of the case that is blamed for it.
    fn outcome(&self, remark: &str) -> Outcome {
        match self {
            Self::Ended(how) => Outcome::Crashed(format!("{how}{remark}").into()),
            Self::Silent(_) => Outcome::TimedOut,
            Self::Wrong(_) | Self::Version(_) | Self::LongHello(_) => {
                Outcome::Failed { phase: Phase::Execute, reason: format!("{self}{remark}").into() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several cases were silent together since each takes its time, if one by one they took half of the deadline.
    #[test]
    fn cases_are_slow_that_take_half_of_the_deadline_one_by_one() {
        let (deadline, moment) = (Duration::from_secs(10), Duration::from_millis(1));
        let search = |cases, took| Search { took, cases, ..Search::default() };
        assert!(search(2, deadline / 2).is_slow(deadline) && search(300, deadline).is_slow(deadline));
        assert!(
            !search(2, (deadline / 2).saturating_sub(moment)).is_slow(deadline),
            "one hung, and once only"
        );
        assert!(!search(1, deadline).is_slow(deadline), "a single case that takes too long hangs");
        assert!(!Search { is_troubled: true, ..search(2, deadline) }.is_slow(deadline));
    }
}
