//! A lock for files that programs read, change and replace, so that concurrent changes do not overwrite each
//! other.
//!
//! The file itself is replaced and may not exist yet, so its folder is locked instead. Where folders cannot
//! be locked, a file beside it is locked, which stays.

use std::{fs::File, io, path::Path};

use crate::replace::{folder, target};

/// A lock on a file that is about to be changed. Dropping it unlocks the file.
#[derive(Debug)]
#[must_use = "dropping it unlocks the file"]
pub struct FileLock {
    folder: Option<File>,
}

impl FileLock {
    /// Waits until no other program holds a lock in the same folder. On file systems without locks, such as
    /// some network drives, it locks nothing.
    pub fn acquire(path: &Path) -> Self {
        Self::of(&target(path))
    }

    /// As [`Self::acquire`], for all files of a folder. No link in it is followed.
    pub fn acquire_folder(path: &Path) -> Self {
        Self::of(&path.join("dmlcts"))
    }

    fn of(path: &Path) -> Self {
        let folder = open(path).and_then(|folder| folder.lock().map(|()| folder));
        Self { folder: folder.ok() }
    }

    /// Whether the lock is held. Some file systems have no locks.
    pub fn is_held(&self) -> bool {
        self.folder.is_some()
    }
}

/// Opens the file that is locked in place of another one.
#[cfg(unix)]
fn open(file: &Path) -> io::Result<File> {
    File::open(folder(file))
}

#[cfg(not(unix))]
fn open(file: &Path) -> io::Result<File> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder(file).join(format!(".{name}.lock"));
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
        let _lock = FileLock::acquire(path);
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
