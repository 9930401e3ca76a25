//! A run from start to end: workers on threads, and one collector that puts what they found in order.
//!
//! The collector runs on the caller's thread. It has a backend of its own, with which it runs failures again
//! alone and shrinks them, so that what is reported does not depend on the number of threads.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use dmlcts_backend::Capabilities;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Coverage, Library};

use crate::{
    Configuration, Ending, Event, Failure, Group, Notes, Progress, Recorded, Run, Stop, Summary, Tally,
    Verdict, Work,
    answers::Answers,
    schedule::{ChunkResult, Chunks, Found, FoundGroups, Lots, Shared},
    worker::Worker,
};

/// How often the collector looks up from waiting: for the deadline, and for the stop switch.
const LOOK_UP: Duration = Duration::from_millis(50);
/// How many smaller cases are tried in a group of failures, and how long for all groups together.
const SHRINK_STEPS: usize = 2_000;
const SHRINK_TIME: Duration = Duration::from_secs(10);

/// A run that could not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The factory made no backend.
    #[error("the backend cannot be started: {0}")]
    Backend(String),
    /// The level is above the backend's own.
    #[error(
        "the backend `{backend}` supports feature level {highest}, so it cannot be held to {asked}; \
         ask for {highest} or lower"
    )]
    Level {
        /// The backend's name.
        backend: String,
        /// What was asked for.
        asked: FeatureLevel,
        /// What it supports.
        highest: FeatureLevel,
    },
}

/// Runs cases until they or the run end, and tells `tell` about it.
pub fn run(run: &Run, tell: &mut dyn FnMut(Event<'_>)) -> Result<Summary, RunError> {
    let probe = (run.backend)().map_err(RunError::Backend)?;
    let capabilities = probe.capabilities().clone();
    let (level, selected_level) = levels(run.configuration.level, &capabilities)?;
    let configuration = &run.configuration;
    let cases = run.source.count();
    let can_leave_out = configuration.filter.is_some() || selected_level.is_some();
    // Where nothing is left out, the limit is known as a number of cases to read.
    let to_read = match configuration.limit {
        Some(limit) if !can_leave_out => cases.unwrap_or(u64::MAX).min(limit),
        _ => cases.unwrap_or(u64::MAX),
    };
    let jobs = configuration.jobs.max(1);
    let chunk = Lots::new(&capabilities.limits).chunk();
    let chunk = to_read.div_ceil(jobs as u64 * 8).clamp(1, chunk);
    let strategies = run.source.strategies();
    let shared = Arc::new(Shared::new(
        run,
        &capabilities,
        level,
        selected_level,
        strategies.len(),
        jobs,
        Chunks::new(to_read, chunk),
    ));
    tell(Event::Started { capabilities: &capabilities, level, cases });

    let started = Instant::now();
    let mut examiner = Worker::new(&shared, None, probe);
    let results = if examiner.is_some() { start_workers(&shared, jobs) } else { sync_channel(1).1 };
    let mut collector = Collector::new(&shared, &strategies, configuration);
    let abandoned = collector.collect(&results, examiner.as_mut(), configuration.deadline, tell);
    let elapsed = started.elapsed();
    let ending = match run.stop.reason() {
        Ending::Complete if collector.is_at_limit() && !collector.is_all_read() => Ending::Limit,
        reason => reason,
    };
    if let Some(examiner) =
        examiner.as_mut().filter(|_| configuration.shrink && ending != Ending::Interrupted)
    {
        collector.shrink(examiner, configuration.deadline, tell);
    }
    let summary = Summary {
        capabilities,
        level,
        progress: collector.progress,
        cases,
        strategies: strategies.iter().cloned().zip(collector.tallies).collect(),
        coverage: collector.coverage,
        work: collector.work,
        notes: collector.notes,
        recorded: recorded(run.library, &collector.answers),
        groups: collector.groups,
        ungrouped: collector.found.others,
        ending,
        abandoned,
        lost: shared.lost(),
        elapsed,
    };
    tell(Event::Finished(&summary));
    Ok(summary)
}

/// The answers to open questions, in the order of the spec.
fn recorded(library: &'static Library, answers: &Answers) -> Vec<Recorded> {
    let recorded = answers.in_order().into_iter().filter_map(|(operator, question, answer, cases)| {
        let operator = library.operators().get(operator)?;
        operator.questions().get(question).map(|question| Recorded { operator, question, answer, cases })
    });
    recorded.collect()
}

/// The level to judge at, and the level at which cases must be valid, too.
fn levels(
    asked: Option<FeatureLevel>,
    capabilities: &Capabilities,
) -> Result<(FeatureLevel, Option<FeatureLevel>), RunError> {
    let highest = capabilities.feature_level;
    match asked {
        Some(asked) if asked > highest => {
            Err(RunError::Level { backend: capabilities.name.clone(), asked, highest })
        }
        Some(asked) if capabilities.can_set_feature_level => Ok((asked, None)),
        // The device stays what it is, and rightly accepts what only its own level makes valid: such
        // cases are left out, and the rest is judged at the device's own level.
        Some(asked) if asked < highest => Ok((highest, Some(asked))),
        _ => Ok((highest, None)),
    }
}

/// Starts a thread for each worker. They are not joined: one that hangs is left behind.
fn start_workers(shared: &Arc<Shared>, jobs: usize) -> Receiver<ChunkResult> {
    let (sender, results) = sync_channel(jobs * 2);
    for number in 0..jobs {
        let (own, sender) = (Arc::clone(shared), sender.clone());
        let work = move || {
            let backend = match (own.backend)() {
                Ok(backend) => backend,
                Err(reason) => return own.lose_backend(reason),
            };
            let Some(mut worker) = Worker::new(&own, Some(number), backend) else { return };
            while let Some(chunk) = own.chunks.next(&own.stop) {
                let result = worker.chunk(&chunk, u64::MAX);
                if sender.send(result).is_err() {
                    return;
                }
            }
        };
        let builder = thread::Builder::new().name(format!("worker {number}"));
        if let Err(error) = builder.spawn(work) {
            // One thread is enough to go on with.
            if number == 0 {
                shared.lose_backend(format!("no thread can be started: {error}"));
            }
            break;
        }
    }
    results
}

/// Puts the results of chunks in order and adds them up.
struct Collector<'run> {
    shared: &'run Shared,
    strategies: &'run [String],
    limit: Option<u64>,
    grace: Duration,
    shrinks: bool,
    next: u64,
    waiting: BTreeMap<u64, ChunkResult>,
    progress: Progress,
    tallies: Vec<Tally>,
    coverage: Coverage,
    work: Work,
    notes: Notes,
    answers: Answers,
    found: FoundGroups,
    groups: Vec<Group>,
    /// Whether the run's last case has been counted.
    is_done: bool,
}

