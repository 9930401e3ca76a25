//! A folder of snapshots: `NAME/SUITE.snap`, and `NAME/SUITE.snap.new` if a change waits for a review.
//!
//! Every change holds a lock on the folder of a backend, and replaces a file as a whole. A file with mistakes
//! is never replaced. The folder may hold what a stranger put there, so no link in it is followed.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use dmlcts_results::{FileLock, check_file, leftovers, replace_entry};

use crate::{Examples, Metadata, Snapshot, SnapshotError};

/// The longest name.
const LONGEST: usize = 60;

/// A folder of snapshots.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A snapshot in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    /// The name: that of the backend's folder, a slash, and that of the suite or `examples`.
    pub name: String,
    /// Whether one was accepted.
    pub is_accepted: bool,
    /// Whether a change waits for a review.
    pub is_pending: bool,
}

/// Checks that a name can be that of a folder or a file on every system.
///
/// # Errors
///
/// It is empty or long, or has other letters than a-z, digits and hyphens.
pub fn check_name(name: &str) -> Result<(), SnapshotError> {
    // Windows has devices of these names.
    let reserved = ["con", "prn", "aux", "nul"].contains(&name)
        || name.len() == 4
            && (name.starts_with("com") || name.starts_with("lpt"))
            && name.ends_with(|last: char| last.is_ascii_digit());
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain) && !reserved {
        return Ok(());
    }
    Err(SnapshotError::Name { name: name.to_owned() })
}

/// The name of a backend or a suite with lower-case letters, digits and hyphens alone, of at most 60 letters.
pub fn plain(name: &str) -> String {
    let letters = name
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect::<String>();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(LONGEST).collect()
}

impl Stored {
    /// Whether it has the examples of the pages.
    pub fn is_of_examples(&self) -> bool {
        self.name.ends_with("/examples")
    }

    /// The suite's name.
    pub fn suite(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(_, suite)| suite)
    }

    /// Whether a word names it: its whole name, or that of its backend.
    pub fn is_called(&self, word: &str) -> bool {
        self.name == word || self.name.split_once('/').is_some_and(|(backend, _)| backend == word)
    }
}

impl Folder {
    /// The path of the folder that nobody named.
    pub const USUAL: &str = "snapshots";

    /// The folder at a path that a person named, which may not exist yet, and may be a link.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder [`Self::USUAL`] of the working directory, which may not exist yet.
    ///
    /// # Errors
    ///
    /// It is a link: nobody named it, so that a stranger may have made it.
    pub fn usual() -> Result<Self, SnapshotError> {
        refuse_link(Path::new(Self::USUAL))?;
        Ok(Self::new(Self::USUAL))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the accepted snapshot of a name.
    pub fn accepted(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.snap"))
    }

    /// The path of the pending snapshot of a name.
    pub fn pending(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.snap.new"))
    }

    /// The snapshots in the folder, by name. Other files are left out.
    ///
    /// # Errors
    ///
    /// A folder cannot be read, a snapshot or its folder has no proper name, or one of them is a link.
    pub fn list(&self) -> Result<Vec<Stored>, SnapshotError> {
        let mut all: BTreeMap<String, Stored> = BTreeMap::new();
        for (backend, folder) in self.backends()? {
            for (file, path) in entries(&folder)? {
                let (suite, is_pending) = match (file.strip_suffix(".snap"), file.strip_suffix(".snap.new")) {
                    (Some(suite), _) => (suite, false),
                    (None, Some(suite)) => (suite, true),
                    (None, None) => continue,
                };
                [&backend, suite].into_iter().try_for_each(check_name)?;
                refuse_link(&path)?;
                let name = format!("{backend}/{suite}");
                let new = Stored { name: name.clone(), is_accepted: false, is_pending: false };
                let stored = all.entry(name).or_insert(new);
                stored.is_accepted |= !is_pending;
                stored.is_pending |= is_pending;
            }
        }
        Ok(all.into_values().collect())
    }

    /// The files that commands left when they were killed.
    ///
    /// # Errors
    ///
    /// A folder cannot be read, or is a link.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>, SnapshotError> {
        let mut all = Vec::new();
        for (_, folder) in self.backends()? {
            all.extend(leftovers(entries(&folder)?));
        }
        Ok(all)
    }

    /// The folders of the backends, by name.
    fn backends(&self) -> Result<Vec<(String, PathBuf)>, SnapshotError> {
        let mut all = entries(&self.path)?;
        all.retain(|(_, path)| path.is_dir());
        all.iter().try_for_each(|(_, path)| refuse_link(path))?;
        Ok(all)
    }

