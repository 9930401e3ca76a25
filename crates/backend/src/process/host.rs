//! A backend in another process: sends batches, takes their results, and starts a fresh process when one
//! fails.
//!
//! A batch is one question. Two batches are in flight at a time. A process that declares `ahead` gets both at
//! once. Any other process gets the first one, and the second is ready to be sent. When a process fails on a
//! batch, [`super::fault_search`] looks for the case.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_model::FeatureLevel;

use super::{
    Declared, Launcher, StartError,
    child::{Child, ProcessFault, Received},
    poison::Poison,
};
use crate::{
    Backend, Batch, Capabilities, Job, Pipelined, Purpose, Times,
    protocol::{Bye, FrameKind, LevelForm, message, question},
};

/// How long the host listens to a process after its answers. Anything that arrives later counts as an answer
/// to the next question.
pub(super) const SURPLUS_WAIT: Duration = Duration::from_micros(50);
/// The number of processes in a row that may fail before they answer anything, after the first one.
const REPLACEMENTS: u32 = 3;

/// A backend in another process.
pub struct Host {
    pub(super) launcher: Arc<Launcher>,
    declared: Declared,
    level: Option<FeatureLevel>,
    pub(super) process: Option<Process>,
    /// The number of processes that were started so far.
    processes: u64,
    /// The batches that are started and not finished, the oldest first.
    in_flight: VecDeque<Question>,
    /// The number of questions so far.
    questions: u64,
    /// The number of processes in a row that failed before they answered anything.
    pub(super) dead: u32,
    purpose: Purpose,
    lost: Option<String>,
    /// The times since the last finished batch, without [`Times::answer`].
    pub(super) times: Times,
    /// When the last answer had arrived.
    pub(super) answered: Option<Instant>,
}

/// A running process, with the host's knowledge of it.
pub(super) struct Process {
    pub(super) child: Child,
    /// Its number among the host's processes.
    number: u64,
    /// Whether it has answered a case.
    has_answered: bool,
    /// The answer to the next question, if it arrived while the host listened for surplus answers to the last
    /// one.
    pub(super) early: Option<Result<Received, ProcessFault>>,
}

/// A batch in the form that is sent to a process.
pub(super) struct Question {
    delivery: Delivery,
    /// The number that identifies the answers to this question, if the process has several questions.
    pub(super) number: Option<u64>,
    /// The total size of its outputs, in bytes.
    bytes: u64,
    pub(super) poison: Poison,
    /// When it was made or sent.
    since: Instant,
}

/// Whether a question is sent.
enum Delivery {
    /// Not sent yet; this is the frame.
    Ready(Vec<u8>),
    /// Sent to the process with this number.
    Sent(u64),
}

impl Host {
    pub(super) fn new(launcher: Arc<Launcher>, declared: Declared, purpose: Purpose) -> Self {
        Self {
            launcher,
            declared,
            level: None,
            process: None,
            processes: 0,
            in_flight: VecDeque::new(),
            questions: 0,
            dead: 0,
            purpose,
            lost: None,
            times: Times::default(),
            answered: None,
        }
    }

