//! How the program ends: one enum, documented in `--help`.

use std::process::ExitCode;

use dmlcts_runner::{Ending, Summary};

/// The exit codes, and what `--help` says of them.
pub(crate) const HELP: &str = "\
Exit codes:
  0    nothing unexpected happened
  1    a verdict was unexpected
  2    wrong usage or bad input: arguments, a case line, a predicate, a file
  3    the backend or the machine failed, so that the run is not complete (outranks 1)
  130  Ctrl-C

A reader of the output that goes away early, such as `head`, ends the program quietly: commands that
only list something exit with 0, and `run` exits with what the run came to.";

/// How the program ends. A later variant outranks an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Exit {
    /// Nothing unexpected happened.
    Success,
    /// A verdict was unexpected.
    Unexpected,
    /// The arguments or something that they name are wrong.
    Usage,
    /// The backend or the machine failed.
    Broken,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Exit {
    /// As the system sees it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Broken => 3,
            Self::Interrupted => 130,
        }
    }

    /// What a run comes to.
    pub(crate) fn of(summary: &Summary) -> Self {
        if summary.ending == Ending::Interrupted {
            Self::Interrupted
        } else if summary.ending == Ending::BackendLost || !summary.abandoned.is_empty() {
            Self::Broken
        } else if summary.tally().unexpected() > 0 {
            Self::Unexpected
        } else {
            Self::Success
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
