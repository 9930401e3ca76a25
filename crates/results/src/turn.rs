//! Taking turns at a file that programs read, change and replace. Without, of two that do so at a time the second would put back what the
//! first has changed.
//!
//! A lock on the file itself would be one on what is replaced, and there may be no file yet. So its folder is locked, which leaves nothing
//! behind; where folders cannot be locked, a file beside it is, and stays.

use std::{fs::File, io, path::Path};

use crate::replace::{folder, target};

/// The turn of whoever changes a file. It ends when this is dropped.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Waits until nobody else changes a file in the same folder. Where nothing can be locked, as on some drives of a network, nobody is kept
    /// out.
    pub fn at(path: &Path) -> Self {
        let lock = open(&target(path)).and_then(|lock| wait(&lock).map(|()| lock));
        Self { _lock: lock.ok() }
    }
}

/// Waits for a lock, whatever signals come.
fn wait(lock: &File) -> io::Result<()> {
    loop {
        match lock.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}

/// What is locked in the place of a file.
#[cfg(unix)]
fn open(file: &Path) -> io::Result<File> {
    File::open(folder(file))
}

#[cfg(not(unix))]
fn open(file: &Path) -> io::Result<File> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder(file).join(format!(".{name}.lock"));
    File::options().write(true).create(true).truncate(false).open(beside)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, thread};

    use dmlcts_tests::is_awaited;

    use super::*;
    use crate::replace;

    /// Adds a line to a file as those do that replace it, with something else between reading and writing.
    fn add(path: &Path, line: &str, meanwhile: impl FnOnce()) {
        let _turn = Turn::at(path);
        let old = fs::read_to_string(path).unwrap_or_default();
        meanwhile();
        replace(path, format!("{old}{line}\n").as_bytes()).expect("it can be replaced");
    }

    /// The second of two comes when the first has read and not written yet. Whether the file is there already or is not.
    #[test]
    fn of_two_that_change_a_file_at_a_time_neither_loses_its_change() {
        let folder = std::env::temp_dir().join(format!("dmlcts-turn-{}", std::process::id()));
        fs::create_dir(&folder).expect("the temporary folder takes a folder");
        let path = folder.join("file");
        for expected in ["first\nsecond\n", "first\nsecond\nfirst\nsecond\n"] {
            thread::scope(|scope| {
                add(&path, "first", || {
                    let second = scope.spawn(|| add(&path, "second", || ()));
                    while !is_awaited(&folder) && !second.is_finished() {
                        thread::yield_now();
                    }
                });
            });
            assert_eq!(fs::read_to_string(&path).expect("it is there"), expected);
        }
        let left = fs::read_dir(&folder).expect("it is there").count();
        fs::remove_dir_all(&folder).expect("it is ours");
        assert_eq!(left, 1, "nothing is left beside it");
    }
}
