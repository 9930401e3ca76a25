//! The mistakes in snapshot files and in their use, with remedies.

use std::io;

use dmlcts_spec::LoadError;

use crate::ran::EXAMPLES;

/// The reason why a snapshot cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A file or a folder cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// A file or a folder cannot be written.
    #[error("cannot write {path}: {cause}; what was accepted is as it was")]
    Write {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// A file or a folder is a symbolic link.
    #[error("{path} is a symbolic link; none is followed in a folder of snapshots")]
    Link {
        /// The path.
        path: String,
    },
    /// The header has mistakes.
    #[error("{0}")]
    Header(#[from] LoadError),
    /// A line is not as this program writes it.
    #[error("{path}:{line}: {cause}")]
    Line {
        /// The path.
        path: String,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// A name cannot be the name of a folder or a file.
    #[error("`{name}` is not the name of a snapshot")]
    Name {
        /// The name.
        name: String,
    },
    /// A suite's file would be that of the examples.
    #[error("the suite `{suite}` cannot have a snapshot: its file would be {EXAMPLES}.snap")]
    Reserved {
        /// The suite's name.
        suite: String,
    },
    /// The run does not show what the backend does on the whole suite.
    #[error("no snapshot is made of this run: {why}")]
    Unfit {
        /// The reason.
        why: String,
        /// The remedy.
        help: String,
    },
}

impl SnapshotError {
    /// The error that a line, counted from 1, is not as this program writes it.
    pub(crate) fn line(path: &str, line: usize, cause: impl Into<String>) -> Self {
        Self::Line { path: path.to_owned(), line, cause: cause.into() }
    }

    /// The remedy.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => {
                "name a folder of snapshots by --dir, and files that you may read".to_owned()
            }
            Self::Write { .. } => "name a folder by --dir that you may write to, and make room".to_owned(),
            Self::Link { .. } => "remove the link, or put the file or folder itself in its place".to_owned(),
            Self::Header(_) | Self::Line { .. } => {
                "restore the file, such as by `git checkout`, or remove it and accept a new one: it was left \
                 as it is"
                    .to_owned()
            }
            Self::Name { .. } => {
                "a name has 1 to 60 letters a-z, digits and hyphens; give one by --name".to_owned()
            }
            Self::Reserved { .. } => {
                "that file holds the examples of the pages: give the suite another name, in its first line"
                    .to_owned()
            }
            Self::Unfit { help, .. } => help.clone(),
        }
    }

    /// Whether the machine failed, and the user's input is right.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Write { .. })
    }
}
