//! Bounds the number of lines that a power cut can take from a file that grows.
//!
//! The writer syncs the file itself: always before more than [`UNSYNCED`] lines are unsynced, and earlier
//! where syncing takes little of the run's time. So a slow run syncs after each write, and a fast one seldom.

use std::{fmt, io, path::Path, time::Instant};

/// The most lines that are written and not synced. It is the largest batch of a built-in backend, `wgpu`'s.
pub const UNSYNCED: u64 = 8192;

/// Syncs that [`UNSYNCED`] does not force take at most one part in this number of a run's time.
const SYNC_SHARE: u32 = 10;

/// Counts the unsynced lines of a file and syncs it.
pub(crate) struct Durable {
    /// A closure, so that tests can observe syncs and make them fail.
    sync: Box<dyn FnMut() -> io::Result<()> + Send>,
    unsynced: u64,
    /// When the next sync is due that [`UNSYNCED`] does not force.
    due: Instant,
}

impl Durable {
    pub(crate) fn new(sync: impl FnMut() -> io::Result<()> + Send + 'static) -> Self {
        Self { sync: Box::new(sync), unsynced: 0, due: Instant::now() }
    }

    /// The number of lines that can be written before the next sync. Never 0.
    pub(crate) fn room(&self) -> u64 {
        UNSYNCED - self.unsynced
    }

    /// Counts lines that were written, at most [`Durable::room`], and syncs if that is due.
    pub(crate) fn wrote(&mut self, lines: u64) -> io::Result<()> {
        self.unsynced += lines;
        if self.unsynced >= UNSYNCED || Instant::now() >= self.due { self.sync() } else { Ok(()) }
    }

    /// Syncs the file unless all counted lines are synced.
    pub(crate) fn sync_rest(&mut self) -> io::Result<()> {
        if self.unsynced > 0 { self.sync() } else { Ok(()) }
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        let start = Instant::now();
        // Lines that a failed sync lost are not written by another one, so they no longer count.
        self.unsynced = 0;
        (self.sync)()?;
        self.due = Instant::now() + SYNC_SHARE * start.elapsed();
        Ok(())
    }
}

impl Drop for Durable {
    /// Syncs the lines before a failed write.
    fn drop(&mut self) {
        let _ = self.sync_rest();
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("unsynced", &self.unsynced).finish_non_exhaustive()
    }
}

/// Syncs the folder of a new file, without which a power cut takes the file's name. Some systems cannot.
#[cfg(unix)]
pub(crate) fn sync_name(path: &Path) {
    let _ = std::fs::File::open(crate::replace::folder(path)).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
pub(crate) fn sync_name(_: &Path) {}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
        thread,
        time::Duration,
    };

    use super::*;

    /// A file whose syncs take this time, and how often it was synced.
    fn durable(time: Duration) -> (Durable, impl Fn() -> u64) {
        let syncs = Arc::<AtomicU64>::default();
        let theirs = Arc::clone(&syncs);
        let durable = Durable::new(move || {
            theirs.fetch_add(1, Ordering::Relaxed);
            thread::sleep(time);
            Ok(())
        });
        (durable, move || syncs.load(Ordering::Relaxed))
    }

    #[test]
    fn a_slow_disk_is_synced_when_the_bound_is_reached() {
        // After the first sync, the next one is due in 10 seconds.
        let (mut durable, syncs) = durable(Duration::from_secs(1));
        durable.wrote(1).expect("it is synced");
        assert_eq!((syncs(), durable.room()), (1, UNSYNCED));
        durable.wrote(UNSYNCED - 1).expect("nothing is synced");
        assert_eq!((syncs(), durable.room()), (1, 1));
        durable.wrote(1).expect("it is synced");
        assert_eq!((syncs(), durable.room()), (2, UNSYNCED));
        durable.wrote(1).expect("nothing is synced");
        durable.sync_rest().expect("it is synced");
        durable.sync_rest().expect("nothing is left");
        assert_eq!(syncs(), 3);
    }

    #[test]
    fn a_fast_disk_is_synced_after_each_write_and_when_writing_ends() {
        let (mut durable, syncs) = durable(Duration::ZERO);
        for written in 1..=3 {
            thread::sleep(Duration::from_millis(1));
            durable.wrote(1).expect("it is synced");
            assert_eq!(syncs(), written);
        }
        durable.unsynced = 1;
        drop(durable);
        assert_eq!(syncs(), 4);
    }

    #[test]
    fn a_failed_sync_is_not_repeated() {
        let syncs = Arc::<AtomicU64>::default();
        let theirs = Arc::clone(&syncs);
        let mut durable = Durable::new(move || {
            theirs.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::other("the disk is gone"))
        });
        assert_eq!(durable.wrote(1).expect_err("it fails").to_string(), "the disk is gone");
        drop(durable);
        assert_eq!(syncs.load(Ordering::Relaxed), 1);
    }
}
