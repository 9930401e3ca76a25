//! The processes that wait for a lock, as Linux lists them.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// Whether a process waits for a lock of a folder. The system marks waiting processes with an arrow.
///
/// # Panics
///
/// If there is no such folder, or the system lists no locks.
pub fn is_awaited(folder: &Path) -> bool {
    let inode = fs::metadata(folder).expect("it is there").ino();
    let locks = fs::read_to_string("/proc/locks").expect("the system lists them");
    locks.lines().any(|lock| lock.contains("->") && lock.contains(&format!(":{inode} ")))
}
