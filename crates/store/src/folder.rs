//! The files of a folder.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use dmlcts_results::{FileLock, check_file, entries, leftovers, replace_entry};
use dmlcts_runner::{KnownEntry, KnownFailures};
use dmlcts_spec::{Library, Source, yaml::Reader};

use crate::{FindingFile, StoreError, check::check};

/// The folder of the findings of a backend.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A finding of a folder.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The path of its file.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its fields.
    pub file: FindingFile,
    /// What it means for a run.
    pub entry: KnownEntry,
}

impl Folder {
    /// The folder at a path that a person named. It may be a link.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the folder, which is that of its backend.
    pub fn name(&self) -> Option<String> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        path.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    /// Reads and checks all findings, by name.
    ///
    /// # Errors
    ///
    /// There is no folder, or a file cannot be read, is a link or has mistakes. All mistakes of the first
    /// file with mistakes are named.
    pub fn read(&self, library: &Library) -> Result<Vec<Stored>, StoreError> {
        let reader = Reader::default();
        self.files()?.iter().map(|path| stored(&reader, path, library)).collect()
    }

    /// Reads and checks the file of a finding.
    ///
    /// # Errors
    ///
    /// It cannot be read, is a link or has mistakes.
    pub fn read_file(path: &Path, library: &Library) -> Result<Stored, StoreError> {
        stored(&Reader::default(), path, library)
    }

    /// As [`Self::read`], without an error if there is no folder yet.
    ///
    /// # Errors
    ///
    /// A file cannot be read, is a link or has mistakes.
    pub fn read_or_none(&self, library: &Library) -> Result<Vec<Stored>, StoreError> {
        match self.read(library) {
            Err(StoreError::None { .. }) => Ok(Vec::new()),
            read => read,
        }
    }

    /// Replaces the files of findings with what `change` makes of the folder, while no other program changes
    /// it. `change` returns the names and texts of the files to write. Makes the folder if there is none.
    ///
    /// # Errors
    ///
    /// The folder cannot be read or written.
    pub fn change<T>(
        &self,
        library: &Library,
        change: impl FnOnce(&[Stored]) -> (Vec<(String, String)>, T),
    ) -> Result<T, StoreError> {
        fs::create_dir_all(&self.path).map_err(|cause| not_written(&self.path, cause))?;
        let lock = FileLock::acquire(&self.path);
        if lock.is_held() {
            // Every writer holds the lock: these are of commands that were killed.
            for path in leftovers(self.entries()?) {
                fs::remove_file(&path).map_err(|cause| not_written(&path, cause))?;
            }
        }
        let (files, made) = change(&self.read(library)?);
        for (name, text) in files {
            let path = self.path.join(format!("{name}.yaml"));
            replace_entry(&path, text.as_bytes()).map_err(|cause| not_written(&path, cause))?;
        }
        Ok(made)
    }

    /// The files of findings, by name.
    fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let all = self.entries()?;
        let is_finding = |name: &str, path: &Path| {
            path.extension().is_some_and(|end| end == "yaml") && !name.starts_with('.')
        };
        let files = all.iter().filter(|(name, path)| is_finding(name, path));
        let files: Vec<PathBuf> = files.map(|(_, path)| path.clone()).collect();
        let folder = all.iter().find(|(name, path)| !name.starts_with('.') && path.is_dir());
        match folder {
            Some((one, _)) if files.is_empty() => {
                Err(StoreError::Folders { path: self.path.display().to_string(), one: one.clone() })
            }
            _ => Ok(files),
        }
    }

    /// The names and paths in the folder, by name.
    fn entries(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let path = self.path.display().to_string();
        entries(&self.path).map_err(|cause| match cause.kind() {
            ErrorKind::NotFound => StoreError::None { path },
            _ => StoreError::Read { path, cause },
        })
    }
}

/// The findings as a run expects them.
impl FromIterator<Stored> for KnownFailures {
    fn from_iter<I: IntoIterator<Item = Stored>>(all: I) -> Self {
        Self::new(all.into_iter().map(|stored| stored.entry).collect())
    }
}

fn stored(reader: &Reader<FindingFile>, path: &Path, library: &Library) -> Result<Stored, StoreError> {
    let source = Source::new(path.display().to_string(), read(path)?);
    let (file, entry) = check(reader, &source, library)?;
    Ok(Stored { path: source.name, text: source.text, file, entry })
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, StoreError> {
    let failed = |cause| StoreError::Read { path: path.display().to_string(), cause };
    refuse_link(path)?;
    check_file(path, "finding").map_err(failed)?;
    fs::read_to_string(path).map_err(failed)
}

pub(crate) fn refuse_link(path: &Path) -> Result<(), StoreError> {
    if path.is_symlink() {
        return Err(StoreError::Link { path: path.display().to_string() });
    }
    Ok(())
}

pub(crate) fn not_written(path: &Path, cause: io::Error) -> StoreError {
    StoreError::Write { path: path.display().to_string(), cause }
}
