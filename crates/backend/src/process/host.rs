//! A backend in another process: sends batches, takes results as they come, and holds the process to its deadline.
//!
//! Two batches are under way at a time. A process that says `ahead` has both of them, and never waits; any other has one, and the
//! second is ready to be sent as soon as the first is answered. Taking the answers is in [`super::answers`], and what happens when
//! there are none in [`super::settle`].

use std::{
    collections::VecDeque,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_model::FeatureLevel;
use serde::Serialize;

use super::{
    Declared, Launcher,
    answers::Failure,
    child::{Child, Fault, Received},
    poison::Poison,
    settle::Settlement,
};
use crate::{
    Backend, Batch, Capabilities, Job,
    protocol::{Bye, Kind, LevelForm, Manner, prefix, question},
};

/// So many processes in a row may end or fail without having answered a single case; then a fresh one is asked for a canary.
const FRUITLESS: u32 = 16;
/// The same where no process has ever answered one: what does not work at all is given up soon.
const NEVER_ANSWERED: u32 = 8;
/// How long a process is listened to after its answers. What comes later is taken for an answer to what it is asked next.
const MOMENT: Duration = Duration::from_micros(50);
/// The same where a process has been found to send more than answers.
pub(super) const LISTEN: Duration = Duration::from_millis(20);

/// A backend in another process.
pub struct Host {
    launcher: Arc<Launcher>,
    capabilities: Capabilities,
    manner: Manner,
    level: Option<FeatureLevel>,
    pub(super) child: Option<Child>,
    /// How many processes there were before it.
    process: u64,
    /// Whether the process has been asked for no case yet.
    is_fresh: bool,
    /// What came behind the last answers, where it is for the next question.
    pub(super) early: Option<Result<Received, Fault>>,
    /// How many questions there were.
    questions: u64,
    /// The batches that are started and not finished, the oldest first: what the process is to be asked.
    started: VecDeque<Question>,
    /// Over what the process failed that had the first batch, which is not among those any more, and the batch's poison.
    settlement: Option<Box<(Settlement, Poison)>>,
    /// Processes in a row that answered nothing.
    fruitless: u32,
    /// Whether a canary was asked for while nothing had been answered.
    has_looked: bool,
    /// Whether all that it is asked was asked before.
    looks_again: bool,
    lost: Option<String>,
}

/// A batch, as the process is asked for it.
pub(super) struct Question {
    state: State,
    /// What its answers are told by, where several questions are asked at a time.
    pub(super) number: Option<u64>,
    /// How many cases it asks for.
    cases: usize,
    /// The bytes that its outputs take.
    bytes: u64,
    pub(super) poison: Poison,
    /// How many of its cases are answered.
    pub(super) answered: usize,
    /// How many of them somebody was told of, so that they stand.
    pub(super) told: usize,
    /// How long the process has been waited for since it last said something.
    pub(super) silence: Duration,
}

/// How far a question has come.
enum State {
    /// It asks for nothing, and there is no answer to nothing.
    Empty,
    Ready(Vec<u8>),
    /// It is too large for a process this slow, and asked in parts when its answers are due.
    Large,
    /// This process was asked.
    Asked(u64),
}

impl Host {
    pub(super) fn new(launcher: Arc<Launcher>, child: Child, declared: Declared) -> Self {
        Self {
            launcher,
            capabilities: declared.capabilities,
            manner: declared.manner,
            level: None,
            child: Some(child),
            process: 0,
            is_fresh: true,
            early: None,
            questions: 0,
            started: VecDeque::new(),
            settlement: None,
            fruitless: 0,
            has_looked: false,
            looks_again: false,
            lost: None,
        }
    }

    /// How long the process may be silent while it has cases.
    pub(super) fn patience(&self) -> Duration {
        self.launcher.case_timeout()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether the time is up, or too many cases hang, so that nothing is to be learned from a process any more.
    pub(super) fn is_over(&self) -> bool {
        self.launcher.is_over()
    }

    /// Whether nobody will ever answer what is not answered yet.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.is_lost() || self.is_over()
    }

    /// As much of this time as there is left.
    pub(super) fn until_the_end(&self, time: Duration) -> Duration {
        self.launcher.until_the_end(time)
    }

    /// Whether the process has been asked for no case yet, or is yet to be started.
    pub(super) fn is_fresh(&self) -> bool {
        self.child.is_none() || self.is_fresh
    }

    /// Whether a process of this command has ever answered a case.
    pub(super) fn has_answered(&self) -> bool {
        self.launcher.health.has_answered()
    }

    /// Notes that the process answered a case.
    pub(super) fn note_answer(&mut self) {
        self.fruitless = 0;
        self.launcher.health.answered();
    }

    /// Notes that a case hangs, if it is another one than those that are known to.
    pub(super) fn note_hang(&self) {
        if self.looks_again {
            return;
        }
        self.launcher.health.hung(self.patience(), self.launcher.most_hangs.is_some());
    }

    /// Notes that processes take long for so many cases together, which took this long in small questions.
    pub(super) fn note_slow(&self, cases: usize, took: Duration) {
        self.launcher.health.slow(cases, took, self.patience());
    }

    /// Ends the process, which is of no use any more because of this, or because the time is up.
    pub(super) fn discard(&mut self, fault: &Fault) {
        self.renew();
        if self.is_over() {
            return;
        }
        self.fruitless += 1;
        self.launcher.health.failed(fault);
    }

    /// Has a fresh process asked next.
    pub(super) fn renew(&mut self) {
        self.child = None;
        self.early = None;
    }

    /// Gives the backend up for this fault, where one process after the other has answered nothing, and no fresh one answers what
    /// others did either. Where one does, the cases are to blame, and however many follow, the run goes on.
    pub(super) fn give_up_if_dead(&mut self, fault: &Fault) {
        let (health, fruitless) = (&self.launcher.health, self.fruitless);
        if self.is_over() {
            return;
        }
        let reason = if fruitless < if health.has_answered() { FRUITLESS } else { NEVER_ANSWERED } {
            health.given_up()
        } else if self.is_lost() || self.answers_a_canary() || self.is_over() {
            None
        } else {
            Some(self.launcher.health.give_up(fault, fruitless))
        };
        if let Some(reason) = reason {
            self.lost.get_or_insert(reason);
        }
    }

    /// Whether processes of this command answer at all, so that a case is to blame which a fresh one fails at. Where none has answered yet, as in
    /// a run that begins with cases which all hang, one is asked for a canary, and by this host no second time: nothing would be known for
    /// long, and nothing be written down that is done. What fails at it counts as any other.
    pub(super) fn is_alive(&mut self) -> bool {
        if !self.has_answered() && !std::mem::replace(&mut self.has_looked, true) && self.answers_a_canary() {
            // What is asked next is the first thing that a process is asked, and need not be asked twice if it fails.
            self.renew();
        }
        self.has_answered()
    }

    fn answers_a_canary(&mut self) -> bool {
        self.launcher.canaries.batches().iter_mut().any(|canary| {
            // As the first thing that a process is asked.
            self.renew();
            self.try_range(0..1, false, canary).0.is_ok()
        })
    }

    /// The process; a new one where there is none. `None` where none can be had.
    fn child(&mut self) -> Option<&Child> {
        if self.child.is_none() && !self.is_at_its_end() {
            match self.launcher.start() {
                Ok((child, declared)) => match self.launcher.disagreement(&declared) {
                    None => {
                        self.child = Some(child);
                        self.process += 1;
                        self.is_fresh = true;
                        self.send_level();
                    }
                    Some(how) => self.lost = Some(format!("it {how}")),
                },
                // It may have had no time to start.
                Err(_) if self.is_over() => {}
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

    /// Whether a batch that is started and not finished is with the process.
    pub(super) fn is_busy(&self) -> bool {
        self.child.is_some() && self.started.iter().any(|question| question.is_with(self.process))
    }

    /// Whether the question with this number is with the process.
    pub(super) fn has(&self, number: u64) -> bool {
        let mut asked = self.started.iter().filter(|question| question.is_with(self.process));
        asked.any(|question| question.number == Some(number))
    }

    /// What some jobs come to as a question.
    fn question(&mut self, jobs: &[Job], inputs: &[u8], outputs: &[u8]) -> Question {
        let number = self.manner.is_ahead.then_some(self.questions);
        self.questions += 1;
        let poison = Poison::of(jobs, outputs);
        let bytes = jobs.iter().flat_map(|job| &job.runs).map(|run| run.output.len() as u64).sum();
        let state = if jobs.is_empty() {
            State::Empty
        } else {
            State::Ready(question(jobs, inputs, poison.bytes(), self.manner, number))
        };
        let (answered, told, silence) = (0, 0, Duration::ZERO);
        Question { state, number, cases: jobs.len(), bytes, poison, answered, told, silence }
    }

    /// Asks a question, if it is ready.
    fn ask(&mut self, question: &mut Question) {
        let State::Ready(frame) = &mut question.state else { return };
        let frame = std::mem::take(frame);
        let others = self.started.iter().filter(|other| other.is_with(self.process));
        let bytes = others.map(|other| other.bytes).fold(question.bytes, u64::max);
        if let Some(child) = self.child() {
            child.permit(bytes);
            child.send(frame);
            self.is_fresh = false;
        }
        question.state = State::Asked(self.process);
    }

    /// Asks the questions that the process may have at this time, in their order.
    fn ask_next(&mut self) {
        let most = if self.manner.is_ahead { self.started.len() } else { 1 };
        for place in 0..most.min(self.started.len()) {
            let Some(mut question) = self.started.remove(place) else { return };
            let is_gone = matches!(question.state, State::Asked(process) if process != self.process);
            if matches!(question.state, State::Ready(_)) && question.cases > self.launcher.health.at_a_time()
            {
                question.state = State::Large;
            }
            if !is_gone {
                self.ask(&mut question);
            }
            self.started.insert(place, question);
            let is_large = self.started.get(place).is_some_and(Question::is_large);
            if is_gone || is_large || self.child.is_none() {
                // That one comes first, and is asked anew when its batch is there.
                return;
            }
        }
    }

    /// Runs some jobs of a batch while no other is under way, and says how long the process had them. Where it does not answer
    /// them all, it is ended. With `listens`, time is taken to find out whether it sends more than its answers.
    pub(super) fn try_range(
        &mut self,
        range: Range<usize>,
        listens: bool,
        batch: &mut Batch,
    ) -> (Result<bool, Failure>, Duration) {
        let (jobs, inputs, outputs) = batch.parts();
        let Some(jobs) = jobs.get_mut(range) else { return (Ok(true), Duration::ZERO) };
        let mut question = self.question(jobs, inputs, outputs);
        self.ask(&mut question);
        // Another process may have been started for it, and that took its own time.
        let asked = Instant::now();
        let listen = if listens { LISTEN } else { MOMENT };
        let collected = self.collect(jobs, outputs, &mut question, (listen, Duration::MAX));
        let took = asked.elapsed();
        self.launcher.canaries.note(&jobs[..question.answered], inputs);
        (collected, took)
    }

    /// Takes the answers to the batch that was started first, and says how many there are for good; or what to settle, where the process
    /// failed over it.
    fn take_answers(
        &mut self,
        batch: &mut Batch,
        time: Duration,
    ) -> Result<usize, Box<(Settlement, Poison)>> {
        let is_asked = self.started.front().is_some_and(|question| question.is_with(self.process));
        if !is_asked || self.child.is_none() {
            // The process that was asked is gone, over a batch before this one.
            let (jobs, inputs, outputs) = batch.parts();
            let again = self.question(jobs, inputs, outputs);
            if let Some(question) = self.started.front_mut() {
                *question = again;
            }
            self.ask_next();
        }
        let count = batch.jobs().len();
        let Some(mut question) = self.started.pop_front() else { return Ok(count) };
        if question.is_large() {
            self.run_in_parts(&question.poison, batch);
            return Ok(count);
        }
        let (jobs, inputs, outputs) = batch.parts();
        let collected = self.collect(jobs, outputs, &mut question, (MOMENT, time));
        self.launcher.canaries.note(&jobs[..question.answered], inputs);
        match collected {
            Ok(true) => Ok(count),
            Ok(false) => {
                let told = question.told;
                self.started.push_front(question);
                Ok(told)
            }
            Err(failure) => {
                let settlement = self.settlement(failure.answered..count, failure);
                Err(Box::new((settlement, question.poison)))
            }
        }
    }

    /// Runs a batch in as many questions as it takes a slow process to answer each in time.
    fn run_in_parts(&mut self, poison: &Poison, batch: &mut Batch) {
        let (mut from, count) = (0, batch.jobs().len());
        while from < count && !self.is_at_its_end() {
            let to = count.min(from + self.launcher.health.at_a_time());
            if let (Err(failure), _) = self.try_range(from..to, false, batch) {
                let mut settlement = self.settlement(from + failure.answered..to, failure);
                while self.settle(&mut settlement, poison, batch).is_some() {}
            }
            from = to;
        }
    }
}

impl Question {
    fn is_large(&self) -> bool {
        matches!(self.state, State::Large)
    }

    fn is_with(&self, process: u64) -> bool {
        matches!(self.state, State::Asked(asked) if asked == process)
    }
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

    fn look_again(&mut self) {
        self.looks_again = true;
    }

    fn is_apart(&self) -> bool {
        true
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
        let question = self.question(jobs, inputs, outputs);
        self.started.push_back(question);
        self.ask_next();
    }

    fn finish(&mut self, batch: &mut Batch) {
        while self.finish_some(batch, Duration::MAX) < batch.jobs().len() {}
    }

    fn finish_some(&mut self, batch: &mut Batch, time: Duration) -> usize {
        let count = batch.jobs().len();
        let settlement = match self.settlement.take() {
            Some(settlement) => Some(settlement),
            None => match self.take_answers(batch, time) {
                Ok(answered) if answered < count => return answered,
                Ok(_) => None,
                Err(settlement) => Some(settlement),
            },
        };
        if let Some(mut settlement) = settlement {
            let (search, poison) = &mut *settlement;
            if let Some(done) = self.settle(search, poison, batch) {
                self.settlement = Some(settlement);
                return done;
            }
        }
        self.ask_next();
        count
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            // One that still has cases would answer them first.
            if self.started.is_empty() {
                child.send(message(Kind::Bye, &Bye {}));
                let (goodbye, surplus) = child.dismiss(self.launcher.grace);
                self.launcher.health.ended(goodbye, surplus);
            }
        }
    }
}
