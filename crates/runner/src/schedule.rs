//! What workers share, the chunks of cases that they take, and what they hand back of each.

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

/// How many chunks may be with workers or wait for one before them. It bounds the results that wait, and what is lost with
/// the program where one case takes its time.
const WINDOW: u64 = 256;

/// The lots that a backend wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lots {
    /// Cases in one.
    pub(crate) cases: u64,
    /// A lot is run when its arenas hold this much, though it has fewer cases.
    pub(crate) bytes: usize,
    /// How many are with the backend at a time.
    pub(crate) in_flight: usize,
}

impl Lots {
    /// Arenas of a lot of up to [`Lots::CASES`]: little enough to stay in a core's cache.
    const BYTES: usize = 256 << 10;
    const CASES: usize = 512;
    /// Where there are more cases, a multiple of this. Drawn cases have operators in turns of up to 64: with one, two, three or six
    /// of them, the memory of a case in one lot is that of a case of the same operator in the next, and is written over.
    const ROUND: usize = 384;
    /// Arenas of any lot.
    const MOST_BYTES: usize = 32 << 20;

    pub(crate) fn new(limits: &Limits) -> Self {
        let cases = limits.busy_jobs.min(limits.batch_jobs).max(1);
        let cases = if cases > Self::ROUND { cases - cases % Self::ROUND } else { cases };
        let bytes = (cases.div_ceil(Self::CASES)).saturating_mul(Self::BYTES).min(Self::MOST_BYTES);
        Self { cases: cases as u64, bytes, in_flight: limits.in_flight.max(1) }
    }

    /// Cases of a chunk: several lots, since what is handed back of a chunk takes as long however many there are.
    pub(crate) fn chunk(&self) -> u64 {
        self.cases.saturating_mul(4)
    }
}

/// Chunks by their first cases, with the cases of each.
pub(crate) type Unfinished = Vec<(u64, Range<u64>)>;

/// What all workers of a run read.
pub(crate) struct Shared {
    pub(crate) library: &'static Library,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) backend: Arc<Factory>,
    pub(crate) filter: Option<Arc<Predicate>>,
    /// The indices of the cases to run, in order, where they are not all.
    pub(crate) only: Option<Arc<[u64]>>,
    pub(crate) declared: Declared,
    /// The level to judge at.
    pub(crate) level: FeatureLevel,
    /// A lower level at which cases must be valid, too, where the backend cannot be set to it.
    pub(crate) selected_level: Option<FeatureLevel>,
    pub(crate) allow: Vec<Difference>,
    pub(crate) memory: u64,
    pub(crate) runs: Runs,
    pub(crate) fail_fast: bool,
    max_hangs: Option<u64>,
    hangs: AtomicU64,
    pub(crate) partition: Option<Partition>,
    /// What is known to fail on this backend.
    pub(crate) known: KnownFailures,
    /// Whether somebody wants to know what became of each case.
    pub(crate) record: bool,
    /// Whether what cases could have shown is recorded, too.
    pub(crate) expose: bool,
    pub(crate) strategies: usize,
    pub(crate) stop: Stop,
    /// When the time is up.
    deadline: Option<Instant>,
    pub(crate) chunks: Chunks,
    pub(crate) lots: Lots,
    /// Held by the worker that runs a large case.
    pub(crate) large: Mutex<()>,
    /// The cases that each worker has read and not handed over, and the first cases of the chunks that they are of.
    pub(crate) busy: Vec<Mutex<Unfinished>>,
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
        chunks: Chunks,
    ) -> Self {
        let configuration = &run.configuration;
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
            expose: configuration.expose,
            strategies,
            stop: run.stop.clone(),
            deadline: configuration.deadline,
            chunks,
            lots: Lots::new(&capabilities.limits),
            large: Mutex::new(()),
            busy: (0..jobs).map(|_| Mutex::default()).collect(),
            lost: Mutex::new(None),
        }
    }

    /// The first of these cases that are to be read, as many as follow each other; none, from the end on, where there is none left.
    pub(crate) fn chosen(&self, cases: Range<u64>) -> Range<u64> {
        let Some(only) = &self.only else { return cases };
        let left = &only[only.partition_point(|index| *index < cases.start)..];
        let Some(first) = left.first().copied().filter(|first| cases.contains(first)) else {
            return cases.end..cases.end;
        };
        let count = left.iter().zip(first..cases.end).take_while(|(index, next)| **index == *next).count();
        first..first + count as u64
    }

    /// Totals of no case yet.
    pub(crate) fn no_totals(&self) -> Totals {
        let mut totals = Totals::new(self.library, self.strategies);
        totals.known = self.known.tallies();
        totals
    }

    /// The operator of a desc, and its place in the library.
    pub(crate) fn operator_of(&self, desc: &Desc) -> Option<(usize, &'static Operator)> {
        let mut operators = self.library.operators().iter().enumerate();
        operators.find(|(_, operator)| Arc::ptr_eq(operator.signature(), &desc.signature))
    }

    /// Ends the result of a chunk before this case, which is among those that were read, and returns that of the rest.
    pub(crate) fn split(&self, result: &mut ChunkResult, behind: u64) -> ChunkResult {
        let cases = &mut result.chunk.cases;
        let mut rest = ChunkResult::new(&Chunk { cases: behind..cases.end }, self);
        cases.end = behind;
        let read = cases.end - cases.start;
        rest.totals.progress.read = result.totals.progress.read - read;
        result.totals.progress.read = read;
        self.chunks.note_another();
        rest
    }

    /// Counts a case that had no answer in time, and ends the run where it is one too many.
    pub(crate) fn note_hang(&self) {
        let hangs = self.hangs.fetch_add(1, Ordering::Relaxed) + 1;
        if self.max_hangs.is_some_and(|most| hangs >= most) {
            self.stop.request(Ending::Hangs);
            self.chunks.wake();
        }
    }

    /// Whether the time is up, or somebody has interrupted the run. What has no answer by then was cut off, whatever its backend was doing.
    pub(crate) fn is_time_up(&self) -> bool {
        self.stop.is_interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why a case is not answered that was cut off.
    pub(crate) fn cut_off_by(&self) -> Ending {
        match (self.stop.is_interrupted(), self.is_time_up()) {
            (true, _) => Ending::Interrupted,
            (_, true) => Ending::Timeout,
            _ => Ending::Hangs,
        }
    }

    /// Whether backends may have stopped answering since too many cases hang. They know it before the last of these is counted here.
    pub(crate) fn may_have_hung_up(&self) -> bool {
        self.max_hangs.is_some()
    }

    /// Ends the run because no backend can be had any more. Where the time is up, that is why.
    pub(crate) fn lose_backend(&self, reason: String) {
        if self.is_time_up() {
            self.stop.request(self.cut_off_by());
            return self.chunks.wake();
        }
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.stop.request(Ending::BackendLost);
        self.chunks.wake();
    }

    /// Why no backend can be had any more.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Consecutive cases; the first tells chunks apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) cases: Range<u64>,
}

