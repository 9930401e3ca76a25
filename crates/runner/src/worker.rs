//! A worker: takes cases from the dealer, and prepares the next batch while its backend runs one.

use std::{
    collections::VecDeque,
    ops::Range,
    time::{Duration, Instant},
};

use dmlcts_backend::{Pipelined, Purpose};

use crate::{
    Timings,
    batch_result::BatchResult,
    batch_sizer::BatchSizer,
    executor::{Executor, InFlight},
    judge_batch::judge_batch,
    prepare::Prepared,
    shared::Shared,
};

/// One thread's part of a run.
pub(crate) struct Worker<'run> {
    shared: &'run Shared,
    executor: Executor<'run>,
    sizer: BatchSizer,
    /// The batches that the backend has, the oldest first.
    in_flight: VecDeque<InFlight<'run>>,
    /// The times since the last result.
    timings: Timings,
}

impl<'run> Worker<'run> {
    /// A worker whose backend took this time to start.
    pub(crate) fn new(shared: &'run Shared, backend: Box<dyn Pipelined>, start: Duration) -> Self {
        Self {
            shared,
            executor: Executor::new(shared, backend, Purpose::Cases),
            sizer: BatchSizer::new(shared.batch_cases.min(shared.dealer.most())),
            in_flight: VecDeque::new(),
            timings: Timings { workers: 1, start, ..Timings::default() },
        }
    }

    /// Runs batches until none is left or the run must end, and passes each result to `done`.
    pub(crate) fn work(&mut self, done: &mut dyn FnMut(BatchResult)) {
        while let Some(dealt) = self.deal(done) {
            let Some(prepared) = self.prepare(&dealt, done) else {
                self.shared.dealer.give_back(dealt);
                break;
            };
            self.shared.dealer.give_back(prepared.cases.end..dealt.end);
            // A large case must be alone in memory.
            let kept = if prepared.permit.is_some() { 0 } else { self.shared.in_flight - 1 };
            let in_flight = self.timed(|worker| worker.executor.start(prepared));
            self.in_flight.push_back(in_flight);
            self.finish_until(kept, done);
        }
        self.finish_until(0, done);
    }

    /// The next cases, or `None`. Before it waits for other workers, or gets cases that precede its own
    /// batches, it finishes its own batches.
    fn deal(&mut self, done: &mut dyn FnMut(BatchResult)) -> Option<Range<u64>> {
        let (shared, cases) = (self.shared, self.sizer.cases());
        let newest = self.in_flight.back().map_or(0, InFlight::first);
        shared.dealer.next(cases, &shared.stop, newest, || self.finish_until(0, done))
    }

    /// Prepares a batch. Before it waits for another thread with a large case, it finishes its own batches.
    /// `None` if the run ends while it waits.
    fn prepare(&mut self, dealt: &Range<u64>, done: &mut dyn FnMut(BatchResult)) -> Option<Prepared<'run>> {
        let prepared =
            self.timed(|worker| worker.executor.preparer.prepare(dealt, worker.sizer.cases(), false));
        if prepared.is_some() {
            return prepared;
        }
        self.finish_until(0, done);
        // Most of this time may be another thread's.
        self.executor.preparer.prepare(dealt, self.sizer.cases(), true)
    }

    /// Finishes and judges the oldest batches until at most this many are in flight, and all batches whose
    /// backend panicked.
    fn finish_until(&mut self, kept: usize, done: &mut dyn FnMut(BatchResult)) {
        while self.in_flight.len() > kept || self.in_flight.front().is_some_and(|it| !self.executor.has(it)) {
            let Some(in_flight) = self.in_flight.pop_front() else { return };
            let since = in_flight.since;
            let answered = self.timed(|worker| worker.executor.finish(in_flight));
            let called = std::mem::take(&mut self.executor.called);
            self.timings.add_batch(&answered.batch.batch.times, called);
            if answered.permit.is_none() {
                // The time of a large case says nothing about the time of others.
                self.sizer.note(answered.batch.planned.len() as u64, since, Instant::now());
            }
            let mut result = BatchResult::new(answered.cases.clone(), self.shared.no_totals());
            self.timed(|worker| judge_batch(&mut worker.executor, answered, &mut result));
            result.timings = std::mem::take(&mut self.timings);
            self.shared.note(&result);
            done(result);
        }
    }

    /// Does work, and counts its time as the host's own, without the calls of the backend.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (since, called) = (Instant::now(), self.executor.called);
        let done = work(self);
        self.timings.host += since.elapsed().saturating_sub(self.executor.called.saturating_sub(called));
        done
    }
}
