//! The mistakes in results files and in their use, with remedies.

use std::{borrow::Cow, io};

use crate::{UNSYNCED, UnknownName, VERSION};

/// The reason why a results file cannot be written, read or joined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be created or opened.
    #[error("cannot open the results file {path}: {cause}")]
    Open {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// There is no file to resume.
    #[error("there is no results file {path} to resume")]
    Missing {
        /// The path.
        path: String,
    },
    /// The file is not empty, and may not be replaced.
    #[error("the results file {path} is not empty")]
    Exists {
        /// The path.
        path: String,
    },
    /// Another run writes the file.
    #[error("another run is writing the results file {path}")]
    Busy {
        /// The path.
        path: String,
    },
    /// A write failed.
    #[error("cannot write the results file {path}: {cause}; all earlier lines are intact")]
    Write {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The file was written, and a sync failed.
    #[error(
        "cannot sync the results file {path} to the disk: {cause}; up to {UNSYNCED} of its last cases may be damaged or missing"
    )]
    Sync {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// At the end of the run, the path led to another file or to none.
    #[error("the results file {path} was removed, renamed or replaced while it was written")]
    Removed {
        /// The path.
        path: String,
    },
    /// The file cannot be read.
    #[error("cannot read the results file {path}: {cause}")]
    Read {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The input has to be read twice, which a pipe does not allow.
    #[error("{path} is a pipe or a device, which cannot be read twice")]
    NotReadableTwice {
        /// The path.
        path: String,
    },
    /// The file for the joined run is not empty, and may not be replaced.
    #[error("the output file {path} is not empty")]
    OutputExists {
        /// The path.
        path: String,
    },
    /// The file for the joined run cannot be written.
    #[error("cannot write the output file {path}: {cause}; the parts are unchanged")]
    Output {
        /// The path.
        path: String,
        /// The system's error.
        cause: io::Error,
    },
    /// A line does not have the format.
    #[error("line {number} of {path} is not a line of a results file: {cause}")]
    Line {
        /// The path.
        path: String,
        /// The line number, from 1.
        number: u64,
        /// The mistake in the line.
        cause: String,
    },
    /// A line of a file that is resumed does not have the format, and is not the last one.
    #[error("line {number} of {path} is damaged, and lines follow it: {cause}")]
    Damaged {
        /// The path.
        path: String,
        /// The line number, from 1.
        number: u64,
        /// The mistake in the line.
        cause: String,
    },
    /// The file has another version of the format.
    #[error("{path} has version {version} of the format; this program reads version {VERSION}")]
    Version {
        /// The path.
        path: String,
        /// The version of the file.
        version: u32,
    },
    /// The file does not start with a header.
    #[error("{path} has no header: it is not a results file, or its run was cut off before its first case")]
    NoHeader {
        /// The path.
        path: String,
    },
    /// The parts belong to different runs.
    #[error("{path} and {other} are of different runs: {what}")]
    Different {
        /// The path of one part.
        path: String,
        /// The path of the other part.
        other: String,
        /// The differences.
        what: String,
    },
    /// Two parts have cases in common.
    #[error("{path} and {other} overlap: {what}")]
    Overlap {
        /// The path of one part.
        path: String,
        /// The path of the other part.
        other: String,
        /// The cases or the part that both have.
        what: String,
    },
    /// Parts of the run are missing.
    #[error("of the {of} parts of the run, {missing}")]
    Incomplete {
        /// The number of parts of the run.
        of: u64,
        /// The missing parts.
        missing: String,
    },
    /// The number of cases differs from the number in a checkpoint or in the summary.
    #[error("the cases of {path} do not add up: {cause}")]
    Miscounted {
        /// The path.
        path: String,
        /// Both numbers.
        cause: String,
    },
    /// The run was cut off.
    #[error("the run of {path} was cut off: it has no summary")]
    CutOff {
        /// The path.
        path: String,
        /// The command that repeats the run.
        command: String,
    },
    /// The file uses a name that this program's spec does not have.
    #[error("{path} was written with another spec: {cause}")]
    UnknownName {
        /// The path.
        path: String,
        /// The name.
        cause: UnknownName,
    },
}

impl Error {
    /// The same error about the file for the joined run, which cannot be resumed.
    #[must_use]
    pub fn of_output(self) -> Self {
        match self {
            Self::Exists { path } => Self::OutputExists { path },
            Self::Write { path, cause } | Self::Sync { path, cause } => Self::Output { path, cause },
            other => other,
        }
    }

    /// The remedy.
    pub fn help(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::CutOff { path, command } => return format!("resume it: {command} --resume {path}").into(),
            Self::Different { .. } => {
                "join the parts of one run: the same cases and backend, each with another --partition"
            }
            Self::Overlap { .. } => "name each part once",
            Self::Damaged { number, .. } => {
                return format!(
                    "nothing was changed; repair the line, or copy the file up to line {} and resume the copy",
                    number - 1
                )
                .into();
            }
            Self::Miscounted { .. } => "another program changed or removed lines: run it again",
            Self::Incomplete { .. } => "run the missing parts, and join all of them",
            Self::Open { .. } => "name a file in a folder that exists, and that you may write to",
            Self::Missing { .. } => "start the run with --results instead of --resume",
            Self::Exists { .. } => {
                "name another file, resume its run with --resume instead of --results, or replace it with --overwrite"
            }
            Self::NotReadableTwice { .. } => "save its content as a file, and name the file",
            Self::OutputExists { .. } => "name another file, or replace it with --overwrite",
            Self::Output { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => {
                "let the reader read to the end, or join the parts into a file"
            }
            Self::Output { .. } => "make room, or name a file on another disk, and join the parts again",
            Self::Busy { .. } => "name another file, or wait for that run to end",
            Self::Write { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => {
                "let the reader read to the end, or record into a file"
            }
            Self::Write { .. } => "make room, and continue with --resume instead of --results",
            Self::Removed { .. } => {
                "run it again, and leave the file alone until the run ends; a file that was only renamed can be continued with --resume"
            }
            Self::Sync { .. } => {
                "check the disk and its free space, and continue with --resume instead of --results"
            }
            Self::Read { .. } | Self::NoHeader { .. } | Self::Line { .. } => {
                "name a file that `dmlcts run --results` wrote"
            }
            Self::Version { .. } | Self::UnknownName { .. } => "use the version of dmlcts that wrote it",
        })
    }

    /// Whether the machine or the run failed. Otherwise the request was wrong.
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
