//! A worker: takes batches from the dealer, and prepares the next batch while its backend runs one.

use std::{collections::VecDeque, ops::Range, sync::PoisonError, time::Instant};

use crate::{batch_sizer::BatchSizer, deal::BatchResult, executor::Executor, prepare::Prepared};

/// One thread's part of a run.
pub(crate) struct Worker<'run> {
    /// Its index in [`crate::deal::Shared::busy`].
    number: usize,
    executor: Executor<'run>,
    sizer: BatchSizer,
    /// The batches that the backend has, the oldest first.
    in_flight: VecDeque<InFlight<'run>>,
}

/// A batch that the backend has started on.
struct InFlight<'run> {
    prepared: Prepared<'run>,
    since: Instant,
    /// The message of a panic. The backend that had the batch no longer exists.
    panic: Option<String>,
}

impl<'run> Worker<'run> {
    pub(crate) fn new(number: usize, executor: Executor<'run>) -> Self {
        let shared = executor.shared;
        let sizer = BatchSizer::new(shared.batch_cases.min(shared.dealer.most()));
        Self { number, executor, sizer, in_flight: VecDeque::new() }
    }

    /// Runs batches until none is left or the run must end, and passes each result to `done`.
    pub(crate) fn work(&mut self, done: &mut dyn FnMut(BatchResult)) {
        while let Some(dealt) = self.deal(done) {
            let mut prepared = self.executor.prepare(&dealt, self.sizer.cases());
            let shared = self.executor.shared;
            shared.dealer.give_back(prepared.cases.end..dealt.end);
            // A large case must be alone in memory.
            let kept = if prepared.permit.is_some() { 0 } else { shared.in_flight - 1 };
            let since = Instant::now();
            let panic = self.executor.start(&mut prepared).err();
            self.in_flight.push_back(InFlight { prepared, since, panic: None });
            self.publish();
            if let Some(message) = panic {
                self.fail_all(&message);
            }
            self.finish_until(kept, done);
        }
        self.finish_until(0, done);
    }

    /// The next cases, or `None`. Before it waits for other workers, it finishes its own batches.
    fn deal(&mut self, done: &mut dyn FnMut(BatchResult)) -> Option<Range<u64>> {
        let shared = self.executor.shared;
        let cases = self.sizer.cases();
        shared.dealer.next(cases, &shared.stop, || self.finish_until(0, done))
    }

    /// Finishes and judges the oldest batches until at most this many are in flight. After a panic, it
    /// finishes all.
    fn finish_until(&mut self, kept: usize, done: &mut dyn FnMut(BatchResult)) {
        while self.in_flight.len() > kept || self.in_flight.iter().any(|flight| flight.panic.is_some()) {
            let Some(InFlight { prepared, since, panic }) = self.in_flight.pop_front() else { return };
            let had_failed = panic.is_some();
            let answered = self.executor.finish(prepared, panic);
            self.sizer.note(answered.batch.planned.len() as u64, since, Instant::now());
            if let Some(message) = answered.panic.as_deref().filter(|_| !had_failed) {
                let message = message.to_owned();
                self.fail_all(&message);
            }
            done(self.executor.judge(answered));
            self.publish();
        }
    }

    /// Records that the backend with all batches in flight panicked and no longer exists.
    fn fail_all(&mut self, message: &str) {
        for flight in &mut self.in_flight {
            flight.panic.get_or_insert_with(|| message.to_owned());
        }
    }

    /// Publishes the ranges of cases in flight. If the run ends without this worker, these cases are reported
    /// as abandoned.
    fn publish(&self) {
        if let Some(busy) = self.executor.shared.busy.get(self.number) {
            let mut busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
            busy.clear();
            busy.extend(self.in_flight.iter().map(|flight| flight.prepared.cases.clone()));
        }
    }
}
