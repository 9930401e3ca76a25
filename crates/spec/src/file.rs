//! Reads files that a user names. Reading stops at the largest size that a spec or a suite may have, so that
//! a device file or a wrong path does not exhaust memory.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use dmlcts_model::escaped;

use crate::{Source, yaml::LARGEST_FILE};

/// A file that could not be read as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {reason}")]
pub struct FileError {
    /// The path, as the user gave it.
    pub path: String,
    /// Why the file could not be read.
    pub reason: FileReason,
}

/// Why a file could not be read as text.
#[derive(Debug, thiserror::Error)]
pub enum FileReason {
    /// The operating system reported an error.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The file is larger than a spec or a suite may be.
    #[error("it has more than {LARGEST_FILE} bytes")]
    TooLarge,
    /// The file is not UTF-8.
    #[error("the byte at offset {offset} is not UTF-8")]
    NotText {
        /// The offset of the first byte that is not part of a UTF-8 character.
        offset: usize,
    },
}

impl FileError {
    /// Advice for the user.
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
                "specs, suites and findings are far smaller: name another file, or split this one"
            }
            FileReason::NotText { .. } => "save the file as UTF-8, or name a YAML file",
        }
    }
}

/// How long to wait for a pipe before a message says so.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens a file that a user names. Opening a named pipe waits for a program that writes to it. After a
/// second, a line on standard error says so.
///
/// # Errors
///
/// The file cannot be opened.
pub fn open_file(path: &str) -> io::Result<File> {
    if !fs::metadata(path).is_ok_and(|about| is_pipe(&about)) {
        return File::open(path);
    }
    let (opened, waiting) = channel::<()>();
    let name = path.to_owned();
    thread::spawn(move || {
        if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // Without standard error, the program still waits.
            let _ =
                writeln!(io::stderr(), "waiting for a program that writes to the pipe {}", escaped(&name));
        }
    });
    let file = File::open(path);
    drop(opened);
    file
}

#[cfg(unix)]
fn is_pipe(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// Reads a whole file of at most [`LARGEST_FILE`] bytes.
///
/// # Errors
///
/// The file cannot be read, is larger than [`LARGEST_FILE`], or is not UTF-8.
pub fn read_file(path: &str) -> Result<Source, FileError> {
    let wrong = |reason| FileError { path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    open_file(path)
        .and_then(|file| file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| wrong(error.into()))?;
    if bytes.len() > LARGEST_FILE {
        return Err(wrong(FileReason::TooLarge));
    }
    let text = String::from_utf8(bytes);
    text.map(|text| Source::new(path, text))
        .map_err(|error| wrong(FileReason::NotText { offset: error.utf8_error().valid_up_to() }))
}
