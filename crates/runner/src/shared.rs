//! The state that the workers and the collector of a run share.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::{Desc, FeatureLevel};
use dmlcts_spec::{Library, Operator};

use crate::{
    CaseSource, Configuration, Ending, Factory, RunError, RunOutcomes, Stop, Totals,
    batch_result::BatchResult, deal::Dealer, expect::Declared,
};

/// The right to hold a large case in memory.
pub(crate) type LargeCasePermit<'run> = MutexGuard<'run, ()>;

/// The state that the workers and the collector of a run share.
pub(crate) struct Shared {
    pub(crate) library: &'static Library,
    pub(crate) source: Arc<dyn CaseSource>,
    pub(crate) backend: Arc<Factory>,
    /// The configuration of the run, with the known failures of this backend only. The collector has the
    /// earlier part of the run.
    pub(crate) configuration: Configuration,
    pub(crate) stop: Stop,
    pub(crate) declared: Declared,
    /// The feature level to judge at.
    pub(crate) level: FeatureLevel,
    /// A lower level at which cases must be valid, too, if the backend cannot be set to it.
    pub(crate) selected_level: Option<FeatureLevel>,
    hangs: AtomicU64,
    /// Whether the backends stop answering after the maximum number of hangs, as hosts of processes do.
    stops_after_hangs: bool,
    /// The known failures that changed, once all cases have run. They expect nothing of the cases that
    /// explain them.
    pub(crate) changed: OnceLock<Vec<usize>>,
    pub(crate) strategies: Vec<String>,
    /// Whether the deadline is no limit, since only the explanation of failures goes on.
    is_unlimited: AtomicBool,
    pub(crate) dealer: Dealer,
    /// The maximum number of cases of a batch.
    pub(crate) batch_cases: u64,
    /// A batch is run once its memory reaches this size, even if it has fewer cases.
    pub(crate) batch_bytes: usize,
    /// The maximum number of batches that a backend has at a time.
    pub(crate) in_flight: usize,
    /// The thread that has a large case in memory holds this lock.
    large: Mutex<()>,
    lost: Mutex<Option<String>>,
}

impl Shared {
    pub(crate) fn new(
        run: &crate::Run,
        capabilities: &Capabilities,
        level: FeatureLevel,
        selected_level: Option<FeatureLevel>,
        dealer: Dealer,
    ) -> Result<Self, RunError> {
        let limits = &capabilities.limits;
        let crate::Run { library, source, backend, configuration, stop } = run.clone();
        let configuration = Configuration {
            memory: configuration.memory.min(isize::MAX as u64),
            known: configuration.known.of(capabilities),
            resume: None,
            run_outcomes: RunOutcomes::default(),
            ..configuration
        };
        Ok(Self {
            library,
            strategies: source.strategies(),
            source,
            backend,
            stops_after_hangs: configuration.max_hangs.is_some() && capabilities.is_isolated,
            configuration,
            stop,
            declared: Declared::new(capabilities, library)?,
            level,
            selected_level,
            hangs: AtomicU64::new(0),
            changed: OnceLock::new(),
            is_unlimited: AtomicBool::new(false),
            dealer,
            batch_cases: batch_cases(limits),
            batch_bytes: batch_bytes(batch_cases(limits)),
            in_flight: limits.in_flight.max(1),
            large: Mutex::new(()),
            lost: Mutex::new(None),
        })
    }

    /// The first run of consecutive cases in this range that are selected. Empty, at the end of the range, if
    /// none is left.
    pub(crate) fn chosen(&self, cases: Range<u64>) -> Range<u64> {
        let Some(only) = &self.configuration.only else { return cases };
        let left = &only[only.partition_point(|index| *index < cases.start)..];
        let Some(first) = left.first().copied().filter(|first| cases.contains(first)) else {
            return cases.end..cases.end;
        };
        let count = left.iter().zip(first..cases.end).take_while(|(index, next)| **index == *next).count();
        first..first + count as u64
    }

    /// Totals of no cases.
    pub(crate) fn no_totals(&self) -> Totals {
        let mut totals = Totals::new(self.library, self.strategies.len());
        totals.known = self.configuration.known.tallies();
        totals
    }

    /// The operator of a desc, with its index in the library.
    pub(crate) fn operator_of(&self, desc: &Desc) -> Option<(usize, &'static Operator)> {
        let mut operators = self.library.operators().iter().enumerate();
        operators.find(|(_, operator)| Arc::ptr_eq(operator.signature(), &desc.signature))
    }