    /// Reads the accepted text of a name, and writes the pending text that `make` returns. Without one, it
    /// removes an older pending text. `make` gets the path and the text.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or `make` fails. The accepted file stays in any case.
    pub fn propose<T>(
        &self,
        name: &str,
        make: impl FnOnce(&str, Option<&str>) -> Result<(Option<String>, T), SnapshotError>,
    ) -> Result<T, SnapshotError> {
        let (accepted, pending) = (self.accepted(name), self.pending(name));
        let folder = accepted.parent().unwrap_or(Path::new("."));
        refuse_link(folder)?;
        fs::create_dir_all(folder).map_err(|cause| not_written(folder, cause))?;
        let _lock = lock(folder)?;
        refuse_link(&pending)?;
        let old = self.text(&accepted)?;
        let (text, made) = make(&accepted.display().to_string(), old.as_deref())?;
        match text {
            Some(text) => {
                replace_entry(&pending, text.as_bytes()).map_err(|cause| not_written(&pending, cause))?;
            }
            None => remove(&pending)?,
        }
        Ok(made)
    }

    /// Makes the pending text the accepted one. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or has mistakes.
    pub fn accept(&self, stored: &Stored) -> Result<bool, SnapshotError> {
        let (accepted, pending) = (self.accepted(&stored.name), self.pending(&stored.name));
        let _lock = lock(accepted.parent().unwrap_or(Path::new(".")))?;
        let Some(text) = self.text(&pending)? else { return Ok(false) };
        check_text(stored, &pending.display().to_string(), &text)?;
        if let Some(old) = self.text(&accepted)? {
            check_text(stored, &accepted.display().to_string(), &old)?;
        }
        replace_entry(&accepted, text.as_bytes()).map_err(|cause| not_written(&accepted, cause))?;
        remove(&pending)?;
        Ok(true)
    }

    /// Removes the pending text. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub fn reject(&self, stored: &Stored) -> Result<bool, SnapshotError> {
        let pending = self.pending(&stored.name);
        let _lock = lock(pending.parent().unwrap_or(Path::new(".")))?;
        let is_there = pending.exists();
        remove(&pending)?;
        Ok(is_there)
    }

    /// The text of a file in the folder; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn text(&self, path: &Path) -> Result<Option<String>, SnapshotError> {
        let failed = |cause| SnapshotError::Read { path: path.display().to_string(), cause };
        path.parent().map_or(Ok(()), refuse_link)?;
        refuse_link(path)?;
        match check_file(path, "snapshot") {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            checked => checked.map_err(failed)?,
        }
        let bytes = fs::read(path).map_err(failed)?;
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            SnapshotError::line(&path.display().to_string(), line, "the line is not UTF-8")
        })
    }
}

/// Checks that a text is a snapshot, and returns its header. `path` is its name in messages.
///
/// # Errors
///
/// The text is not as this program wrote it.
pub fn check_text(stored: &Stored, path: &str, text: &str) -> Result<Metadata, SnapshotError> {
    if stored.is_of_examples() {
        Examples::parse(path, text).map(|examples| examples.about)
    } else {
        Snapshot::parse(path, text).map(|snapshot| snapshot.about)
    }
}

/// The entries of a folder, by name. A folder that does not exist has none.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, SnapshotError> {
    match dmlcts_results::entries(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        all => all.map_err(|cause| SnapshotError::Read { path: folder.display().to_string(), cause }),
    }
}

/// Locks the folder of a backend. What killed commands left there is removed: every writer holds the lock.
fn lock(folder: &Path) -> Result<FileLock, SnapshotError> {
    refuse_link(folder)?;
    let lock = FileLock::acquire(folder);
    if lock.is_held() {
        leftovers(entries(folder)?).try_for_each(|path| remove(&path))?;
    }
    Ok(lock)
}

/// Checks that a path is not a symbolic link.
fn refuse_link(path: &Path) -> Result<(), SnapshotError> {
    if path.is_symlink() {
        return Err(SnapshotError::Link { path: path.display().to_string() });
    }
    Ok(())
}

fn not_written(path: &Path, cause: io::Error) -> SnapshotError {
    SnapshotError::Write { path: path.display().to_string(), cause }
}

fn remove(path: &Path) -> Result<(), SnapshotError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(not_written(path, cause)),
        _ => Ok(()),
    }
}
