//! Reads files that people name: never more of one than a spec or a suite may hold, so that a device or the wrong
//! file is a mistake and not the end of the machine's memory.

use std::{
    fs::File,
    io::{self, Read as _},
};

use crate::{Source, yaml::LARGEST_FILE};

/// A file that is no text to go on with.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {reason}")]
pub struct FileError {
    /// The file, as it was named.
    pub path: String,
    /// Why not.
    pub reason: FileReason,
}

/// Why a file is no text to go on with.
#[derive(Debug, thiserror::Error)]
pub enum FileReason {
    /// The system does not hand it out.
    #[error("{0}")]
    System(#[from] io::Error),
    /// It goes on behind what specs and suites may hold.
    #[error("it has more than {LARGEST_FILE} bytes")]
    TooLarge,
    /// It is no UTF-8.
    #[error("the byte at offset {offset} is not UTF-8")]
    NotText {
        /// The first byte that no character starts or goes on with.
        offset: usize,
    },
}

impl FileError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match &self.reason {
            FileReason::System(error) => match error.kind() {
                io::ErrorKind::NotFound => {
                    "is the path spelled right? it is taken from the current directory"
                }
                io::ErrorKind::IsADirectory => "name a YAML file in it",
                io::ErrorKind::PermissionDenied => "make the file readable, or name another one",
                _ => "name a YAML file that can be read",
            },
            FileReason::TooLarge => {
                "specs, suites and lists of known failures are far smaller: name another file, or split this one"
            }
            FileReason::NotText { .. } => "save the file as UTF-8, or name a YAML file",
        }
    }
}

/// Reads a whole file, as far as a spec or a suite may go.
///
/// # Errors
///
/// Where the file cannot be read, is larger than [`LARGEST_FILE`], or is not UTF-8.
pub fn read_file(path: &str) -> Result<Source, FileError> {
    let wrong = |reason| FileError { path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| wrong(error.into()))?;
    if bytes.len() > LARGEST_FILE {
        return Err(wrong(FileReason::TooLarge));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(path, text)),
        Err(error) => Err(wrong(FileReason::NotText { offset: error.utf8_error().valid_up_to() })),
    }
}