    /// Whether the remaining cases stay unanswered: the backend is lost, the time is up, or too many cases
    /// hang.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.lost.is_some() || self.launcher.is_over()
    }

    /// Records an answer.
    pub(super) fn note_answer(&mut self) {
        self.dead = 0;
        if let Some(process) = &mut self.process {
            process.has_answered = true;
        }
    }

    /// Whether the process has answered a case.
    pub(super) fn has_answered(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.has_answered)
    }

    /// Counts a hang, unless this host only retries cases.
    pub(super) fn note_hang(&self, time: Duration) {
        if self.purpose == Purpose::Cases {
            self.launcher.health.hung(time, self.launcher.most_hangs.is_some());
        }
    }

    /// Ends the process because of a fault. After too many processes that failed before they answered
    /// anything, the backend is lost.
    pub(super) fn discard(&mut self, fault: &ProcessFault) {
        let Some(process) = self.process.take() else { return };
        if self.launcher.is_over() {
            return;
        }
        self.launcher.health.failed(fault);
        if !process.has_answered {
            self.dead += 1;
            if self.dead > REPLACEMENTS {
                let dead = self.dead;
                self.lost = Some(format!(
                    "{dead} processes in a row failed before they answered a case; the last one: {fault}"
                ));
            }
        }
    }

    /// Starts a process if none is running. Returns whether one is running.
    pub(super) fn start_process(&mut self) -> bool {
        while self.process.is_none() && !self.is_at_its_end() {
            let since = Instant::now();
            let started = self.launcher.process();
            self.times.start += since.elapsed();
            match started {
                Ok(child) => {
                    self.processes += 1;
                    let number = self.processes;
                    self.process = Some(Process { child, number, has_answered: false, early: None });
                    self.send_level();
                }
                // The process may have had no time to start.
                Err(_) if self.launcher.is_over() => {}
                Err(StartError::Ended { .. }) if self.dead < REPLACEMENTS => self.dead += 1,
                Err(error) => self.lost = Some(format!("it does not start again: {error}")),
            }
        }
        self.process.is_some()
    }

    fn send_level(&self) {
        if let (Some(process), Some(level)) = (&self.process, self.level) {
            process.child.send(message(FrameKind::Level, &LevelForm { feature_level: level.to_string() }));
        }
    }

    /// Whether the running process has a question.
    fn is_sent(&self, question: &Question) -> bool {
        self.process
            .as_ref()
            .is_some_and(|process| matches!(question.delivery, Delivery::Sent(to) if to == process.number))
    }

    /// The questions in flight that the running process has.
    fn sent(&self) -> impl Iterator<Item = &Question> {
        self.in_flight.iter().filter(|question| self.is_sent(question))
    }

    /// Whether the running process has a question in flight.
    pub(super) fn is_busy(&self) -> bool {
        self.sent().next().is_some()
    }

    /// Whether the running process has the question with this number.
    pub(super) fn has(&self, number: u64) -> bool {
        self.sent().any(|question| question.number == Some(number))
    }

    /// Makes a question of these jobs.
    pub(super) fn question(&mut self, jobs: &[Job], inputs: &[u8], outputs: &[u8]) -> Question {
        let manner = self.declared.manner;
        let number = manner.is_ahead.then_some(self.questions);
        self.questions += 1;
        let poison = Poison::of(jobs, outputs);
        let bytes = jobs.iter().flat_map(|job| &job.runs).map(|run| run.output.len() as u64).sum();
        let delivery = Delivery::Ready(question(jobs, inputs, &poison.0, manner, number));
        Question { delivery, number, bytes, poison, since: Instant::now() }
    }

    /// Sends a question, if it is not sent yet, to the process, which may have other questions.
    pub(super) fn send(&mut self, question: &mut Question) {
        if !matches!(question.delivery, Delivery::Ready(_)) || !self.start_process() {
            return;
        }
        let bytes = self.sent().map(|other| other.bytes).fold(question.bytes, u64::max);
        let Some(process) = &self.process else { return };
        if let Delivery::Ready(frame) =
            std::mem::replace(&mut question.delivery, Delivery::Sent(process.number))
        {
            question.since = Instant::now();
            process.child.permit(bytes);
            process.child.send(frame);
        }
    }

    /// Sends all questions that the process may have, in order.
    fn send_next(&mut self) {
        let most = if self.declared.manner.is_ahead { self.in_flight.len() } else { 1 };
        for place in 0..most.min(self.in_flight.len()) {
            let Some(mut question) = self.in_flight.remove(place) else { return };
            self.send(&mut question);
            let is_sent = self.is_sent(&question);
            self.in_flight.insert(place, question);
            if !is_sent {
                // Its process has ended. When its batch is finished, it is made anew and sent before the
                // later questions.
                return;
            }
        }
    }
}

impl Backend for Host {
    fn capabilities(&self) -> &Capabilities {
        &self.declared.capabilities
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
}

impl Pipelined for Host {
    fn start(&mut self, batch: &mut Batch) {
        let (jobs, inputs, outputs) = batch.parts();
        let question = self.question(jobs, inputs, outputs);
        self.in_flight.push_back(question);
        self.send_next();
    }

    fn finish(&mut self, batch: &mut Batch) {
        let (jobs, inputs, outputs) = batch.parts();
        if self.in_flight.front().is_some_and(|first| !self.is_sent(first)) {
            let again = self.question(jobs, inputs, outputs);
            self.in_flight[0] = again;
            self.send_next();
        }
        let Some(question) = self.in_flight.pop_front() else { return };
        // Until the last answer, the process worked on the batch before this one.
        let since = self.answered.map_or(question.since, |last| last.max(question.since));
        let start = self.times.start;
        let collected = self.collect(jobs, outputs, &question, SURPLUS_WAIT);
        self.launcher.probes.note(jobs, inputs);
        if let Err(failure) = collected {
            self.find_fault(&failure, batch);
            self.answered = Some(Instant::now());
        }
        let took = self.answered.map_or(Duration::ZERO, |answered| answered.saturating_duration_since(since));
        let times = std::mem::take(&mut self.times);
        let restarts = times.start.saturating_sub(start);
        batch.times = Times { answer: Some(took.saturating_sub(restarts)), ..times };
        self.send_next();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let child = self.process.take().map(|process| process.child);
        let child = child.or_else(|| self.launcher.spare());
        // A process that still has cases would answer them first.
        if let Some(child) = child.filter(|_| self.in_flight.is_empty()) {
            child.send(message(FrameKind::Bye, &Bye {}));
            self.launcher.dismiss(child);
        }
    }
}
