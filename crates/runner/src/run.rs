//! A run from start to end: workers on threads, and one collector that puts their results in order.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Instant,
};

use dmlcts_backend::{Capabilities, OpenError, Purpose};
use dmlcts_model::FeatureLevel;
use dmlcts_spec::expression::Mistake;

use crate::{
    Ending, Event, Group, Run, RunOutcomes, Summary, Timings, Totals, Trials, batch_result::BatchResult,
    collect::Collector, deal::Dealer, panics, shared::Shared, worker::Worker,
};

/// The maximum number of cases that are read for each case of a batch, if some cases may be left out.
const REACH: u64 = 64;

/// A run that could not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The factory made no backend.
    #[error("the backend cannot be started: {0}")]
    Backend(#[from] OpenError),
    /// The requested level is above the backend's own.
    #[error(
        "the backend `{backend}` supports feature level {highest}, so it cannot be held to {asked}; \
         ask for {highest} or lower"
    )]
    Level {
        /// The backend's name.
        backend: String,
        /// The level that was asked for.
        asked: FeatureLevel,
        /// The level that the backend supports.
        highest: FeatureLevel,
    },
    /// What the backend declares to lack is no condition on descs.
    #[error("what `{backend}` declares makes no sense: the condition of its `lacks[{place}]`: {mistake}")]
    Lack {
        /// The backend's name.
        backend: String,
        /// The index in its `lacks`.
        place: usize,
        /// The operator that it names.
        operator: String,
        /// The condition.
        condition: String,
        /// The mistake in it.
        mistake: Box<Mistake>,
    },
}

/// A run whose cases have all run, and whose backend can still run cases alone.
#[derive(Debug)]
pub struct Ended<'a, 'run> {
    /// The backend.
    pub trials: &'a mut Trials<'run>,
    /// The totals of all cases.
    pub totals: &'a Totals,
    /// The groups of failures.
    pub groups: &'a [Group],
    /// How each case ended.
    pub run_outcomes: &'a RunOutcomes,
    /// Why the run ended.
    pub ending: Ending,
}

/// Runs the cases until none is left or the run ends, and passes events to `tell`.
pub fn run(run: &Run, tell: &mut dyn FnMut(Event<'_>)) -> Result<Summary, RunError> {
    run_then(run, tell, |_| ()).map(|(summary, ())| summary)
}

/// Runs the cases like [`run`], and then calls `then` while the backend is still there.
pub fn run_then<T>(
    run: &Run,
    tell: &mut dyn FnMut(Event<'_>),
    then: impl FnOnce(Ended<'_, '_>) -> T,
) -> Result<(Summary, T), RunError> {
    let since = Instant::now();
    let backend = (run.backend)(Purpose::Retries)?;
    let start = since.elapsed();
    let capabilities = backend.capabilities().clone();
    let configuration = &run.configuration;
    let (level, selected_level) = levels(configuration.level, &capabilities)?;
    let cases = run.source.count();
    let dealer = dealer(run, selected_level.is_some());
    let shared = Shared::new(run, &capabilities, level, selected_level, dealer)?;
    let shared = Arc::new(shared);
    tell(Event::Started { capabilities: &capabilities, level, cases });

    let alone = Trials::new(&shared, backend);
    let mut collector = Collector::new(&shared, alone, configuration);
    if !run.stop.is_requested() {
        collector.reopen_groups();
    }
    if configuration.tries_smallest && configuration.partition.is_none_or(|part| part.part() == 1) {
        // A backend of its own: these cases fail, and might spoil it for others.
        let backend = if collector.lacks_smallest() { (run.backend)(Purpose::Retries).ok() } else { None };
        if let Some(backend) = backend {
            let mut trials = Trials::new(&shared, backend);
            collector.try_smallest(&mut trials);
            let _ = panics::caught(|| drop(trials));
        }
    }
    if collector.is_at_limit() && !collector.is_all_read() {
        run.stop.request(Ending::Limit);
    }
    let results = start_workers(&shared, configuration.jobs.max(1));
    let abandoned = collector.collect(&results, configuration.deadline, tell);
    let ending = match run.stop.reason() {
        Ending::Complete if collector.is_at_limit() && !collector.is_all_read() => Ending::Limit,
        // The last cases were still in flight when the stop was requested, and they were answered.
        Ending::Hangs | Ending::Timeout if collector.is_all_read() && abandoned.is_empty() => {
            Ending::Complete
        }
        reason => reason,
    };
    collector.release();
    if configuration.ends_cases_alone {
        shared.end_deadline();
    }
    // The processes of the workers have ended. How those of an explanation end is no result of the cases.
    let bad_end = configuration.incidents.shutdowns().bad_end();
    let since = Instant::now();
    let then = then(collector.ended(ending));
    let explanation = since.elapsed();
    let timings = Timings { start: start + collector.timings.start, explanation, ..collector.timings };
    let (totals, groups) = collector.end(tell);
    let summary = Summary {
        capabilities,
        level,
        cases,
        strategies: totals.by_strategy(&shared.strategies),
        recorded: totals.recorded(run.library),
        totals,
        timings: Some(timings),
        groups,
        ending,
        abandoned,
        lost: shared.lost(),
        bad_end,
        cut: Vec::new(),
    };
    Ok((summary, then))
}

/// Deals the cases of a run that are left to read. `selects` is whether cases are left out that are not valid
/// at a lower level.
fn dealer(run: &Run, selects: bool) -> Dealer {
    let configuration = &run.configuration;
    let can_leave_out = configuration.filter.is_some()
        || configuration.only.is_some()
        || configuration.partition.is_some()
        || selects;
    let cases = run.source.count().unwrap_or(u64::MAX);
    // If no case can be left out, the limit equals the number of cases to read.
    let to_read = match configuration.limit {
        Some(limit) if !can_leave_out => cases.min(limit),
        _ => cases,
    };
    let from = configuration.resume.as_ref().map_or(0, |earlier| earlier.next.min(to_read));
    // The batches of a short run are small, so that every thread has work.
    let most = (to_read - from).div_ceil(configuration.jobs.max(1) as u64 * 8);
    Dealer::new(from..to_read, most, if can_leave_out { REACH } else { 1 })
}

/// Returns the level to judge at, and a second level at which cases must be valid, too, if there is one.
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
        // The backend cannot be set to a lower level, and it rightly accepts descs that only its own level
        // makes valid. Those cases are left out, and the others are judged at the backend's level.
        Some(asked) if asked < highest => Ok((highest, Some(asked))),
        _ => Ok((highest, None)),
    }
}

