//! A backend in another process: sends batches, takes results as they come, and holds the process to its deadline.
//!
//! Two batches are under way at a time: the process has one of them, and the other is ready to be sent as soon as the first
//! is answered. A process is never asked for more than one, so that what it sends beyond its answers is seen for what it
//! is. What happens when the process does not answer is in [`super::settle`].

use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

use dmlcts_model::FeatureLevel;
use serde::Serialize;

use super::{
    Declared, Launcher,
    child::{Child, Fault, Received},
};
use crate::{
    Backend, Batch, Capabilities, Job,
    protocol::{Bye, Frame, Kind, LevelForm, Results, prefix, question},
};

/// So many processes in a row may end or fail without having answered a single case; then a fresh one is asked for a canary.
const FRUITLESS: u32 = 16;
/// The same where no process has ever answered one: what does not work at all is given up soon.
const NEVER_ANSWERED: u32 = 8;
/// How long a process is listened to after its answers. What comes later is taken for an answer to what it is asked next.
const MOMENT: Duration = Duration::from_micros(50);
/// The same where a process has been found to send more than answers.
const LISTEN: Duration = Duration::from_millis(20);

/// A backend in another process.
pub struct Host {
    launcher: Arc<Launcher>,
    capabilities: Capabilities,
    /// Whether it is asked in `packed`.
    is_packed: bool,
    level: Option<FeatureLevel>,
    child: Option<Child>,
    /// Whether the process has been asked for no case yet.
    is_fresh: bool,
    /// The batches that are started and not finished, the oldest first: what the process is to be asked.
    started: VecDeque<Question>,
    /// Processes in a row that answered nothing.
    fruitless: u32,
    lost: Option<String>,
}

/// A batch, as the process is asked for it.
struct Question {
    /// Until it is sent.
    frame: Option<Vec<u8>>,
    /// The bytes that its outputs take.
    bytes: u64,
    /// What the memory of its outputs held before, a byte a run.
    fill: Vec<u8>,
}

/// How a process failed over some jobs.
pub(super) struct Failure {
    pub(super) fault: Fault,
    /// How many of the jobs it had answered, as far as that is known.
    pub(super) answered: usize,
    /// Whether its answers were too many or made no sense, so that nobody knows which answer is whose.
    pub(super) is_doubtful: bool,
}

impl Host {
    pub(super) fn new(launcher: Arc<Launcher>, child: Child, declared: Declared) -> Self {
        Self {
            launcher,
            capabilities: declared.capabilities,
            is_packed: declared.is_packed,
            level: None,
            child: Some(child),
            is_fresh: true,
            started: VecDeque::new(),
            fruitless: 0,
            lost: None,
        }
    }

