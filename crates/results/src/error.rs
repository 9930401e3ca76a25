//! What can go wrong with a results file, and what to do about it.

use std::{borrow::Cow, io};

use crate::{UNSYNCED, UnknownName, VERSION};

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
    /// It was written, and the disk did not take it.
    #[error(
        "the disk did not take the results file {path}: {cause}; of its last cases, up to {UNSYNCED} may be damaged or missing"
    )]
    Sync {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// When all of it was written, its name was another's or nobody's.
    #[error("the results file {path} was removed, renamed or replaced while it was written")]
    Removed {
        /// The file.
        path: String,
    },
    /// It could not be read.
    #[error("cannot read the results file {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// It can be read once only, and is to be read twice.
    #[error("{path} is no file but a pipe or a device, and is to be read twice")]
    NotReadableTwice {
        /// What it is called.
        path: String,
    },
    /// What parts are joined into has something in it already.
    #[error("{path}, into which the parts are to be joined, has something in it already")]
    OutputExists {
        /// The file.
        path: String,
    },
    /// What parts are joined into could not be written.
    #[error("cannot write {path}, into which the parts are joined: {cause}; the parts are as they were")]
    Output {
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
    /// A line in the middle of a file that is to be gone on with is none.
    #[error("line {number} of {path} is damaged, and others stand behind it: {cause}")]
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1.
        number: u64,
        /// Why it is no line.
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
    NoHeader {
        /// The file.
        path: String,
    },
    /// Files that are to be joined are not of the same run.
    #[error("{path} and {other} are of different runs: {what}")]
    Different {
        /// A file.
        path: String,
        /// Another.
        other: String,
        /// In what they differ.
        what: String,
    },
    /// Files that are to be joined have cases in common.
    #[error("{path} and {other} overlap: {what}")]
    Overlap {
        /// A file.
        path: String,
        /// Another.
        other: String,
        /// What both have.
        what: String,
    },
    /// PartFiles are missing among files that are to be joined.
    #[error("of the {of} parts of the run, {missing}")]
    Incomplete {
        /// How many parts there are.
        of: u64,
        /// Which are missing.
        missing: String,
    },
    /// Cases of a file are missing, or too many.
    #[error("the cases of {path} do not add up: {cause}")]
    Miscounted {
        /// The file.
        path: String,
        /// What is counted, and what is there.
        cause: String,
    },
    /// The run of a file was cut off.
    #[error("the run of {path} was cut off: it has no summary")]
    CutOff {
        /// The file.
        path: String,
        /// The command that runs the same.
        command: String,
    },
    /// It speaks of something that this program's spec does not have.
    #[error("{path} was written by another spec: {cause}")]
    UnknownName {
        /// The file.
        path: String,
        /// What it speaks of.
        cause: UnknownName,
    },
}

impl Error {
    /// The same of a file into which parts are joined: there is no run to go on with.
    #[must_use]
    pub fn of_output(self) -> Self {
        match self {
            Self::Exists { path } => Self::OutputExists { path },
            Self::Write { path, cause } | Self::Sync { path, cause } => Self::Output { path, cause },
            other => other,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::CutOff { path, command } => {
                return format!("go on with it: {command} --resume {path}").into();
            }
            Self::Different { .. } => {
                "join files of the same cases on the same backend, which differ in their --partition only"
            }
            Self::Overlap { .. } => "name each part once",
            Self::Damaged { number, .. } => {
                return format!(
                    "nothing was changed; mend the line, or take it and all behind it out of a copy, whose last line is then {}, and go on \
                     with the copy",
                    number - 1
                )
                .into();
            }
            Self::Miscounted { .. } => "lines were lost or changed behind its back: run it again",
            Self::Incomplete { .. } => "run the missing parts, and join all of them",
            Self::Open { .. } => "name a file in a folder that exists, and that you may write to",
            Self::Missing { .. } => "start the run by --results instead of --resume",
            Self::Exists { .. } => {
                "name another file, go on with its run by --resume instead of --results, or write over it by --overwrite"
            }
            Self::NotReadableTwice { .. } => "write what comes out of it into a file, and name that",
            Self::OutputExists { .. } => "name another file, or write over it by --overwrite",
            Self::Output { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => {
                "let the reader go on to the end, or join them into a file"
            }
            Self::Output { .. } => "make room, or name a file elsewhere, and join them again",
            Self::Busy { .. } => "name another file, or wait for that run to end",
            Self::Write { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => {
                "let the reader go on to the end, or record into a file"
            }
            Self::Write { .. } => "make room, and go on by --resume instead of --results",
            Self::Removed { .. } => {
                "run it again, and leave the file alone until the run has ended; one that was only renamed can be gone on with by --resume"
            }
            Self::Sync { .. } => "see to the disk and its room, and go on by --resume instead of --results",
            Self::Read { .. } | Self::NoHeader { .. } | Self::Line { .. } => {
                "name a file that `dmlcts run --results` wrote"
            }
            Self::Version { .. } | Self::UnknownName { .. } => "use the version of dmlcts that wrote it",
        })
    }

    /// Whether a machine is to blame, and not what was asked for.
    pub fn is_machine(&self) -> bool {
        matches!(
            self,
            Self::Write { .. }
                | Self::Output { .. }
                | Self::Sync { .. }
                | Self::Removed { .. }
                | Self::Incomplete { .. }
                | Self::CutOff { .. }
        )
    }
}