/// Starts the first worker. Each worker starts two more with its first result, so that a short run opens few
/// backends. Threads are not joined: a thread that hangs is left behind.
fn start_workers(shared: &Arc<Shared>, jobs: usize) -> Receiver<BatchResult> {
    // The channel is unbounded: a worker that waited here might hold a batch that the collector needs. The
    // dealer bounds the number of results, since it deals no more than a window ahead of the batch that is
    // due.
    let (sender, results) = channel();
    start_worker(shared, &sender, 0, jobs);
    results
}

fn start_worker(shared: &Arc<Shared>, sender: &Sender<BatchResult>, number: usize, jobs: usize) {
    if number >= jobs || shared.dealer.is_over() {
        return;
    }
    let (own, sender) = (Arc::clone(shared), sender.clone());
    let work = move || {
        let worked = catch_unwind(AssertUnwindSafe(|| work(&own, &sender, number, jobs)));
        if let Err(panic) = worked {
            let what = panics::message(&*panic);
            own.lose_backend(format!("a thread of dmlcts failed: {what}; please report this bug of dmlcts"));
        }
    };
    let builder = thread::Builder::new().name(format!("worker {number}"));
    if let Err(error) = builder.spawn(work) {
        // The run can go on with fewer threads, but not without the first one.
        if number == 0 {
            shared.lose_backend(format!("no thread can be started: {error}"));
        }
    }
}

/// Does the work of one worker on a backend of its own.
fn work(shared: &Arc<Shared>, sender: &Sender<BatchResult>, number: usize, jobs: usize) {
    let since = Instant::now();
    let backend = match (shared.backend)(Purpose::Cases) {
        Ok(backend) => backend,
        Err(error) => return shared.lose_backend(error.to_string()),
    };
    let mut is_first = true;
    let mut worker = Worker::new(shared, backend, since.elapsed());
    worker.work(&mut |result| {
        // If the collector no longer listens, the run has ended.
        let _ = sender.send(result);
        if std::mem::take(&mut is_first) {
            start_worker(shared, sender, 2 * number + 1, jobs);
            start_worker(shared, sender, 2 * number + 2, jobs);
        }
    });
    // A backend that panics in its destructor has answered everything.
    let _ = panics::caught(|| drop(worker));
}
