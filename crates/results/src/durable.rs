//! What a power cut may take: a bounded number of lines that the system was given, and that are not on the disk yet.
//!
//! A thread syncs the file without pause for as long as something is written that is not synced, and whoever writes waits before there is
//! more of it than [`UNSYNCED`] lines. So what a slow run records is on the disk some milliseconds later, and a fast one is held back only
//! where it outruns the disk. Syncing is a closure, so that tests need no disk.

use std::{
    io,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// So many lines at most are written and not on the disk. It is the largest batch that a backend of this program is given, `wgpu`'s; a disk
/// that syncs in 4 milliseconds then keeps up with a million cases a second and more.
pub const UNSYNCED: u64 = 8192;

/// Keeps a file on the disk while it is written.
#[derive(Debug)]
pub(crate) struct Durable {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the writer and the thread that syncs have in common.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// What is written and not on the disk.
#[derive(Debug, Default)]
struct State {
    /// Lines that no sync is about yet.
    written: u64,
    /// Lines that the sync under way is about.
    syncing: u64,
    /// Whether anything was written, be it a part of no line, that no sync is about yet.
    is_dirty: bool,
    is_syncing: bool,
    /// Why a sync failed. Nothing is synced after that: what the system dropped it does not write when it is asked again.
    failed: Option<(io::ErrorKind, String)>,
    /// Whether nobody writes any more.
    is_over: bool,
}

impl Durable {
    /// Starts to keep a file on the disk, which this syncs.
    ///
    /// # Errors
    ///
    /// Where no thread can be started.
    pub(crate) fn start(mut sync: impl FnMut() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("sync".to_owned());
        let thread = thread.spawn(move || while theirs.sync(&mut sync) {})?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits until so many lines may be written: no more than [`UNSYNCED`].
    ///
    /// # Errors
    ///
    /// Where a sync failed.
    pub(crate) fn make_room(&self, lines: u64) -> io::Result<()> {
        self.shared.wait_until(|state| state.has_room(lines))
    }

    /// Takes note that so many lines were written, or that something else was done to the file.
    pub(crate) fn wrote(&self, lines: u64) {
        self.shared.state().wrote(lines);
        self.shared.changed.notify_all();
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    ///
    /// Where a sync failed.
    pub(crate) fn wait(&self) -> io::Result<()> {
        self.shared.wait_until(State::is_on_disk)
    }
}

impl Drop for Durable {
    /// Has what is left synced: whoever gives up writing may have written before.
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic, and where it did, there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, holds: impl Fn(&State) -> bool) -> io::Result<()> {
        let mut state = self.state();
        loop {
            if let Some((kind, cause)) = &state.failed {
                return Err(io::Error::new(*kind, cause.clone()));
            }
            if holds(&state) {
                return Ok(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for something to sync and syncs it. Says whether there may be more.
    fn sync(&self, sync: &mut impl FnMut() -> io::Result<()>) -> bool {
        let mut state = self.state();
        while !state.is_dirty {
            if state.is_over {
                return false;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.begin();
        drop(state);
        let synced = sync();
        let goes_on = synced.is_ok();
        self.state().end(synced);
        self.changed.notify_all();
        goes_on
    }
}

impl State {
    fn has_room(&self, lines: u64) -> bool {
        self.written + self.syncing + lines <= UNSYNCED
    }

    fn is_on_disk(&self) -> bool {
        !self.is_dirty && !self.is_syncing
    }

    fn wrote(&mut self, lines: u64) {
        self.written += lines;
        self.is_dirty = true;
    }

    /// A sync begins, of all that is written by now.
    fn begin(&mut self) {
        self.syncing = std::mem::take(&mut self.written);
        (self.is_dirty, self.is_syncing) = (false, true);
    }

    fn end(&mut self, synced: io::Result<()>) {
        (self.syncing, self.is_syncing) = (0, false);
        self.failed = synced.err().map(|cause| (cause.kind(), cause.to_string()));
    }
}

/// Gets a file's name onto the disk, which it is not by the file's being there. Where folders cannot be synced, they need not be.
#[cfg(unix)]
pub(crate) fn sync_name(path: &Path) {
    let _ = std::fs::File::open(crate::replace::folder(path)).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
pub(crate) fn sync_name(_: &Path) {}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    };

    use super::*;

    /// What a sync under way is about is not on the disk, whatever was on it before.
    #[test]
    fn there_is_room_for_as_much_as_is_not_on_the_disk_yet() {
        let mut state = State::default();
        assert!(state.is_on_disk() && state.has_room(UNSYNCED) && !state.has_room(UNSYNCED + 1));
        state.wrote(1000);
        state.begin();
        assert!(!state.has_room(UNSYNCED - 999), "a sync that has begun has not ended");
        state.wrote(UNSYNCED - 1000);
        assert!(!state.has_room(1) && state.has_room(0));
        state.end(Ok(()));
        assert!(state.has_room(1000) && !state.has_room(1001), "what was written meanwhile is not synced");
        state.begin();
        assert!(!state.is_on_disk());
        state.end(Ok(()));
        assert!(state.is_on_disk() && state.has_room(UNSYNCED));
    }

    /// A disk that says how much it was told to keep, and syncs when it is let.
    #[test]
    fn no_more_is_written_than_may_be_lost_however_slow_the_disk_is() {
        let (written, on_disk) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (theirs, disk) = (Arc::clone(&written), Arc::clone(&on_disk));
        let durable = Durable::start(move || {
            let now = theirs.load(Ordering::SeqCst);
            (0..1000).for_each(|_| thread::yield_now());
            disk.store(now, Ordering::SeqCst);
            Ok(())
        });
        let durable = durable.expect("a thread can be started");
        let mut most = 0;
        for lines in [1, 384, 8000, UNSYNCED, 3000].repeat(20) {
            durable.make_room(lines).expect("every sync is well");
            let all = written.fetch_add(lines, Ordering::SeqCst) + lines;
            most = most.max(all - on_disk.load(Ordering::SeqCst));
            durable.wrote(lines);
        }
        durable.wait().expect("every sync is well");
        assert_eq!(on_disk.load(Ordering::SeqCst), written.load(Ordering::SeqCst));
        assert_eq!(most, UNSYNCED, "as much as may be, and no more");
    }

    #[test]
    fn a_sync_that_fails_is_told_to_whoever_writes_next_and_is_the_last() {
        let (told, syncs) = mpsc::channel();
        let durable = Durable::start(move || {
            told.send(()).expect("somebody counts");
            Err(io::Error::other("the disk is gone"))
        });
        let durable = durable.expect("a thread can be started");
        durable.make_room(1).expect("nothing was synced yet");
        durable.wrote(1);
        for said in [durable.wait(), durable.make_room(1), durable.wait()] {
            assert_eq!(said.expect_err("it failed").to_string(), "the disk is gone");
        }
        durable.wrote(1);
        drop(durable);
        assert_eq!(syncs.iter().count(), 1);
    }

    #[test]
    fn what_was_written_last_is_synced_though_nobody_waits() {
        let (told, syncs) = mpsc::channel();
        let durable = Durable::start(move || told.send(()).map_err(io::Error::other));
        let durable = durable.expect("a thread can be started");
        durable.wrote(0);
        drop(durable);
        assert_eq!(syncs.iter().count(), 1);
    }
}
