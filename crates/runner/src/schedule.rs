//! What workers share, the chunks of cases that they take, and what they hand back of each.

use std::{
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::{Desc, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate};

use crate::{
    CaseResults, Difference, Ending, Factory, KnownFailures, Partition, Source, Stop, Totals,
    expect::Declared,
};

/// How far workers may run ahead of the chunk that is to be reported next. It bounds the results that wait.
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
    /// Where there are more cases, a multiple of this. Drawn cases have operators in turns of 16: with one, two, three,
    /// five or six of them, the memory of a case in one lot is that of a case of the same operator in the next, and can
    /// be written over.
    const ROUND: usize = 480;
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

/// Chunks by their numbers, with the cases of each.
pub(crate) type Unfinished = Vec<(u64, Range<u64>)>;

/// What all workers of a run read.
pub(crate) struct Shared {
    pub(crate) library: &'static Library,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) backend: Arc<Factory>,
    pub(crate) filter: Option<Arc<Predicate>>,
    pub(crate) declared: Declared,
    /// The level to judge at.
    pub(crate) level: FeatureLevel,
    /// A lower level at which cases must be valid, too, where the backend cannot be set to it.
    pub(crate) selected_level: Option<FeatureLevel>,
    pub(crate) allow: Vec<Difference>,
    pub(crate) memory: u64,
    pub(crate) fail_fast: bool,
    pub(crate) partition: Option<Partition>,
    /// What is known to fail on this backend.
    pub(crate) known: KnownFailures,
    /// Whether somebody wants to know what became of each case.
    pub(crate) record: bool,
    /// Whether what cases could have shown is recorded, too.
    pub(crate) expose: bool,
    pub(crate) strategies: usize,
    pub(crate) stop: Stop,
    pub(crate) chunks: Chunks,
    pub(crate) lots: Lots,
    /// Held by the worker that runs a large case.
    pub(crate) large: Mutex<()>,
    /// The cases that each worker has read and not handed over, and the numbers of the chunks that they are of.
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
            declared: Declared::new(capabilities),
            level,
            selected_level,
            allow: configuration.allow.clone(),
            memory: configuration.memory.min(isize::MAX as u64),
            fail_fast: configuration.fail_fast,
            partition: configuration.partition,
            known: configuration.known.of(capabilities),
            record: configuration.record,
            expose: configuration.expose,
            strategies,
            stop: run.stop.clone(),
            chunks,
            lots: Lots::new(&capabilities.limits),
            large: Mutex::new(()),
            busy: (0..jobs).map(|_| Mutex::default()).collect(),
            lost: Mutex::new(None),
        }
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

    /// Ends the run because no backend can be had any more.
    pub(crate) fn lose_backend(&self, reason: String) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.stop.request(Ending::BackendLost);
        self.chunks.wake();
    }

    /// Why no backend can be had any more.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Consecutive cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) number: u64,
    pub(crate) cases: Range<u64>,
}

/// Deals out chunks in order, and never too far ahead of the one that is to be reported next.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// The first case; those before it were run before.
    start: u64,
    /// How many cases there are; as many as can be counted where they never end.
    end: u64,
    size: u64,
    dealt: AtomicU64,
    reported: Mutex<u64>,
    moved: Condvar,
}

impl Chunks {
    pub(crate) fn new(cases: Range<u64>, size: u64) -> Self {
        Self {
            start: cases.start,
            end: cases.end,
            size: size.max(1),
            dealt: AtomicU64::new(0),
            reported: Mutex::new(0),
            moved: Condvar::new(),
        }
    }

    /// The next chunk, once it is not too far ahead; `None` where there is none left or the run is to end. Where it has to
    /// be waited for, that is said first.
    pub(crate) fn next(&self, stop: &Stop, waits: impl FnOnce()) -> Option<Chunk> {
        let number = self.dealt.fetch_add(1, Ordering::Relaxed);
        let start = number.checked_mul(self.size).and_then(|before| self.start.checked_add(before));
        let start = start.filter(|start| *start < self.end)?;
        let is_far = |reported: u64| number >= reported + WINDOW && !stop.is_requested();
        if is_far(*self.reported()) {
            waits();
        }
        let mut reported = self.reported();
        while is_far(*reported) {
            reported = self.moved.wait(reported).unwrap_or_else(PoisonError::into_inner);
        }
        (!stop.is_requested())
            .then(|| Chunk { number, cases: start..start.saturating_add(self.size).min(self.end) })
    }

    fn reported(&self) -> MutexGuard<'_, u64> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets workers go on: every chunk before this one is reported.
    pub(crate) fn report(&self, next: u64) {
        *self.reported() = next;
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
    /// Whether it ends at a failure that ends the run.
    pub(crate) is_cut: bool,
}

impl ChunkResult {
    pub(crate) fn new(chunk: &Chunk, shared: &Shared) -> Self {
        Self {
            chunk: chunk.clone(),
            totals: shared.no_totals(),
            cases: CaseResults::default(),
            is_cut: false,
        }
    }

    /// Whether every case of the chunk was looked at.
    pub(crate) fn is_whole(&self) -> bool {
        self.totals.progress.read == self.chunk.cases.end - self.chunk.cases.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_case_once_and_the_last_is_shorter() {
        let (chunks, stop) = (Chunks::new(0..10, 4), Stop::default());
        let dealt: Vec<_> =
            std::iter::from_fn(|| chunks.next(&stop, || ())).map(|chunk| chunk.cases).collect();
        assert_eq!(dealt, [0..4, 4..8, 8..10]);
        assert_eq!(Chunks::new(0..0, 4).next(&stop, || ()), None);
        let rest = Chunks::new(5..10, 4);
        let dealt: Vec<_> = std::iter::from_fn(|| rest.next(&stop, || ())).map(|chunk| chunk.cases).collect();
        assert_eq!(dealt, [5..9, 9..10]);
    }

    #[test]
    fn lots_are_as_large_as_the_backend_wants_them() {
        let usual = Lots::new(&Limits::default());
        assert_eq!((usual.cases, usual.bytes, usual.in_flight, usual.chunk()), (96, 256 << 10, 1, 384));
        let one = Lots::new(&Limits { batch_jobs: 1, ..Limits::default() });
        assert_eq!((one.cases, one.bytes, one.chunk()), (1, 256 << 10, 4));
        let wide =
            Lots::new(&Limits { busy_jobs: 8192, batch_jobs: 8192, in_flight: 2, ..Limits::default() });
        assert_eq!((wide.cases, wide.bytes, wide.chunk()), (8160, 4 << 20, 4 * 8160));
        let none = Lots::new(&Limits { busy_jobs: 0, in_flight: 0, ..Limits::default() });
        assert_eq!((none.cases, none.in_flight), (1, 1));
    }

    #[test]
    fn a_worker_that_is_too_far_ahead_waits_until_the_run_ends() {
        let (chunks, stop) = (Arc::new(Chunks::new(0..u64::MAX, 1)), Stop::default());
        let ahead = {
            let (chunks, stop) = (Arc::clone(&chunks), stop.clone());
            std::thread::spawn(move || std::iter::from_fn(|| chunks.next(&stop, || ())).count() as u64)
        };
        while chunks.dealt.load(Ordering::Relaxed) <= WINDOW {
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
