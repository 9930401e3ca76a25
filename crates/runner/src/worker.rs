//! A worker: takes cases from the dealer, and prepares the next batch while its backend runs one.

use std::{collections::VecDeque, ops::Range, time::Instant};

use dmlcts_backend::{Pipelined, Purpose};

use crate::{
    batch_result::BatchResult,
    batch_sizer::BatchSizer,
    executor::{Answered, Executor, InFlight, Panic},
    judge::Judge,
    prepare::Prepared,
    shared::Shared,
};

/// One thread's part of a run.
pub(crate) struct Worker<'run> {
    shared: &'run Shared,
    executor: Executor<'run>,
    judge: Judge<'run>,
    sizer: BatchSizer,
    /// The batches that the backend has, the oldest first.
    in_flight: VecDeque<InFlight<'run>>,
}

impl<'run> Worker<'run> {
    pub(crate) fn new(shared: &'run Shared, backend: Box<dyn Pipelined>) -> Self {
        Self {
            shared,
            executor: Executor::new(shared, backend, Purpose::Cases),
            judge: Judge::new(shared),
            sizer: BatchSizer::new(shared.batch_cases.min(shared.dealer.most())),
            in_flight: VecDeque::new(),
        }
    }

    /// Runs batches until none is left or the run must end, and passes each result to `done`.
    pub(crate) fn work(&mut self, done: &mut dyn FnMut(BatchResult)) {
        while let Some(dealt) = self.deal(done) {
            let prepared = self.prepare(&dealt, done);
            self.shared.dealer.give_back(prepared.cases.end..dealt.end);
            // A large case must be alone in memory.
            let kept = if prepared.permit.is_some() { 0 } else { self.shared.in_flight - 1 };
            let in_flight = self.executor.start(prepared);
            self.in_flight.push_back(in_flight);
            self.finish_until(kept, done);
        }
        self.finish_until(0, done);
    }

    /// The next cases, or `None`. Before it waits for other workers, it finishes its own batches.
    fn deal(&mut self, done: &mut dyn FnMut(BatchResult)) -> Option<Range<u64>> {
        let (shared, cases) = (self.shared, self.sizer.cases());
        shared.dealer.next(cases, &shared.stop, || self.finish_until(0, done))
    }

    /// Prepares a batch. Before it waits for another thread with a large case, it finishes its own batches.
    fn prepare(&mut self, dealt: &Range<u64>, done: &mut dyn FnMut(BatchResult)) -> Prepared<'run> {
        let prepared = self.executor.prepare(dealt, self.sizer.cases(), false);
        if !prepared.cases.is_empty() {
            return prepared;
        }
        self.finish_until(0, done);
        self.executor.prepare(dealt, self.sizer.cases(), true)
    }

    /// Finishes and judges the oldest batches until at most this many are in flight, and all batches whose
    /// backend panicked.
    fn finish_until(&mut self, kept: usize, done: &mut dyn FnMut(BatchResult)) {
        while self.in_flight.len() > kept || self.in_flight.front().is_some_and(|it| !self.executor.has(it)) {
            let Some(in_flight) = self.in_flight.pop_front() else { return };
            let since = in_flight.since;
            let answered = self.executor.finish(in_flight);
            if answered.permit.is_none() {
                // The time of a large case says nothing about the time of others.
                self.sizer.note(answered.batch.planned.len() as u64, since, Instant::now());
            }
            let result = match &answered.panic {
                None => self.judge.judge(&answered),
                Some(panic) => self.judge_one_by_one(&answered, panic),
            };
            self.executor.free(answered);
            self.judge.shrink();
            self.shared.note(&result);
            done(result);
        }
    }

    /// Runs and judges the cases of a batch one by one, to find the case over which the backend panicked. If
    /// none panics alone, the first case counts as crashed, so that no panic is missed. The collector then
    /// finds that the case passes alone, and reports a flake.
    fn judge_one_by_one(&mut self, answered: &Answered<'run>, panic: &Panic) -> BatchResult {
        let mut alone = |blamed: Option<&str>| {
            let mut result = BatchResult::new(answered.cases.clone(), self.shared);
            let mut is_found = false;
            for (place, planned) in answered.batch.planned.iter().enumerate() {
                if result.cut.is_some() || self.shared.stop.is_requested() {
                    result.end_before(planned.index);
                    break;
                }
                let prepared = self.executor.prepare(&(planned.index..planned.index + 1), 1, true);
                let mut answered = self.executor.run(prepared);
                if let Some(message) = blamed.filter(|_| place == 0) {
                    answered.batch.crash(message);
                }
                is_found |= answered.panic.is_some();
                self.judge.add(&answered, &mut result);
                self.executor.free(answered);
            }
            (result, is_found)
        };
        let (result, is_found) = alone(None);
        match panic {
            Panic::Here(message) if !is_found => alone(Some(message)).0,
            _ => result,
        }
    }
}
