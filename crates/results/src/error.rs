//! What can go wrong with a results file, and what to do about it.

use std::io;

use crate::{Strange, VERSION};

/// Why a results file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be made or opened.
    #[error("cannot open the results file {path}: {cause}")]
    Open {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// There is none to go on with.
    #[error("there is no results file {path} to go on with")]
    Missing {
        /// The file.
        path: String,
    },
    /// There is something in it already.
    #[error("the results file {path} has something in it already")]
    Exists {
        /// The file.
        path: String,
    },
    /// Another run writes it.
    #[error("another run is writing the results file {path}")]
    Busy {
        /// The file.
        path: String,
    },
    /// It could not be written any more.
    #[error("cannot write the results file {path}: {cause}; what was recorded before is whole")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// It could not be read.
    #[error("cannot read the results file {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// A line is none of a results file.
    #[error("line {number} of {path} is no line of a results file: {cause}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        number: u64,
        /// Why not.
        cause: String,
    },
    /// It is of another version of the format.
    #[error("{path} is of version {version} of the format, and this program reads version {VERSION}")]
    Version {
        /// The file.
        path: String,
        /// Its version.
        version: u32,
    },
    /// It has no header, so that nobody knows of what it is.
    #[error("{path} has no header: it is no results file, or its run was cut off before its first case")]
    Headless {
        /// The file.
        path: String,
    },
    /// It speaks of something that this program's spec does not have.
    #[error("{path} was written by another spec: {cause}")]
    Strange {
        /// The file.
        path: String,
        /// What it speaks of.
        cause: Strange,
    },
}

impl Error {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Open { .. } => "name a file in a folder that exists, and that you may write to",
            Self::Missing { .. } => "start the run by --results instead of --resume",
            Self::Exists { .. } => {
                "name another file, go on with its run by --resume instead of --results, or write over it by --overwrite"
            }
            Self::Busy { .. } => "name another file, or wait for that run to end",
            Self::Write { .. } => "make room, and go on by --resume instead of --results",
            Self::Read { .. } | Self::Headless { .. } | Self::Line { .. } => {
                "name a file that `dmlcts run --results` wrote"
            }
            Self::Version { .. } | Self::Strange { .. } => "use the version of dmlcts that wrote it",
        }
    }

    /// Whether the machine is to blame, and not what was asked for.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Write { .. })
    }
}
