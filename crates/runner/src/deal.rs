//! The state that workers share, how cases are dealt to them, and the results that they return.

use std::{
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::{Desc, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate};

use crate::{
    CaseResults, Difference, Ending, Factory, KnownFailures, Partition, Runs, Source, Stop, Totals,
    expect::Declared,
};

/// The maximum number of batches that were dealt and not reported, while an earlier case is with another
/// worker. It bounds the results that wait, and those that are lost with the program if one case takes long.
const WINDOW: u64 = 256;

/// The state that all workers of a run share.
pub(crate) struct Shared {
    pub(crate) library: &'static Library,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) backend: Arc<Factory>,
    pub(crate) filter: Option<Arc<Predicate>>,
    /// The indices of the cases to run, in ascending order; `None` for all.
    pub(crate) only: Option<Arc<[u64]>>,
    pub(crate) declared: Declared,
    /// The feature level to judge at.
    pub(crate) level: FeatureLevel,
    /// A lower level at which cases must be valid, too, if the backend cannot be set to it.
    pub(crate) selected_level: Option<FeatureLevel>,
    pub(crate) allow: Vec<Difference>,
    pub(crate) memory: u64,
    pub(crate) runs: Runs,
    pub(crate) fail_fast: bool,
    max_hangs: Option<u64>,
    hangs: AtomicU64,
    pub(crate) partition: Option<Partition>,
    /// The known failures of this backend.
    pub(crate) known: KnownFailures,
    /// Whether the result of each case is recorded.
    pub(crate) record: bool,
    /// Whether the sensitivity of each case is recorded, too.
    pub(crate) record_sensitivity: bool,
    pub(crate) strategies: usize,
    pub(crate) stop: Stop,
    /// When the run must end.
    deadline: Option<Instant>,
    pub(crate) dealer: Dealer,
    /// The maximum number of cases of a batch.
    pub(crate) batch_cases: u64,
    /// A batch is run once its memory reaches this size, even if it has fewer cases.
    pub(crate) batch_bytes: usize,
    /// The maximum number of batches that a backend has at a time.
    pub(crate) in_flight: usize,
    /// The worker that has a large case in memory holds this lock.
    pub(crate) large: Mutex<()>,
    /// The cases that each worker has in flight, as one range for each batch.
    pub(crate) busy: Vec<Mutex<Vec<Range<u64>>>>,
    lost: Mutex<Option<String>>,
}

impl Shared {
    pub(crate) fn new(
        run: &crate::Run,
        capabilities: &Capabilities,
        level: FeatureLevel,
        selected_level: Option<FeatureLevel>,
        strategies: usize,
        jobs: usize,
        dealer: Dealer,
    ) -> Self {
        let (configuration, limits) = (&run.configuration, &capabilities.limits);
        Self {
            library: run.library,
            source: Arc::clone(&run.source),
            backend: Arc::clone(&run.backend),
            filter: configuration.filter.clone(),
            only: configuration.only.clone(),
            declared: Declared::new(capabilities),
            level,
            selected_level,
            allow: configuration.allow.clone(),
            memory: configuration.memory.min(isize::MAX as u64),
            runs: configuration.runs,
            fail_fast: configuration.fail_fast,
            max_hangs: configuration.max_hangs,
            hangs: AtomicU64::new(0),
            partition: configuration.partition,
            known: configuration.known.of(capabilities),
            record: configuration.record,
            record_sensitivity: configuration.record_sensitivity,
            strategies,
            stop: run.stop.clone(),
            deadline: configuration.deadline,
            dealer,
            batch_cases: batch_cases(limits),
            batch_bytes: batch_bytes(batch_cases(limits)),
            in_flight: limits.in_flight.max(1),
            large: Mutex::new(()),
            busy: (0..jobs).map(|_| Mutex::default()).collect(),
            lost: Mutex::new(None),
        }
    }

    /// The first run of consecutive cases in this range that are selected. Empty, at the end of the range, if
    /// none is left.
    pub(crate) fn chosen(&self, cases: Range<u64>) -> Range<u64> {
        let Some(only) = &self.only else { return cases };
        let left = &only[only.partition_point(|index| *index < cases.start)..];
        let Some(first) = left.first().copied().filter(|first| cases.contains(first)) else {
            return cases.end..cases.end;
        };
        let count = left.iter().zip(first..cases.end).take_while(|(index, next)| **index == *next).count();
        first..first + count as u64
    }

    /// Totals of no cases.
    pub(crate) fn no_totals(&self) -> Totals {
        let mut totals = Totals::new(self.library, self.strategies);
        totals.known = self.known.tallies();
        totals
    }

    /// The operator of a desc, with its index in the library.
    pub(crate) fn operator_of(&self, desc: &Desc) -> Option<(usize, &'static Operator)> {
        let mut operators = self.library.operators().iter().enumerate();
        operators.find(|(_, operator)| Arc::ptr_eq(operator.signature(), &desc.signature))
    }

    /// Counts a case without an answer in time, and ends the run if the limit is reached.
    pub(crate) fn note_hang(&self) {
        let hangs = self.hangs.fetch_add(1, Ordering::Relaxed) + 1;
        if self.max_hangs.is_some_and(|most| hangs >= most) {
            self.stop.request(Ending::Hangs);
            self.dealer.wake();
        }
    }

    /// Whether the deadline is past or the run is interrupted. Unanswered cases were then cut off, whatever
    /// the state of their backend.
    pub(crate) fn is_time_up(&self) -> bool {
        self.stop.is_interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why a case that was cut off has no answer.
    pub(crate) fn cut_off_by(&self) -> Ending {
        match (self.stop.is_interrupted(), self.is_time_up()) {
            (true, _) => Ending::Interrupted,
            (_, true) => Ending::Timeout,
            _ => Ending::Hangs,
        }
    }

    /// Whether backends may have stopped answering because too many cases hang. A backend can reach the limit
    /// before the last of these cases is counted here.
    pub(crate) fn may_have_hung_up(&self) -> bool {
        self.max_hangs.is_some()
    }

    /// Ends the run because no backend can be started. If the time is up, that is the reason instead.
    pub(crate) fn lose_backend(&self, reason: String) {
        if self.is_time_up() {
            self.stop.request(self.cut_off_by());
            return self.dealer.wake();
        }
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.stop.request(Ending::BackendLost);
        self.dealer.wake();
    }

    /// Why no backend can be started, if so.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Deals cases: always the first ones that no worker has, and a bounded number of batches ahead of the oldest
/// that is not reported.
#[derive(Debug)]
pub(crate) struct Dealer {
    /// The maximum number of cases of a batch.
    most: u64,
    /// The number of cases dealt for each case of a batch, since some may be left out.
    reach: u64,
    dealing: Mutex<Dealing>,
    moved: Condvar,
}

#[derive(Debug)]
struct Dealing {
    /// The cases that no worker has, in order: those that were given back, and the rest.
    left: Vec<Range<u64>>,
    /// The number of batches that were dealt and not reported.
    out: u64,
    /// The next case to report.
    next: u64,
}

impl Dealing {
    /// Whether enough batches wait for a case that a worker has. If no worker has that case, it must be
    /// dealt.
    fn is_far(&self) -> bool {
        self.out >= WINDOW && self.left.first().is_some_and(|first| first.start > self.next)
    }

    fn deal(&mut self, most: u64) -> Option<Range<u64>> {
        let first = self.left.first_mut()?;
        let end = first.start.saturating_add(most).min(first.end);
        let cases = first.start..end;
        first.start = end;
        self.left.retain(|cases| !cases.is_empty());
        self.out += 1;
        Some(cases)
    }
}

impl Dealer {
    /// Deals these cases, at most `most` times `reach` for a batch. `reach` is above 1 if some cases may be
    /// left out.
    pub(crate) fn new(cases: Range<u64>, most: u64, reach: u64) -> Self {
        let next = cases.start;
        let mut left = vec![cases];
        left.retain(|cases| !cases.is_empty());
        let dealing = Mutex::new(Dealing { left, out: 0, next });
        Self { most: most.max(1), reach: reach.max(1), dealing, moved: Condvar::new() }
    }

    /// Returns the cases for a batch of at most this size, as soon as they are not too far ahead. `None` if
    /// no case is left or the run is to end. Calls `waits` before it blocks.
    pub(crate) fn next(&self, cases: u64, stop: &Stop, waits: impl FnOnce()) -> Option<Range<u64>> {
        let is_far = |dealing: &Dealing| dealing.is_far() && !stop.is_requested();
        if is_far(&self.dealing()) {
            waits();
        }
        let mut dealing = self.dealing();
        while is_far(&dealing) {
            dealing = self.moved.wait(dealing).unwrap_or_else(PoisonError::into_inner);
        }
        let most = cases.clamp(1, self.most).saturating_mul(self.reach);
        if stop.is_requested() { None } else { dealing.deal(most) }
    }

    /// The maximum number of cases of a batch.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Whether no cases are left to deal at the moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.dealing().left.is_empty()
    }

    /// Takes back cases that were dealt but not read.
    pub(crate) fn give_back(&self, mut cases: Range<u64>) {
        if !cases.is_empty() {
            let left = &mut self.dealing().left;
            let place = left.partition_point(|before| before.start < cases.start);
            if let Some(behind) = left.get(place).filter(|behind| behind.start == cases.end) {
                cases.end = behind.end;
                left.remove(place);
            }
            left.insert(place, cases);
        }
        self.wake();
    }

    /// The next case to report.
    pub(crate) fn due(&self) -> u64 {
        self.dealing().next
    }

    fn dealing(&self) -> MutexGuard<'_, Dealing> {
        self.dealing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that one more batch was reported, and every case before `next`. Wakes waiting workers.
    pub(crate) fn report(&self, next: u64) {
        let mut dealing = self.dealing();
        dealing.out = dealing.out.saturating_sub(1);
        dealing.next = next;
        drop(dealing);
        self.wake();
    }

    /// Wakes waiting workers, so that they check the stop switch again.
    pub(crate) fn wake(&self) {
        self.moved.notify_all();
    }
}

/// The results of the cases of a batch.
#[derive(Debug)]
pub(crate) struct BatchResult {
    /// The range of the cases.
    pub(crate) range: Range<u64>,
    /// Their totals. The coverage is everything that the worker exercised up to the end of this batch.
    pub(crate) totals: Totals,
    /// The result of each case, if results are recorded.
    pub(crate) cases: CaseResults,
    /// Why the results end before the last case, if they do: a failure ended the run, or a case had no answer
    /// when the run was cut off.
    pub(crate) cut: Option<Ending>,
}

impl BatchResult {
    /// A result for cases that were all read but not judged yet.
    pub(crate) fn new(range: Range<u64>, shared: &Shared) -> Self {
        let mut totals = shared.no_totals();
        totals.progress.read = range.end - range.start;
        Self { range, totals, cases: CaseResults::default(), cut: None }
    }

    /// Ends the results before the case at an index.
    pub(crate) fn cut(&mut self, index: u64, ending: Ending) {
        self.totals.progress.read = index - self.range.start;
        self.cut = Some(ending);
    }

    /// Whether every case of the batch was read.
    pub(crate) fn is_whole(&self) -> bool {
        self.totals.progress.read == self.range.end - self.range.start
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

    fn dealt(dealer: &Dealer, most: u64) -> Vec<Range<u64>> {
        let stop = Stop::default();
        std::iter::from_fn(|| dealer.next(most, &stop, || ())).collect()
    }

    #[test]
    fn every_case_is_dealt_once_and_the_last_batch_is_smaller() {
        assert_eq!(dealt(&Dealer::new(0..10, 4, 1), u64::MAX), [0..4, 4..8, 8..10]);
        assert_eq!(
            dealt(&Dealer::new(0..10, 4, 1), 3),
            [0..3, 3..6, 6..9, 9..10],
            "as small as they are asked for"
        );
        assert_eq!(dealt(&Dealer::new(0..0, 4, 1), u64::MAX), []);
        assert_eq!(dealt(&Dealer::new(5..10, 4, 1), u64::MAX), [5..9, 9..10]);
    }

    #[test]
    fn what_is_given_back_is_dealt_first() {
        let (dealer, stop) = (Dealer::new(0..20, 8, 1), Stop::default());
        let next = |most| dealer.next(most, &stop, || ());
        assert_eq!((next(8), next(8)), (Some(0..8), Some(8..16)));
        dealer.give_back(10..16);
        dealer.give_back(3..8);
        dealer.give_back(16..16);
        assert_eq!(
            (next(2), next(8), next(8), next(8)),
            (Some(3..5), Some(5..8), Some(10..18), Some(18..20))
        );
        assert_eq!(next(8), None);
    }

    /// A worker that waits for a report must not wait for a case that no worker has.
    #[test]
    fn the_case_that_all_others_wait_for_is_always_dealt() {
        let (dealer, stop) = (Dealer::new(0..u64::MAX, 8, 1), Stop::default());
        (0..WINDOW).for_each(|_| assert!(dealer.next(8, &stop, || ()).is_some()));
        dealer.give_back(2..8);
        dealer.report(2);
        // Other workers filled the window again in the meantime.
        dealer.dealing().out = WINDOW;
        let waits = || panic!("it is there");
        assert_eq!(dealer.next(8, &stop, waits), Some(2..8));
    }

    #[test]
    fn batches_are_as_large_as_the_backend_wants_them() {
        let of = |limits: Limits| (batch_cases(&limits), batch_bytes(batch_cases(&limits)));
        assert_eq!(of(Limits::default()), (96, 256 << 10));
        assert_eq!(of(Limits { batch_jobs: 1, ..Limits::default() }), (1, 256 << 10));
        assert_eq!(of(Limits { busy_jobs: 8192, batch_jobs: 8192, ..Limits::default() }), (8064, 4 << 20));
        assert_eq!(of(Limits { busy_jobs: 0, ..Limits::default() }), (1, 256 << 10));
    }

    #[test]
    fn more_is_dealt_where_cases_may_be_left_out() {
        assert_eq!(dealt(&Dealer::new(0..10, 2, 3), 1), [0..3, 3..6, 6..9, 9..10]);
    }

    #[test]
    fn a_worker_that_is_too_far_ahead_waits_until_the_run_ends() {
        let (dealer, stop) = (Arc::new(Dealer::new(0..u64::MAX, 1, 1)), Stop::default());
        let ahead = {
            let (dealer, stop) = (Arc::clone(&dealer), stop.clone());
            std::thread::spawn(move || std::iter::from_fn(|| dealer.next(1, &stop, || ())).count() as u64)
        };
        while dealer.dealing().out < WINDOW {
            std::thread::yield_now();
        }
        stop.request(Ending::Limit);
        // The worker may not wait yet, so that one call could come too early.
        while !ahead.is_finished() {
            dealer.wake();
        }
        assert_eq!(ahead.join().unwrap(), WINDOW);
    }
}