impl<'run> Collector<'run> {
    fn new(shared: &'run Shared, strategies: &'run [String], configuration: &Configuration) -> Self {
        Self {
            shared,
            strategies,
            limit: configuration.limit,
            grace: configuration.grace,
            shrinks: configuration.shrink,
            next: 0,
            waiting: BTreeMap::new(),
            progress: Progress::default(),
            tallies: vec![Tally::default(); strategies.len()],
            coverage: Coverage::new(shared.library),
            work: Work::default(),
            notes: Notes::default(),
            answers: Answers::default(),
            found: FoundGroups::default(),
            groups: Vec::new(),
            is_done: false,
        }
    }

    /// Takes results until the workers are done, and returns the cases that some never finished.
    fn collect(
        &mut self,
        results: &Receiver<ChunkResult>,
        mut examiner: Option<&mut Worker<'_>>,
        deadline: Option<Instant>,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Vec<std::ops::Range<u64>> {
        let stop: &Stop = &self.shared.stop;
        let mut heard = Instant::now();
        let mut abandoned = Vec::new();
        let kept = deadline.map(|end| (end.saturating_duration_since(heard) / 10).min(SHRINK_TIME));
        let kept = kept.filter(|_| self.shrinks).unwrap_or_default();
        loop {
            let now = Instant::now();
            // Where something failed, some of the time is kept for making it smaller.
            let deadline = match deadline {
                Some(end) if !self.groups.is_empty() => end.checked_sub(kept),
                end => end,
            };
            if deadline.is_some_and(|deadline| now >= deadline) {
                stop.request(Ending::Timeout);
            }
            if stop.is_requested() {
                self.shared.chunks.wake();
                if now.duration_since(heard) > self.grace {
                    abandoned = self.busy();
                    break;
                }
            } else {
                heard = now;
            }
            let patience = deadline.map_or(LOOK_UP, |deadline| deadline.saturating_duration_since(now));
            match results.recv_timeout(patience.min(LOOK_UP)) {
                Ok(result) => {
                    heard = Instant::now();
                    self.waiting.insert(result.chunk.number, result);
                    while let Some(result) = self.waiting.remove(&self.next) {
                        self.next += 1;
                        self.take(result, examiner.as_deref_mut(), tell);
                        self.shared.chunks.report(self.next);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // Chunks behind one that an early end left undone ran all the same.
        for result in std::mem::take(&mut self.waiting).into_values() {
            self.take(result, examiner.as_deref_mut(), tell);
        }
        abandoned
    }

    /// Whether as many cases ran as were asked for.
    fn is_at_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.progress.ran >= limit)
    }

    /// Whether no case is left, so that a limit that was reached has cut nothing off.
    fn is_all_read(&self) -> bool {
        self.shared.source.count() == Some(self.progress.read)
    }

    fn busy(&self) -> Vec<std::ops::Range<u64>> {
        let busy = self.shared.busy.iter();
        let cases = busy.map(|(from, to)| from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed));
        cases.filter(|cases| !cases.is_empty()).collect()
    }

    /// Adds up one chunk, in order.
    fn take(
        &mut self,
        mut result: ChunkResult,
        mut examiner: Option<&mut Worker<'_>>,
        tell: &mut dyn FnMut(Event<'_>),
    ) {
        if self.is_done {
            return;
        }
        if let (Some(limit), Some(examiner)) = (self.limit, examiner.as_deref_mut()) {
            let left = limit - self.progress.ran;
            if result.ran > left || (result.ran == left && result.read > result.ran) {
                // Only a part of this chunk was asked for: that part again, and nothing behind it.
                result = examiner.chunk(&result.chunk, left);
            }
            if result.ran == left {
                self.is_done = true;
            }
        }
        self.progress.read += result.read;
        self.progress.ran += result.ran;
        self.tallies.iter_mut().zip(&result.tallies).for_each(|(own, other)| own.add(other));
        self.coverage.merge(&result.coverage);
        self.progress.unexpected += result.tallies.iter().map(Tally::unexpected).sum::<u64>();
        self.work.runs += result.work.runs;
        self.work.bytes += result.work.bytes;
        self.work.too_large += result.work.too_large;
        self.work.only_created += result.work.only_created;
        self.notes.holes += result.notes.holes;
        self.notes.tails += result.notes.tails;
        self.answers.merge(&result.answers);
        self.found.others += result.found.others;
        for (found, cases) in result.found.groups {
            let is_first = self.found.add_many(found.clone(), cases);
            if let Some(examiner) = examiner.as_deref_mut().filter(|_| is_first) {
                self.open_group(&found, examiner, tell);
            }
        }
        for (group, (_, cases)) in self.groups.iter_mut().zip(&self.found.groups) {
            group.cases = *cases;
        }
        if result.is_cut {
            self.is_done = true;
            self.shared.stop.request(Ending::FirstFailure);
        } else if self.is_done && !self.is_all_read() {
            self.shared.stop.request(Ending::Limit);
        }
        tell(Event::Progress(self.progress));
    }

    /// Runs the first failure of a group again alone, and keeps what that shows.
    fn open_group(&mut self, found: &Found, examiner: &mut Worker<'_>, tell: &mut dyn FnMut(Event<'_>)) {
        let case = examiner.read(found.index);
        let mut first = describe(self.shared, self.strategies, found, case, examiner);
        if first.verdict == Verdict::Pass {
            first.verdict = Verdict::Flake;
            self.tallies[found.strategy].correct(found.verdict, Verdict::Flake);
        }
        tell(Event::Failed(&first));
        self.groups.push(Group { cases: 1, first, smallest: None });
    }

    /// Looks for a smaller case in each group, until the run has to be over.
    fn shrink(&mut self, examiner: &mut Worker<'_>, over: Option<Instant>, tell: &mut dyn FnMut(Event<'_>)) {
        let now = Instant::now();
        let most = now + SHRINK_TIME;
        let deadline = over.map_or(most, |over| over.min(most));
        if self.groups.is_empty() || deadline <= now {
            return;
        }
        tell(Event::Shrinking { groups: self.groups.len() });
        let kept = std::mem::take(&mut self.found);
        for (group, (found, _)) in self.groups.iter_mut().zip(&kept.groups) {
            let wanted = group.first.class;
            if group.first.verdict == Verdict::Flake {
                continue;
            }
            let mut fails_alike = |case: &Case| {
                Instant::now() < deadline
                    && examiner
                        .examine(case, found.index, found.strategy)
                        .is_some_and(|alone| alone.ruling.1 == Some(wanted))
            };
            let smallest = dmlcts_generate::shrink(
                &group.first.case,
                self.shared.library,
                self.shared.level,
                SHRINK_STEPS,
                &mut fails_alike,
            );
            if smallest != group.first.case {
                let smaller = Found { class: wanted, ..found.clone() };
                group.smallest = Some(describe(self.shared, self.strategies, &smaller, smallest, examiner));
            }
        }
        self.found = kept;
    }
}

/// A failure, with what running it alone shows. Its verdict is a pass where it passes alone.
fn describe(
    shared: &Shared,
    strategies: &[String],
    found: &Found,
    case: Case,
    examiner: &mut Worker<'_>,
) -> Failure {
    let operator = &shared.library.operators()[found.operator];
    let alone = examiner.examine(&case, found.index, found.strategy);
    let mut failure = Failure {
        index: found.index,
        strategy: strategies[found.strategy].clone(),
        case,
        operator,
        level: shared.level,
        judgement: found.judgement,
        expectation: dmlcts_model::Expectation::Reject,
        outcome: dmlcts_model::Outcome::Lost,
        verdict: found.verdict,
        class: found.class,
        evidence: None,
    };
    if let Some(alone) = alone {
        failure.judgement = alone.planned.judgement;
        failure.expectation = alone.planned.expectation;
        failure.outcome = alone.outcome;
        failure.evidence = alone.evidence;
        failure.verdict = if alone.ruling.0.is_unexpected() { alone.ruling.0 } else { Verdict::Pass };
        failure.class = alone.ruling.1.unwrap_or(found.class);
    }
    failure
}
