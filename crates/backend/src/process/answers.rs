//! Takes the answers of a process to a question. After the last answer, the process may only wait or answer
//! the next question, so the host checks for frames that follow.

use std::time::Duration;

use dmlcts_model::{Outcome, Phase};

use super::{
    Host,
    child::{ProcessFault, Received},
    host::Question,
};
use crate::{
    Job, WorkTimes,
    protocol::{Frame, FrameKind, PhaseForm, Results, short},
};

/// How long the host waits for a frame whose first bytes have arrived behind the answers. On a busy machine,
/// the thread that reads them may need a while.
const FOLLOWING_WAIT: Duration = Duration::from_millis(500);
/// How long the host listens to a process that has sent more than its answers before.
pub(super) const LONG_SURPLUS_WAIT: Duration = Duration::from_millis(5);

/// How a process failed on some jobs.
pub(super) struct Failure {
    pub(super) fault: ProcessFault,
    /// The number of jobs that are answered; they are the first ones.
    pub(super) answered: usize,
    /// Whether the process sent something invalid, or more than its answers. An answer may then belong to
    /// another job.
    pub(super) is_doubtful: bool,
}

impl Host {
    /// Takes the results of jobs that the process has. Then listens for `listen` to whatever else it sends.
    /// If the process fails, it is ended, and the outputs of unanswered jobs are restored. If it is doubtful,
    /// no answer counts.
    pub(super) fn collect(
        &mut self,
        jobs: &mut [Job],
        outputs: &mut [u8],
        question: &Question,
        listen: Duration,
    ) -> Result<(), Failure> {
        let (mut answered, mut is_followed, mut is_running) = (0, false, false);
        // A process enters a phase at most once for each operator and each run.
        let mut phases: usize = jobs.iter().map(|job| 1 + job.runs.len()).sum();
        let mut taken = Ok(());
        while taken.is_ok() && answered < jobs.len() {
            taken = self.receive(self.launcher.case_timeout(is_running)).and_then(|received| {
                if received.frame.kind == FrameKind::Phase && phases > 0 {
                    phases -= 1;
                    is_running = phase(&received.frame).map_err(ProcessFault::Wrong)? == Phase::Execute;
                    return Ok(());
                }
                is_running = false;
                (is_followed, self.answered) = (received.is_followed, Some(received.at));
                let taken = take(&received.frame, question.number, &mut jobs[answered..], outputs);
                let (count, times) = taken.map_err(ProcessFault::Wrong)?;
                answered += count;
                if let Some(times) = times {
                    self.times.work.get_or_insert_default().add(times);
                }
                Ok(())
            });
        }
        let (is_doubtful, fault) = match taken {
            Err(fault) => (!matches!(fault, ProcessFault::Ended { .. } | ProcessFault::Silent(_)), fault),
            // Bytes that have arrived already are the beginning of a frame.
            Ok(()) => match self.surplus(if is_followed { FOLLOWING_WAIT } else { listen }, is_followed) {
                Some(fault) if !jobs.is_empty() => (true, fault),
                _ => {
                    if !jobs.is_empty() {
                        self.note_answer();
                    }
                    return Ok(());
                }
            },
        };
        if is_doubtful {
            answered = 0;
        }
        if answered > 0 {
            self.note_answer();
        }
        question.poison.restore(answered..jobs.len(), jobs, outputs);
        jobs[answered..].iter_mut().for_each(|job| job.outcome = Outcome::Lost);
        self.discard(&fault);
        Err(Failure { fault, answered, is_doubtful })
    }

    /// The fault of a process that sent something wrong after it had answered a whole question, if it did.
    /// `is_followed` is whether something has arrived after its answers.
    fn surplus(&mut self, patience: Duration, is_followed: bool) -> Option<ProcessFault> {
        let is_busy = self.is_busy();
        if is_busy && !is_followed {
            // The process works on the next question. Surplus answers to this one are detected there.
            return None;
        }
        let later = |what: String| format!("after its answers, {what}");
        match self.receive(patience) {
            Err(ProcessFault::Silent(_)) => None,
            Ok(received) if self.is_next(&received.frame) => self.keep(Ok(received)),
            // The process had the next question when it failed.
            Err(fault) if is_busy => self.keep(Err(fault)),
            Ok(Received { frame, .. }) => {
                Some(ProcessFault::Wrong(later(format!("it sent another `{}`", frame.kind.name()))))
            }
            Err(ProcessFault::Ended { how, is_killed }) => {
                Some(ProcessFault::Ended { how: later(how), is_killed })
            }
            Err(fault) => Some(ProcessFault::Wrong(later(fault.to_string()))),
        }
    }

    /// Whether a frame belongs to another question that the process has.
    fn is_next(&self, frame: &Frame) -> bool {
        if frame.kind == FrameKind::Phase {
            return self.is_busy();
        }
        let results = Results::read(&frame.header).ok().filter(|_| frame.kind == FrameKind::Results);
        results.is_some_and(|results| results.number.is_some_and(|number| self.has(number)))
    }

    /// Keeps a frame or fault that belongs to the next question.
    fn keep(&mut self, early: Result<Received, ProcessFault>) -> Option<ProcessFault> {
        if let Some(process) = &mut self.process {
            process.early = Some(early);
        }
        None
    }

    /// The next frame, or the fault that occurred instead.
    fn receive(&mut self, patience: Duration) -> Result<Received, ProcessFault> {
        let patience = self.launcher.until_the_end(patience);
        let Some(process) = &mut self.process else { return Err(ProcessFault::ended("")) };
        process.early.take().unwrap_or_else(|| process.child.receive(patience))
    }
}

/// The phase that a process enters.
fn phase(frame: &Frame) -> Result<Phase, String> {
    let form = serde_json::from_slice::<PhaseForm>(&frame.header);
    form.map(|form| form.phase.into())
        .map_err(|error| format!("its `phase` makes no sense: {}", short(&error.to_string())))
}

/// Applies a frame to the next jobs of a question. Returns the number of jobs that it answers, and the times
/// that it names.
fn take(
    frame: &Frame,
    number: Option<u64>,
    jobs: &mut [Job],
    outputs: &mut [u8],
) -> Result<(usize, Option<WorkTimes>), String> {
    if frame.kind != FrameKind::Results {
        let name = frame.kind.name();
        let is_echo = matches!(frame.kind, FrameKind::Run | FrameKind::Packed);
        let echo = if is_echo { ": it answers with what it was sent" } else { "" };
        return Err(format!("it sent `{name}` where `results` are due{echo}"));
    }
    let results = Results::read(&frame.header).and_then(|results| {
        if results.number == number {
            let count = results.apply(&frame.body, jobs, outputs)?;
            return Ok((count, results.times.map(WorkTimes::from)));
        }
        let name = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
        Err(format!("their `number` is {}, where {} is due", name(results.number), name(number)))
    });
    results.map_err(|what| format!("its `results` make no sense: {}", short(&what)))
}
