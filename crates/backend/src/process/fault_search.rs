//! Finds the case on which a process failed.
//!
//! The unanswered cases run one at a time, starting with a fresh process. A case is blamed only after it
//! failed alone in two fresh processes that had each answered a probe, because a process may fail for other
//! reasons, such as a lack of memory.
//!
//! If no case fails again, the first unanswered case gets the outcome, so that no crash is missed. The runner
//! then finds that the case passes alone, and reports a flake. None is blamed, and an incident reports it, in
//! two cases: the process was silent, since the reason may be a busy machine; or SIGKILL ended it, since
//! another process sent that.

use std::time::Duration;

use dmlcts_model::{Outcome, Phase};

use super::{
    Host,
    answers::{Failure, LONG_SURPLUS_WAIT},
    child::ProcessFault,
    host::SURPLUS_WAIT,
};
use crate::Batch;

/// The number of fresh processes in which a case must fail before it is blamed.
const BLAME: u32 = 2;

impl Host {
    /// Finds an outcome for each unanswered job of a batch on which a process failed. If the run ends or the
    /// backend is lost in the meantime, the remaining jobs stay unanswered.
    pub(super) fn find_fault(&mut self, first: &Failure, batch: &mut Batch) {
        let jobs = first.answered..batch.jobs().len();
        let listen = if first.is_doubtful { LONG_SURPLUS_WAIT } else { SURPLUS_WAIT };
        let cases = jobs.len();
        let mut is_blamed = false;
        for place in jobs {
            is_blamed |= self.ask_alone(place, listen, batch);
        }
        if is_blamed || self.is_at_its_end() {
            return;
        }
        if let ProcessFault::Silent(time) = first.fault {
            self.launcher.health.silent(cases, time);
        } else if matches!(first.fault, ProcessFault::Ended { is_killed: true, .. }) {
            self.launcher.health.killed();
        } else if let Some(job) = batch.parts().0.get_mut(first.answered) {
            job.outcome = first.fault.outcome("; no case repeats it alone");
        }
    }

    /// Runs one case until it is answered or blamed. Returns whether it was blamed. The host listens for
    /// `listen` after each answer.
    fn ask_alone(&mut self, place: usize, listen: Duration, batch: &mut Batch) -> bool {
        let mut failures = 0;
        while !self.is_at_its_end() {
            let is_fresh = self.process.is_none();
            if is_fresh && !self.start_probed() {
                return false;
            }
            let is_probed = is_fresh && self.has_answered();
            let Err(failure) = self.try_one(place, listen, batch) else { return false };
            if self.is_at_its_end() {
                return false;
            }
            failures += u32::from(is_probed);
            if failures == BLAME {
                if let ProcessFault::Silent(time) = failure.fault {
                    self.note_hang(time);
                }
                if let Some(job) = batch.parts().0.get_mut(place) {
                    job.outcome = failure.fault.outcome("");
                }
                return true;
            }
        }
        false
    }

    /// Starts a process that answers a probe, or any process if no probe is known. Returns whether there is a
    /// process.
    fn start_probed(&mut self) -> bool {
        while self.start_process() {
            // Uses another probe after each dead process: one probe that kills processes must not lose the
            // backend.
            let Some(mut probe) = self.launcher.probes.batch(self.dead as usize) else { return true };
            if self.try_one(0, SURPLUS_WAIT, &mut probe).is_ok() {
                return true;
            }
        }
        false
    }

    /// Sends one case alone.
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

impl ProcessFault {
    /// The outcome of the case that is blamed for this fault.
    fn outcome(&self, remark: &str) -> Outcome {
        match self {
            Self::Ended { how, .. } => Outcome::Crashed(format!("{how}{remark}").into()),
            Self::Silent(_) => Outcome::TimedOut,
            Self::Wrong(_) | Self::Version(_) | Self::LongHello(_) => {
                Outcome::Failed { phase: Phase::Execute, reason: format!("{self}{remark}").into() }
            }
        }
    }
}