/// Deals out chunks: of what nobody has, always the first cases, and never too much while one of those before is not
/// reported.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// Cases of the largest.
    pub(crate) most: u64,
    dealing: Mutex<Dealing>,
    moved: Condvar,
}

#[derive(Debug)]
struct Dealing {
    /// The cases that nobody has, in order: what was given back, and the rest.
    left: Vec<Range<u64>>,
    /// How many chunks were dealt and are not reported.
    out: u64,
    /// The case that is to be reported next.
    next: u64,
}

impl Dealing {
    /// Whether enough waits for a case that somebody has. Where nobody has it, somebody must take it.
    fn is_far(&self) -> bool {
        self.out >= WINDOW && self.left.first().is_some_and(|first| first.start > self.next)
    }

    fn deal(&mut self, most: u64) -> Option<Chunk> {
        let first = self.left.first_mut()?;
        let end = first.start.saturating_add(most).min(first.end);
        let cases = first.start..end;
        first.start = end;
        self.left.retain(|cases| !cases.is_empty());
        self.out += 1;
        Some(Chunk { cases })
    }
}

impl Chunks {
    pub(crate) fn new(cases: Range<u64>, most: u64) -> Self {
        let next = cases.start;
        let mut left = vec![cases];
        left.retain(|cases| !cases.is_empty());
        Self { most: most.max(1), dealing: Mutex::new(Dealing { left, out: 0, next }), moved: Condvar::new() }
    }

    /// The next chunk, of so many cases at most, once it is not too far ahead; `None` where there is none left or the run is
    /// to end. Where it has to be waited for, that is said first.
    pub(crate) fn next(&self, cases: u64, stop: &Stop, waits: impl FnOnce()) -> Option<Chunk> {
        let is_far = |dealing: &Dealing| dealing.is_far() && !stop.is_requested();
        if is_far(&self.dealing()) {
            waits();
        }
        let mut dealing = self.dealing();
        while is_far(&dealing) {
            dealing = self.moved.wait(dealing).unwrap_or_else(PoisonError::into_inner);
        }
        if stop.is_requested() { None } else { dealing.deal(cases.clamp(1, self.most)) }
    }

    /// Takes back cases of a chunk that whoever had it has not read.
    pub(crate) fn give_back(&self, cases: Range<u64>) {
        if !cases.is_empty() {
            let left = &mut self.dealing().left;
            let place = left.partition_point(|before| before.start < cases.start);
            left.insert(place, cases);
        }
        self.wake();
    }

    /// Takes note that a chunk has become two, each to be reported.
    fn note_another(&self) {
        self.dealing().out += 1;
    }

    /// The case that is to be reported next.
    pub(crate) fn due(&self) -> u64 {
        self.dealing().next
    }

    fn dealing(&self) -> MutexGuard<'_, Dealing> {
        self.dealing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets workers go on: one more chunk is reported, and every case before this one.
    pub(crate) fn report(&self, next: u64) {
        let mut dealing = self.dealing();
        dealing.out = dealing.out.saturating_sub(1);
        dealing.next = next;
        drop(dealing);
        self.wake();
    }

