//! A lock for files that programs read, change and replace, so that concurrent changes do not overwrite each
//! other.
//!
//! A file is replaced and may not exist yet, so its folder is locked instead. Where folders cannot be locked,
//! a file in it is locked, which stays.

use std::{fs::File, io, path::Path};

/// A lock on the files of a folder, which are about to be changed. Dropping it unlocks them.
#[derive(Debug)]
#[must_use = "dropping it unlocks the files"]
pub struct FileLock {
    folder: Option<File>,
}

impl FileLock {
    /// Waits until no other program holds a lock on the folder. On file systems without locks, such as
    /// some network drives, it locks nothing. No link in the folder is followed.
    pub fn acquire(folder: &Path) -> Self {
        let folder = open(folder).and_then(|folder| folder.lock().map(|()| folder));
        Self { folder: folder.ok() }
    }

    /// Whether the lock is held. Some file systems have no locks.
    pub fn is_held(&self) -> bool {
        self.folder.is_some()
    }
}

/// Opens what is locked in place of the files of a folder.
#[cfg(unix)]
fn open(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn open(folder: &Path) -> io::Result<File> {
    let beside = folder.join(".dmlcts.lock");
    if beside.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::options().write(true).create(true).truncate(false).open(beside)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, thread};

    use dmlcts_tests::is_awaited;

    use super::*;
    use crate::replace;

    /// Adds a line to a file by replacing it, and does something else between reading and writing.
    fn add(path: &Path, line: &str, meanwhile: impl FnOnce()) {
        let _lock = FileLock::acquire(path.parent().expect("it lies in a folder"));
        let old = fs::read_to_string(path).unwrap_or_default();
        meanwhile();
        replace(path, format!("{old}{line}\n").as_bytes()).expect("it can be replaced");
    }

    #[test]
    fn concurrent_changes_are_all_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        // The file does not exist the first time.
        for expected in ["first\nsecond\n", "first\nsecond\nfirst\nsecond\n"] {
            thread::scope(|scope| {
                add(&path, "first", || {
                    let second = scope.spawn(|| add(&path, "second", || ()));
                    while !is_awaited(folder.path()) && !second.is_finished() {
                        thread::yield_now();
                    }
                });
            });
            assert_eq!(fs::read_to_string(&path).expect("it is there"), expected);
        }
        let left = fs::read_dir(folder.path()).expect("it is there").count();
        assert_eq!(left, 1, "nothing is left beside it");
    }
}
