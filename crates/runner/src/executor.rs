//! Runs batches on one backend, and replaces a backend that panics.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use dmlcts_backend::{Pipelined, Purpose};

use crate::{
    examiner::Examiner,
    panics::caught,
    prepare::{Prepared, Preparer},
    prepared_batch::PreparedBatch,
    shared::{LargeCasePermit, Shared},
};

/// A backend, with everything that running batches on it and examining them needs.
pub(crate) struct Executor<'run> {
    pub(crate) shared: &'run Shared,
    purpose: Purpose,
    backend: Box<dyn Pipelined>,
    /// The number of backends that panicked.
    panicked: u64,
    /// The time that calls of the backend took.
    pub(crate) called: Duration,
    pub(crate) preparer: Preparer<'run>,
    pub(crate) examiner: Examiner<'run>,
}

/// A batch that the backend has started on.
pub(crate) struct InFlight<'run> {
    prepared: Prepared<'run>,
    pub(crate) since: Instant,
    /// The number of backends that had panicked when this one started on the batch.
    backend: u64,
    /// The message, if the backend panicked when it started on the batch.
    panic: Option<String>,
}

impl InFlight<'_> {
    /// The first case that was read for the batch.
    pub(crate) fn first(&self) -> u64 {
        self.prepared.cases.start
    }
}

/// A batch that the backend has answered, or panicked over.
pub(crate) struct Answered<'run> {
    pub(crate) cases: Range<u64>,
    pub(crate) batch: PreparedBatch,
    /// Held until the batch's memory is freed.
    pub(crate) permit: Option<LargeCasePermit<'run>>,
    /// Whether all memory is as expected.
    pub(crate) is_clean: bool,
    pub(crate) panic: Option<Panic>,
    /// Whether the backend can do nothing more.
    pub(crate) is_lost: bool,
}

/// How a batch got no answers, because its backend panicked.
pub(crate) enum Panic {
    /// The backend panicked over this batch, with this message.
    Here(String),
    /// The backend panicked over another batch while it had this one.
    Elsewhere,
}

impl<'run> Executor<'run> {
    pub(crate) fn new(shared: &'run Shared, backend: Box<dyn Pipelined>, purpose: Purpose) -> Self {
        let (preparer, examiner) = (Preparer::new(shared), Examiner::new(shared));
        let (panicked, called) = (0, Duration::ZERO);
        let mut executor = Self { shared, purpose, backend, panicked, called, preparer, examiner };
        executor.set_up();
        executor
    }

    fn set_up(&mut self) {
        let (backend, level) = (&mut self.backend, self.shared.level);
        let set_up = caught(|| {
            if backend.capabilities().can_set_feature_level {
                backend.set_feature_level(level);
            }
        });
        if let Err(message) = set_up {
            self.shared.lose_backend(format!("when its feature level was set, {message}"));
        }
    }

    /// Lets the backend start on a batch.
    pub(crate) fn start(&mut self, mut prepared: Prepared<'run>) -> InFlight<'run> {
        prepared.batch.seal(self.backend.capabilities().is_isolated);
        let (since, backend) = (Instant::now(), self.panicked);
        let batch = &mut prepared.batch.batch;
        let panic = if batch.jobs().is_empty() { None } else { self.guarded(|backend| backend.start(batch)) };
        InFlight { prepared, since, backend, panic }
    }

    /// Whether the backend that started on a batch still exists.
    pub(crate) fn has(&self, in_flight: &InFlight<'_>) -> bool {
        in_flight.backend == self.panicked
    }

    /// Lets the backend finish the oldest batch that it started. After a panic, all cases of the batch
    /// crashed.
    pub(crate) fn finish(&mut self, in_flight: InFlight<'run>) -> Answered<'run> {
        let has = self.has(&in_flight);
        let InFlight { prepared: Prepared { cases, mut batch, permit }, panic, .. } = in_flight;
        let mut panic = panic.map(Panic::Here);
        if !batch.batch.jobs().is_empty() && panic.is_none() {
            panic = if has {
                self.guarded(|backend| backend.finish(&mut batch.batch)).map(Panic::Here)
            } else {
                Some(Panic::Elsewhere)
            };
        }
        if let Some(Panic::Here(message)) = &panic {
            batch.crash(message);
        }
        let lost = self.backend.lost();
        if let Some(reason) = lost {
            self.shared.lose_backend(reason.to_owned());
        }
        let (is_lost, is_clean) = (lost.is_some(), batch.look_over());
        Answered { cases, batch, permit, is_clean, panic, is_lost }
    }

    /// Runs a batch while nothing else is in flight.
    pub(crate) fn run(&mut self, prepared: Prepared<'run>) -> Answered<'run> {
        let in_flight = self.start(prepared);
        self.finish(in_flight)
    }

    /// Keeps the memory of a judged batch and of the examiner, except for memory that only large cases need.
    pub(crate) fn free(&mut self, answered: Answered<'run>) {
        let Answered { mut batch, permit, .. } = answered;
        batch.shrink(4 * self.shared.batch_bytes);
        self.preparer.keep(batch);
        self.examiner.shrink();
        drop(permit);
    }

    /// Calls the backend. If it panics, it is replaced and loses its batches, and the message is returned.
    fn guarded(&mut self, work: impl FnOnce(&mut dyn Pipelined)) -> Option<String> {
        let since = Instant::now();
        let called = caught(|| work(&mut *self.backend));
        self.called += since.elapsed();
        let message = called.err()?;
        self.panicked += 1;
        match (self.shared.backend)(self.purpose) {
            Ok(fresh) => {
                // The old backend may panic again in its destructor.
                let old = std::mem::replace(&mut self.backend, fresh);
                let _ = caught(|| drop(old));
                self.set_up();
            }
            Err(error) => self.shared.lose_backend(error.to_string()),
        }
        Some(message)
    }
}