    /// How long the process may be silent while it has cases.
    fn patience(&self) -> Duration {
        self.launcher.case_timeout()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether the process has been asked for no case yet, or is yet to be started.
    pub(super) fn is_fresh(&self) -> bool {
        self.child.is_none() || self.is_fresh
    }

    /// Whether a process of this command has ever answered a case.
    pub(super) fn has_answered(&self) -> bool {
        self.launcher.health.has_answered()
    }

    /// Ends the process, which is of no use any more because of this.
    pub(super) fn discard(&mut self, fault: &Fault) {
        self.child = None;
        self.fruitless += 1;
        self.launcher.health.failed(fault);
    }

    /// Has a fresh process asked next.
    pub(super) fn renew(&mut self) {
        self.child = None;
    }

    /// Gives the backend up for this fault, where one process after the other has answered nothing, and no fresh one answers what
    /// others did either. Where one does, the cases are to blame, and however many follow, the run goes on.
    pub(super) fn give_up_if_dead(&mut self, fault: &Fault) {
        let health = &self.launcher.health;
        let reason = if self.fruitless < if health.has_answered() { FRUITLESS } else { NEVER_ANSWERED } {
            health.given_up()
        } else if self.is_lost() || self.answers_a_canary() {
            None
        } else {
            Some(self.launcher.health.give_up(fault, self.fruitless))
        };
        if let Some(reason) = reason {
            self.lost.get_or_insert(reason);
        }
    }

    fn answers_a_canary(&mut self) -> bool {
        let fruitless = self.fruitless;
        let answers = self.launcher.canaries.batches().iter_mut().any(|canary| {
            // As the first thing that a process is asked.
            self.renew();
            self.try_range(0..1, false, canary).is_ok()
        });
        if !answers {
            self.fruitless = fruitless;
        }
        answers
    }

    /// The process; a new one where there is none. `None` where none can be had.
    fn child(&mut self) -> Option<&Child> {
        if self.child.is_none() && self.lost.is_none() {
            match self.launcher.start() {
                Ok((child, declared)) if self.launcher.is_declared(&declared) => {
                    self.child = Some(child);
                    self.is_fresh = true;
                    self.send_level();
                }
                Ok(_) => {
                    self.lost = Some("it declares something else than when it was first started".to_owned());
                }
                Err(reason) => self.lost = Some(format!("it does not start again: {reason}")),
            }
        }
        self.child.as_ref()
    }

    fn send_level(&self) {
        if let (Some(child), Some(level)) = (&self.child, self.level) {
            child.send(message(Kind::Level, &LevelForm { feature_level: level.to_string() }));
        }
    }

    /// Asks the process, which has nothing else to do.
    fn ask(&mut self, frame: Vec<u8>, bytes: u64) {
        if let Some(child) = self.child() {
            child.permit(bytes);
            child.send(frame);
            self.is_fresh = false;
        }
    }

    /// Runs some jobs of a batch while no other is under way. Where the process does not answer them all, it is ended. With
    /// `listens`, time is taken to find out whether it sends more than its answers.
    pub(super) fn try_range(
        &mut self,
        range: Range<usize>,
        listens: bool,
        batch: &mut Batch,
    ) -> Result<(), Failure> {
        let (jobs, inputs, outputs) = batch.parts();
        let Some(jobs) = jobs.get_mut(range) else { return Ok(()) };
        let question = Question::of(jobs, inputs, outputs, self.is_packed);
        if let Some(frame) = question.frame {
            self.ask(frame, question.bytes);
        }
        let collected = self.collect(jobs, outputs, &question.fill, if listens { LISTEN } else { MOMENT });
        self.launcher.canaries.note(answered(&collected, jobs), inputs);
        collected
    }

    /// Takes the results of jobs that the process has, and then listens for so long to what else it sends. Where its answers
    /// cannot be told apart, the memory of their outputs is filled again as before.
    fn collect(
        &mut self,
        jobs: &mut [Job],
        outputs: &mut [u8],
        fill: &[u8],
        listen: Duration,
    ) -> Result<(), Failure> {
        let (mut answered, mut is_doubtful, mut followed) = (0, false, false);
        let fault = loop {
            let Some(child) = &self.child else {
                return Err(Failure { fault: Fault::Ended(String::new()), answered, is_doubtful });
            };
            if answered == jobs.len() {
                // What has come already is not waited for in vain.
                match surplus(child, if followed { LISTEN } else { listen }) {
                    Some(fault) if !jobs.is_empty() => {
                        is_doubtful = true;
                        break fault;
                    }
                    _ => return Ok(()),
                }
            }
            match child.receive(self.patience()) {
                Ok(Received { frame, is_followed }) => match take(&frame, &mut jobs[answered..], outputs) {
                    Ok(taken) => {
                        answered += taken;
                        followed = is_followed;
                    }
                    Err(what) => {
                        is_doubtful = true;
                        break Fault::Wrong(what);
                    }
                },
                Err(fault) => break fault,
            }
            self.fruitless = 0;
            self.launcher.health.answered();
        };
        if is_doubtful {
            answered = 0;
            for (run, fill) in jobs.iter().flat_map(|job| &job.runs).zip(fill) {
                outputs[run.output.clone()].fill(*fill);
            }
        }
        self.discard(&fault);
        Err(Failure { fault, answered, is_doubtful })
    }
}

/// What the process did after it had answered everything that it was asked, where all it may do is wait.
fn surplus(child: &Child, patience: Duration) -> Option<Fault> {
    let later = |what: String| format!("after its answers, {what}");
    match child.receive(patience) {
        Err(Fault::Silent(_)) => None,
        Ok(Received { frame, .. }) => {
            Some(Fault::Wrong(later(format!("it sent another `{}`", frame.kind.name()))))
        }
        Err(Fault::Ended(how)) => Some(Fault::Ended(later(how))),
        Err(Fault::Wrong(what)) => Some(Fault::Wrong(later(what))),
    }
}

impl Question {
    fn of(jobs: &[Job], inputs: &[u8], outputs: &[u8], is_packed: bool) -> Self {
        let runs = || jobs.iter().flat_map(|job| &job.runs);
        let fill: Vec<u8> =
            runs().map(|run| outputs.get(run.output.start).copied().unwrap_or_default()).collect();
        let bytes = runs().map(|run| run.output.len() as u64).sum();
        // There is no answer to nothing.
        let frame = (!jobs.is_empty()).then(|| question(jobs, inputs, &fill, is_packed));
        Self { frame, bytes, fill }
    }
}

/// Those of some jobs that were answered.
fn answered<'a>(collected: &Result<(), Failure>, jobs: &'a [Job]) -> &'a [Job] {
    let count = collected.as_ref().map_or_else(|failure| failure.answered, |()| jobs.len());
    &jobs[..count]
}