    /// The right to hold a large case in memory. If another thread has it, this waits until the time of the
    /// run is up, or returns `None` if `waits` is false.
    pub(crate) fn large_case_permit(&self, waits: bool) -> Option<LargeCasePermit<'_>> {
        /// The interval at which a waiting thread looks again.
        const INTERVAL: Duration = Duration::from_millis(5);
        loop {
            match self.large.try_lock() {
                Ok(permit) => return Some(permit),
                Err(TryLockError::Poisoned(permit)) => return Some(permit.into_inner()),
                Err(TryLockError::WouldBlock) if waits && !self.is_time_up() => thread::sleep(INTERVAL),
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }

    /// Counts the hangs of a batch, and ends the run if a limit is reached or the batch was cut off.
    pub(crate) fn note(&self, result: &BatchResult) {
        let hangs = self.hangs.fetch_add(result.hangs, Ordering::Relaxed) + result.hangs;
        if self.configuration.max_hangs.is_some_and(|most| hangs >= most) {
            self.end(Ending::Hangs);
        }
        // A failure ends the run only when the cases before it are reported.
        if let Some(ending) = result.cut.filter(|ending| *ending != Ending::MaxFailures) {
            self.end(ending);
        }
    }

    fn end(&self, ending: Ending) {
        self.stop.request(ending);
        self.dealer.wake();
    }

    /// When the run must have ended.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.configuration.deadline.filter(|_| !self.is_unlimited.load(Ordering::Relaxed))
    }

    /// Lets the explanation of failures go on after the deadline.
    pub(crate) fn end_deadline(&self) {
        self.is_unlimited.store(true, Ordering::Relaxed);
    }

    /// Whether the deadline is past or the run is interrupted. Unanswered cases were then cut off, whatever
    /// the state of their backend.
    pub(crate) fn is_time_up(&self) -> bool {
        self.stop.is_interrupted() || self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why a case that was cut off has no answer.
    pub(crate) fn cut_off_by(&self) -> Ending {
        match (self.stop.is_interrupted(), self.is_time_up()) {
            (true, _) => Ending::Interrupted,
            (_, true) => Ending::Timeout,
            _ => Ending::Hangs,
        }
    }

    /// Whether a case without an outcome, of a backend that is not lost, was cut off by the end of the run. A
    /// host may reach the limit of hangs before the last of them is counted here.
    pub(crate) fn cuts_off(&self) -> bool {
        self.is_time_up() || self.stops_after_hangs
    }

    /// Ends the run because no backend can be started. If the time is up, that is the reason instead.
    pub(crate) fn lose_backend(&self, reason: String) {
        if self.is_time_up() {
            return self.end(self.cut_off_by());
        }
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.end(Ending::BackendLost);
    }

    /// Why no backend can be started, if so.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The maximum number of cases of a batch, for a backend with these limits.
fn batch_cases(limits: &Limits) -> u64 {
    /// Drawn cases change operator in turns of up to 64 cases. 384 is a multiple of 64 times one, two, three
    /// or six operators. So a case reuses the memory of a case of the same operator in the previous batch.
    const ROUND: usize = 384;
    let cases = limits.busy_jobs.min(limits.batch_jobs).max(1);
    (if cases > ROUND { cases - cases % ROUND } else { cases }) as u64
}

/// The maximum number of bytes of tensors in a batch of this many cases.
fn batch_bytes(cases: u64) -> usize {
    /// For up to [`CASES`] cases: small enough to stay in a core's cache.
    const BYTES: usize = 256 << 10;
    const CASES: u64 = 512;
    /// For a batch of any size.
    const MOST: usize = 32 << 20;
    (cases.div_ceil(CASES) as usize).saturating_mul(BYTES).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_as_large_as_the_backend_wants_them() {
        let of = |limits: Limits| (batch_cases(&limits), batch_bytes(batch_cases(&limits)));
        assert_eq!(of(Limits::default()), (96, 256 << 10));
        assert_eq!(of(Limits { batch_jobs: 1, ..Limits::default() }), (1, 256 << 10));
        assert_eq!(of(Limits { busy_jobs: 8192, batch_jobs: 8192, ..Limits::default() }), (8064, 4 << 20));
        assert_eq!(of(Limits { busy_jobs: 0, ..Limits::default() }), (1, 256 << 10));
    }
}
