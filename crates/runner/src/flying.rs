//! A worker and its backend: which lots the backend has, and what happens where it panics.
//!
//! A backend that goes on by itself has several lots at a time, so that it works while the worker prepares the next one
//! and rules on the last. Lots are ruled on in the order in which they were started, and the last ones of a chunk while the
//! next chunk is read: a backend that had to be waited for at the end of each would stand still there.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::PoisonError,
    time::{Duration, Instant},
};

use crate::{lot::Lot, pace::Pace, panics, schedule::ChunkResult, worker::Worker};

/// Takes the result of a chunk.
pub(crate) type Done<'a> = dyn FnMut(ChunkResult) + 'a;

/// A lot that the backend has started on.
pub(crate) struct Flying {
    lot: Lot,
    /// The first case of the chunk that it is of.
    chunk: u64,
    /// How many of its cases, from the first on, are ruled on.
    ruled: usize,
    /// When it was.
    since: Instant,
    /// The message of a panic, after which the backend that had the lot is gone.
    panic: Option<String>,
}

impl Worker<'_> {
    /// Whether the lot is to run.
    pub(crate) fn is_full(&self) -> bool {
        let lots = self.shared.lots;
        self.lot.bytes() >= lots.bytes || self.lot.planned.len() as u64 >= self.pace.cases()
    }

    /// Has the backend start on the lot.
    pub(crate) fn start_lot(&mut self, chunk: u64) {
        self.lot.seal(self.backend.is_apart());
        let lot = std::mem::replace(&mut self.lot, self.spare.pop().unwrap_or_default());
        self.flying.push_back(Flying { lot, chunk, ruled: 0, since: Instant::now(), panic: None });
        self.busy();
        let Self { flying, backend, .. } = self;
        let Some(last) = flying.back_mut().filter(|last| !last.lot.batch.jobs().is_empty()) else { return };
        if let Err(message) = guarded(|| backend.start(&mut last.lot.batch)) {
            self.replace_backend(&message);
        }
    }

    /// Finishes and rules on the lots that are with the backend, the oldest first, until no more than so many are left;
    /// after a panic, none. What follows a failure that ends the run is finished and not ruled on. Chunks that are done
    /// with that, other than the latest, are handed over.
    pub(crate) fn rule_until(&mut self, kept: usize, done: &mut Done<'_>) {
        while self.flying.len() > kept || self.flying.iter().any(|flying| flying.panic.is_some()) {
            self.wait_for_oldest(done);
            self.note_loss();
            let (Some(oldest), Some(mut result)) = (self.flying.pop_front(), self.open.pop_front()) else {
                return;
            };
            self.pace.note(oldest.lot.planned.len() as u64, oldest.since, Instant::now());
            let prepared = std::mem::replace(&mut self.lot, oldest.lot);
            match oldest.panic {
                _ if result.cut.is_some() => {}
                None => self.rule_lot(oldest.ruled, &mut result),
                Some(panic) => self.run_one_by_one(&panic, oldest.ruled, &mut result),
            }
            self.open.push_front(result);
            let ruled = std::mem::replace(&mut self.lot, prepared);
            self.spare.push(ruled);
            self.hand_over(1, done);
        }
    }

    /// Waits until the oldest lot is done. Cases of it that are do not wait for one that takes its time, but are handed over, so that they are
    /// not lost with the program.
    fn wait_for_oldest(&mut self, done: &mut Done<'_>) {
        // Whoever has one chunk asked for wants it whole.
        let pause = if self.number.is_some() { Pace::LONG } else { Duration::MAX };
        while let Some(oldest) = self.flying.front_mut().filter(|oldest| oldest.panic.is_none()) {
            let Flying { lot, .. } = oldest;
            let jobs = lot.batch.jobs().len();
            let backend = &mut self.backend;
            match guarded(|| if jobs == 0 { 0 } else { backend.finish_some(&mut lot.batch, pause) }) {
                Ok(answered) if answered < jobs => self.hand_over_some(answered, done),
                Ok(_) => return,
                Err(message) => return self.replace_backend(&message),
            }
        }
    }

    /// Rules on cases of the oldest lot, of whose jobs so many have an answer, and hands over the part of its chunk that ends with them.
    fn hand_over_some(&mut self, answered: usize, done: &mut Done<'_>) {
        let (Some(mut oldest), Some(mut result)) = (self.flying.pop_front(), self.open.pop_front()) else {
            return;
        };
        let before = oldest.ruled;
        let prepared = std::mem::replace(&mut self.lot, oldest.lot);
        if result.cut.is_none() {
            oldest.ruled = self.rule_some(before, answered, &mut result);
        }
        oldest.lot = std::mem::replace(&mut self.lot, prepared);
        let is_split = oldest.ruled > before && result.cut.is_none();
        let behind = oldest.lot.planned.get(oldest.ruled).filter(|_| is_split);
        let behind = behind.map(|planned| planned.index);
        self.flying.push_front(oldest);
        let Some(behind) = behind else { return self.open.push_front(result) };
        let first = result.chunk.cases.start;
        let rest = self.shared.split(&mut result, behind);
        self.open.push_front(rest);
        self.flying
            .iter_mut()
            .filter(|flying| flying.chunk == first)
            .for_each(|flying| flying.chunk = behind);
        result.totals.coverage.merge(&self.coverage);
        done(result);
        self.busy();
    }

    /// Hands over the chunks, the oldest first, of which the backend has no lot any more, but for the latest so many.
    pub(crate) fn hand_over(&mut self, kept: usize, done: &mut Done<'_>) {
        while self.open.len() > kept
            && let Some(mut result) = self.open.pop_front()
        {
            if self.flying.front().is_some_and(|flying| flying.chunk == result.chunk.cases.start) {
                return self.open.push_front(result);
            }
            result.totals.coverage.merge(&self.coverage);
            done(result);
            self.busy();
        }
    }

    /// Says which cases were read and not handed over: what becomes of them nobody knows, should the run end without this
    /// worker.
    fn busy(&self) {
        if let Some(busy) = self.number.and_then(|number| self.shared.busy.get(number)) {
            let mut busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
            busy.clear();
            busy.extend(self.open.iter().map(|result| {
                let start = result.chunk.cases.start;
                (start, start..start + result.totals.progress.read)
            }));
        }
    }

    /// Has the backend run the lot, while it has no other. A panic is caught, its message returned, and the backend
    /// replaced.
    pub(crate) fn run_lot(&mut self) -> Result<(), String> {
        self.lot.seal(self.backend.is_apart());
        let Self { lot, backend, .. } = self;
        if lot.batch.jobs().is_empty() {
            return Ok(());
        }
        let ran = guarded(|| {
            backend.start(&mut lot.batch);
            backend.finish(&mut lot.batch);
        });
        let ran = ran.inspect_err(|message| self.replace_backend(message));
        self.note_loss();
        ran
    }

    /// Ends the run where the backend can do nothing any more.
    fn note_loss(&self) {
        if let Some(reason) = self.backend.lost() {
            self.shared.lose_backend(reason.to_owned());
        }
    }

    /// Puts another backend in the place of one that panicked, with the lots that it had.
    fn replace_backend(&mut self, message: &str) {
        for flying in &mut self.flying {
            flying.panic.get_or_insert_with(|| message.to_owned());
        }
        match (self.shared.backend)() {
            Ok(fresh) => {
                // The old one may panic again while it is dropped; it is of no use any more.
                let old = std::mem::replace(&mut self.backend, fresh);
                let _ = guarded(|| drop(old));
                self.set_up();
            }
            Err(reason) => self.shared.lose_backend(reason),
        }
    }
}

/// Does something with a backend; the message of a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panics::caught(|| catch_unwind(AssertUnwindSafe(work))).map_err(|payload| panics::message(&*payload))
}
