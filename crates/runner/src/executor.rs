//! Runs batches on one backend: prepares, runs and judges them.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use dmlcts_backend::{Pipelined, Purpose};
use dmlcts_model::Case;

use crate::{
    deal::{BatchResult, Shared},
    judge::{Answered, Examination, Judge},
    panics,
    prepare::{Prepared, Preparer},
    prepared_batch::PreparedBatch,
};

/// A backend, with everything that running batches on it needs.
pub(crate) struct Executor<'run> {
    pub(crate) shared: &'run Shared,
    purpose: Purpose,
    backend: Box<dyn Pipelined>,
    preparer: Preparer<'run>,
    judge: Judge<'run>,
    /// Unused batches, kept for their memory.
    spare: Vec<PreparedBatch>,
}

impl<'run> Executor<'run> {
    /// `None` if the spec has no operator, and so no cases.
    pub(crate) fn new(shared: &'run Shared, backend: Box<dyn Pipelined>, purpose: Purpose) -> Option<Self> {
        let preparer = Preparer::new(shared)?;
        let judge = Judge::new(shared, purpose == Purpose::Cases);
        let mut executor = Self { shared, purpose, backend, preparer, judge, spare: Vec::new() };
        executor.set_up();
        Some(executor)
    }

    fn set_up(&mut self) {
        if self.backend.capabilities().can_set_feature_level {
            self.backend.set_feature_level(self.shared.level);
        }
    }

    /// The case at an index.
    pub(crate) fn read(&mut self, index: u64) -> Case {
        self.preparer.read(index)
    }

    /// Prepares a batch of at most this many of the dealt cases.
    pub(crate) fn prepare(&mut self, dealt: &Range<u64>, most: u64) -> Prepared<'run> {
        let spare = self.spare.pop().unwrap_or_default();
        self.preparer.prepare(dealt, most, spare)
    }

    /// Lets the backend start on a batch. If it panics, it is replaced, loses its other batches, and the
    /// error is the panic message.
    pub(crate) fn start(&mut self, prepared: &mut Prepared<'run>) -> Result<(), String> {
        prepared.batch.seal(self.backend.capabilities().is_apart);
        let batch = &mut prepared.batch.batch;
        if batch.jobs().is_empty() {
            return Ok(());
        }
        let started = guarded(|| self.backend.start(batch));
        started.inspect_err(|_| self.replace_backend())
    }

    /// Lets the backend finish the oldest batch that it started without a panic.
    pub(crate) fn finish(&mut self, prepared: Prepared<'run>, panic: Option<String>) -> Answered<'run> {
        let Prepared { cases, mut batch, permit } = prepared;
        let mut panic = panic;
        if panic.is_none() && !batch.batch.jobs().is_empty() {
            panic = guarded(|| self.backend.finish(&mut batch.batch)).err();
            if panic.is_some() {
                self.replace_backend();
            }
        }
        let lost = self.backend.lost();
        if let Some(reason) = lost {
            self.shared.lose_backend(reason.to_owned());
        }
        Answered { cases, batch, permit, panic, is_lost: lost.is_some() }
    }

    /// Judges a batch and frees it. After a panic, each of its cases runs alone, to find the one that panics.
    pub(crate) fn judge(&mut self, mut answered: Answered<'run>) -> BatchResult {
        let mut result = BatchResult::new(answered.cases.clone(), self.shared);
        match answered.panic.take() {
            None => self.judge.judge(&mut answered, &mut result),
            Some(message) if answered.batch.planned.len() == 1 => {
                answered.batch.crash(&message);
                self.judge.judge(&mut answered, &mut result);
            }
            Some(_) => {
                let indices: Vec<u64> = answered.batch.planned.iter().map(|planned| planned.index).collect();
                self.run_one_by_one(&indices, &mut result);
            }
        }
        self.free(answered.batch);
        drop(answered.permit);
        result
    }

    /// Runs and judges at most this many of the cases. Requires that nothing is in flight.
    pub(crate) fn run_part(&mut self, cases: &Range<u64>, most: u64) -> BatchResult {
        let mut result = BatchResult::new(cases.clone(), self.shared);
        let (mut next, mut left) = (cases.start, most);
        while next < cases.end && left > 0 && result.cut.is_none() {
            let prepared = self.prepare(&(next..cases.end), left.min(self.shared.batch_cases));
            (next, left) = (prepared.cases.end, left - prepared.batch.planned.len() as u64);
            result.totals.progress.read = next - cases.start;
            self.run_now(prepared, &mut result);
        }
        result
    }

    /// Runs one case alone and thoroughly. `None` if the case does not belong to the run.
    pub(crate) fn examine(&mut self, case: &Case, index: u64, strategy: usize) -> Option<Examination> {
        let spare = self.spare.pop().unwrap_or_default();
        let mut prepared = self.preparer.prepare_alone((case, index, strategy), spare);
        let panic = self.start(&mut prepared).err();
        let mut answered = self.finish(prepared, panic);
        if let Some(message) = answered.panic.take() {
            answered.batch.crash(&message);
        }
        let permit = answered.permit.take();
        let (examination, batch) = self.judge.examine(answered);
        self.free(batch);
        drop(permit);
        examination
    }

    fn run_one_by_one(&mut self, indices: &[u64], result: &mut BatchResult) {
        for &index in indices {
            if result.cut.is_some() || self.shared.stop.is_requested() {
                // The rest of the batch counts as not read.
                let progress = &mut result.totals.progress;
                progress.read = progress.read.min(index - result.range.start);
                return;
            }
            let prepared = self.prepare(&(index..index + 1), 1);
            self.run_now(prepared, result);
        }
    }

    /// Runs and judges a batch while nothing else is in flight. If the backend panics, all its cases crash.
    fn run_now(&mut self, mut prepared: Prepared<'run>, result: &mut BatchResult) {
        let panic = self.start(&mut prepared).err();
        let mut answered = self.finish(prepared, panic);
        if let Some(message) = answered.panic.take() {
            answered.batch.crash(&message);
        }
        self.judge.judge(&mut answered, result);
        self.free(answered.batch);
        drop(answered.permit);
    }

    /// Keeps a batch for its memory, except for memory that only large cases need.
    fn free(&mut self, mut batch: PreparedBatch) {
        let most = 4 * self.shared.batch_bytes;
        batch.shrink(most);
        self.judge.shrink(most);
        self.spare.push(batch);
    }

    /// Replaces a backend that panicked with a fresh one.
    fn replace_backend(&mut self) {
        match (self.shared.backend)(self.purpose) {
            Ok(fresh) => {
                // The old backend may panic again in its destructor.
                let old = std::mem::replace(&mut self.backend, fresh);
                let _ = guarded(|| drop(old));
                self.set_up();
            }
            Err(error) => self.shared.lose_backend(error.to_string()),
        }
    }
}

/// Calls a backend. The error is the message of its panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panics::caught(|| catch_unwind(AssertUnwindSafe(work))).map_err(|payload| panics::message(&*payload))
}
