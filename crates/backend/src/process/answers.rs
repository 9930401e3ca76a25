//! Taking what a process answers to a batch: its results as they come, and a look at what comes behind them, where it may
//! only wait or answer what it was asked next.

use std::time::Duration;

use super::{
    Host,
    child::{Fault, Received},
    host::{LISTEN, Question},
};
use crate::{
    Job,
    protocol::{Frame, Kind, Results, short},
};

/// How a process failed over some jobs.
pub(super) struct Failure {
    pub(super) fault: Fault,
    /// How many of the jobs it had answered, as far as that is known.
    pub(super) answered: usize,
    /// Whether its answers were too many or made no sense, so that nobody knows which answer is whose.
    pub(super) is_doubtful: bool,
}

impl Host {
    /// Takes the results of jobs that the process has, and then listens for so long to what else it sends. Where its answers
    /// cannot be told apart, the memory of their outputs is filled again as before. Says whether all have come: where nothing does for
    /// the time of a `pause`, those that have are told of first, and stand.
    pub(super) fn collect(
        &mut self,
        jobs: &mut [Job],
        outputs: &mut [u8],
        question: &mut Question,
        (listen, pause): (Duration, Duration),
    ) -> Result<bool, Failure> {
        let (mut is_doubtful, mut followed) = (false, false);
        let fault = loop {
            let answered = question.answered;
            if self.child.is_none() {
                return Err(Failure { fault: Fault::Ended(String::new()), answered, is_doubtful });
            }
            if answered == jobs.len() {
                // What has come already is not waited for in vain.
                match self.surplus(if followed { LISTEN } else { listen }, followed) {
                    Some(fault) if !jobs.is_empty() => {
                        is_doubtful = true;
                        break fault;
                    }
                    _ => return Ok(true),
                }
            }
            let left = self.patience().saturating_sub(question.silence);
            match self.receive(left.min(pause)) {
                Ok(Received { frame, is_followed }) => {
                    question.silence = Duration::ZERO;
                    match take(&frame, question.number, &mut jobs[answered..], outputs) {
                        Ok(taken) => {
                            question.answered += taken;
                            followed = is_followed;
                        }
                        Err(what) => {
                            is_doubtful = true;
                            break Fault::Wrong(what);
                        }
                    }
                }
                Err(Fault::Silent(_)) if pause < left && !self.is_over() => {
                    question.silence += pause;
                    question.told = answered;
                    return Ok(false);
                }
                Err(Fault::Silent(_)) => break Fault::Silent(self.patience()),
                Err(fault) => break fault,
            }
            self.note_answer();
        };
        if is_doubtful {
            question.answered = question.told;
            question.poison.restore(&(question.told..jobs.len()), jobs, outputs);
        }
        self.discard(&fault);
        Err(Failure { fault, answered: question.answered, is_doubtful })
    }

    /// What the process did, other than it may, after it had answered everything of a question. `followed` says that
    /// something has come behind its answers already.
    fn surplus(&mut self, patience: Duration, followed: bool) -> Option<Fault> {
        let is_busy = self.is_busy();
        if is_busy && !followed {
            // It is at the next one, and what it sends to this one from now on comes to light there.
            return None;
        }
        let later = |what: String| format!("after its answers, {what}");
        match self.receive(patience) {
            Err(Fault::Silent(_)) => None,
            Ok(received) if self.is_next(&received.frame) => self.keep(Ok(received)),
            // Whatever it is that it did, it was at the next one.
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

    /// Keeps what is for the next question until that is looked at.
    fn keep(&mut self, early: Result<Received, Fault>) -> Option<Fault> {
        self.early = Some(early);
        None
    }

    /// The next frame, or what came instead of it.
    fn receive(&mut self, patience: Duration) -> Result<Received, Fault> {
        let patience = self.until_the_end(patience);
        let child = || self.child.as_ref().map(|child| child.receive(patience));
        self.early.take().or_else(child).unwrap_or_else(|| Err(Fault::Ended(String::new())))
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
