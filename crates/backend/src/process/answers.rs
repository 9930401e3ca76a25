//! Taking what a process answers to a question: its results as they come, and a look at what comes behind them, where the process
//! may only wait, or answer the next question.

use std::time::Duration;

use dmlcts_model::Outcome;

use super::{
    Host,
    child::{Fault, Received},
    host::Question,
};
use crate::{
    Job,
    protocol::{Frame, Kind, Results, short},
};

/// How long a process is listened to once it has been found to send more than answers.
pub(super) const LISTEN: Duration = Duration::from_millis(5);

/// How a process failed over some jobs.
pub(super) struct Failure {
    pub(super) fault: Fault,
    /// How many of the jobs, from the first on, are answered.
    pub(super) answered: usize,
    /// Whether it sent what makes no sense or more than its answers, so that an answer may be another job's.
    pub(super) is_doubtful: bool,
}

impl Host {
    /// Takes the results of jobs that the process has, and then listens for `listen` to what else it sends. A process that fails is
    /// ended, and the outputs of jobs without an answer are as before. Of a process that is doubtful, no answer counts.
    pub(super) fn collect(
        &mut self,
        jobs: &mut [Job],
        outputs: &mut [u8],
        question: &Question,
        listen: Duration,
    ) -> Result<(), Failure> {
        let (mut answered, mut is_followed) = (0, false);
        let mut taken = Ok(());
        while taken.is_ok() && answered < jobs.len() {
            taken = self.receive(self.launcher.case_timeout()).and_then(|received| {
                is_followed = received.is_followed;
                let count = take(&received.frame, question.number, &mut jobs[answered..], outputs);
                answered += count.map_err(Fault::Wrong)?;
                self.note_answer();
                Ok(())
            });
        }
        let (is_doubtful, fault) = match taken {
            Err(fault) => (matches!(fault, Fault::Wrong(_)), fault),
            // What has come already is not waited for in vain.
            Ok(()) => match self.surplus(if is_followed { LISTEN } else { listen }, is_followed) {
                Some(fault) if !jobs.is_empty() => (true, fault),
                _ => return Ok(()),
            },
        };
        if is_doubtful {
            answered = 0;
        }
        question.poison.restore(answered..jobs.len(), jobs, outputs);
        jobs[answered..].iter_mut().for_each(|job| job.outcome = Outcome::Lost);
        self.discard(&fault);
        Err(Failure { fault, answered, is_doubtful })
    }

    /// What the process did, other than it may, after it had answered everything of a question. `is_followed` says that something
    /// has come behind its answers.
    fn surplus(&mut self, patience: Duration, is_followed: bool) -> Option<Fault> {
        let is_busy = self.is_busy();
        if is_busy && !is_followed {
            // It works on the next question. What it still sends to this one comes to light there.
            return None;
        }
        let later = |what: String| format!("after its answers, {what}");
        match self.receive(patience) {
            Err(Fault::Silent(_)) => None,
            Ok(received) if self.is_next(&received.frame) => self.keep(Ok(received)),
            // It did so while it had the next question.
            Err(fault) if is_busy => self.keep(Err(fault)),
            Ok(Received { frame, .. }) => {
                Some(Fault::Wrong(later(format!("it sent another `{}`", frame.kind.name()))))
            }
            Err(Fault::Ended(how)) => Some(Fault::Ended(later(how))),
            Err(fault) => Some(Fault::Wrong(later(fault.to_string()))),
        }
    }

    /// Whether a frame answers another question that the process has.
    fn is_next(&self, frame: &Frame) -> bool {
        let results = Results::read(&frame.header).ok().filter(|_| frame.kind == Kind::Results);
        results.is_some_and(|results| results.number.is_some_and(|number| self.has(number)))
    }

    /// Keeps what is for the next question.
    fn keep(&mut self, early: Result<Received, Fault>) -> Option<Fault> {
        if let Some(process) = &mut self.process {
            process.early = Some(early);
        }
        None
    }

    /// The next frame, or what came instead of it.
    fn receive(&mut self, patience: Duration) -> Result<Received, Fault> {
        let patience = self.launcher.until_the_end(patience);
        let Some(process) = &mut self.process else { return Err(Fault::Ended(String::new())) };
        process.early.take().unwrap_or_else(|| process.child.receive(patience))
    }
}

/// Writes down what a frame says of the next jobs of a question, and returns of how many.
fn take(frame: &Frame, number: Option<u64>, jobs: &mut [Job], outputs: &mut [u8]) -> Result<usize, String> {
    if frame.kind != Kind::Results {
        let name = frame.kind.name();
        let is_echo = matches!(frame.kind, Kind::Run | Kind::Packed);
        let echo = if is_echo { ": it answers with what it was sent" } else { "" };
        return Err(format!("it sent `{name}` where `results` are due{echo}"));
    }
    let results = Results::read(&frame.header).and_then(|results| {
        if results.number == number {
            return results.apply(&frame.body, jobs, outputs);
        }
        let name = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
        Err(format!("their `number` is {}, where {} is due", name(results.number), name(number)))
    });
    results.map_err(|what| format!("its `results` make no sense: {}", short(&what)))
}