/// Writes down what a frame says of the next jobs, and returns of how many.
fn take(frame: &Frame, jobs: &mut [Job], outputs: &mut [u8]) -> Result<usize, String> {
    if frame.kind != Kind::Results {
        let name = frame.kind.name();
        let echo = if frame.kind == Kind::Run { ": it answers with what it was sent" } else { "" };
        return Err(format!("it sent `{name}` where `results` are due{echo}"));
    }
    Results::read(&frame.header)
        .and_then(|results| results.apply(&frame.body, jobs, outputs))
        .map_err(|what| format!("its `results` make no sense: {what}"))
}

/// A message without a body, as a frame.
pub(super) fn message<T: Serialize>(kind: Kind, message: &T) -> Vec<u8> {
    let header = serde_json::to_vec(message).unwrap_or_default();
    let mut bytes = prefix(kind, header.len(), 0).to_vec();
    bytes.extend(header);
    bytes
}

impl Backend for Host {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = Some(level);
        self.send_level();
    }

    fn run(&mut self, batch: &mut Batch) {
        self.start(batch);
        self.finish(batch);
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    fn start(&mut self, batch: &mut Batch) {
        let (jobs, inputs, outputs) = batch.parts();
        let question = Question::of(jobs, inputs, outputs, self.is_packed);
        self.started.push_back(question);
        if self.started.len() == 1 {
            self.ask_next();
        }
    }

    fn finish(&mut self, batch: &mut Batch) {
        // Where the one before it was finished, it has been asked.
        let Some(question) = self.started.pop_front() else { return };
        let (jobs, inputs, outputs) = batch.parts();
        let count = jobs.len();
        let collected = self.collect(jobs, outputs, &question.fill, MOMENT);
        self.launcher.canaries.note(answered(&collected, jobs), inputs);
        if let Err(failure) = collected {
            self.settle(failure.answered..count, &failure, batch);
        }
        self.ask_next();
    }
}

impl Host {
    /// Asks the process for the oldest batch that is started.
    fn ask_next(&mut self) {
        let next = self.started.front_mut();
        if let Some((frame, bytes)) = next.and_then(|next| Some((next.frame.take()?, next.bytes))) {
            self.ask(frame, bytes);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            // One that still has cases would answer them first.
            if self.started.is_empty() {
                child.send(message(Kind::Bye, &Bye {}));
                child.dismiss();
            }
        }
    }
}