    /// Makes waiting workers look at the stop switch again.
    pub(crate) fn wake(&self) {
        self.moved.notify_all();
    }
}

/// What became of the cases of a chunk.
#[derive(Debug)]
pub(crate) struct ChunkResult {
    pub(crate) chunk: Chunk,
    /// What they came to. The coverage is what the worker exercised up to the end of this chunk.
    pub(crate) totals: Totals,
    /// Each of them, where somebody wants to know.
    pub(crate) cases: CaseResults,
    /// Why it ends before its last case, where a case ends it: one that failed and ends the run, or one that had no answer when the
    /// time was up.
    pub(crate) cut: Option<Ending>,
}

impl ChunkResult {
    pub(crate) fn new(chunk: &Chunk, shared: &Shared) -> Self {
        Self { chunk: chunk.clone(), totals: shared.no_totals(), cases: CaseResults::default(), cut: None }
    }

    /// Ends it before the case at an index.
    pub(crate) fn cut(&mut self, index: u64, ending: Ending) {
        self.totals.progress.read = index - self.chunk.cases.start;
        self.cut = Some(ending);
    }

    /// Whether every case of the chunk was looked at.
    pub(crate) fn is_whole(&self) -> bool {
        self.totals.progress.read == self.chunk.cases.end - self.chunk.cases.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(chunks: &Chunks, most: u64) -> Vec<Range<u64>> {
        let stop = Stop::default();
        std::iter::from_fn(|| chunks.next(most, &stop, || ())).map(|chunk| chunk.cases).collect()
    }

    #[test]
    fn chunks_cover_every_case_once_and_the_last_is_shorter() {
        assert_eq!(dealt(&Chunks::new(0..10, 4), u64::MAX), [0..4, 4..8, 8..10]);
        assert_eq!(
            dealt(&Chunks::new(0..10, 4), 3),
            [0..3, 3..6, 6..9, 9..10],
            "as small as they are asked for"
        );
        assert_eq!(dealt(&Chunks::new(0..0, 4), u64::MAX), []);
        assert_eq!(dealt(&Chunks::new(5..10, 4), u64::MAX), [5..9, 9..10]);
    }

    #[test]
    fn what_is_given_back_is_dealt_first() {
        let (chunks, stop) = (Chunks::new(0..20, 8), Stop::default());
        let next = |most| chunks.next(most, &stop, || ()).map(|chunk| chunk.cases);
        assert_eq!((next(8), next(8)), (Some(0..8), Some(8..16)));
        chunks.give_back(10..16);
        chunks.give_back(3..8);
        chunks.give_back(16..16);
        assert_eq!(
            (next(2), next(8), next(8), next(8)),
            (Some(3..5), Some(5..8), Some(10..16), Some(16..20))
        );
        assert_eq!(next(8), None);
    }

    /// Whoever waits for a case to be reported must not wait for one that nobody has.
    #[test]
    fn the_case_that_all_others_wait_for_is_always_dealt() {
        let (chunks, stop) = (Chunks::new(0..u64::MAX, 8), Stop::default());
        (0..WINDOW).for_each(|_| assert!(chunks.next(8, &stop, || ()).is_some()));
        chunks.give_back(2..8);
        chunks.report(2);
        // Somebody was quicker, and there are as many as may be again.
        chunks.dealing().out = WINDOW;
        let waits = || panic!("it is there");
        assert_eq!(chunks.next(8, &stop, waits).map(|chunk| chunk.cases), Some(2..8));
    }

    #[test]
    fn lots_are_as_large_as_the_backend_wants_them() {
        let usual = Lots::new(&Limits::default());
        assert_eq!((usual.cases, usual.bytes, usual.in_flight, usual.chunk()), (96, 256 << 10, 1, 384));
        let one = Lots::new(&Limits { batch_jobs: 1, ..Limits::default() });
        assert_eq!((one.cases, one.bytes, one.chunk()), (1, 256 << 10, 4));
        let wide =
            Lots::new(&Limits { busy_jobs: 8192, batch_jobs: 8192, in_flight: 2, ..Limits::default() });
        assert_eq!((wide.cases, wide.bytes, wide.chunk()), (8064, 4 << 20, 4 * 8064));
        let none = Lots::new(&Limits { busy_jobs: 0, in_flight: 0, ..Limits::default() });
        assert_eq!((none.cases, none.in_flight), (1, 1));
    }

    #[test]
    fn a_worker_that_is_too_far_ahead_waits_until_the_run_ends() {
        let (chunks, stop) = (Arc::new(Chunks::new(0..u64::MAX, 1)), Stop::default());
        let ahead = {
            let (chunks, stop) = (Arc::clone(&chunks), stop.clone());
            std::thread::spawn(move || std::iter::from_fn(|| chunks.next(1, &stop, || ())).count() as u64)
        };
        while chunks.dealing().out < WINDOW {
            std::thread::yield_now();
        }
        stop.request(Ending::Limit);
        // The worker may be about to wait; only then is it safe to wake it once.
        while !ahead.is_finished() {
            chunks.wake();
        }
        assert_eq!(ahead.join().unwrap(), WINDOW);
    }
}
