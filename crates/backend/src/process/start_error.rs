//! Why a process cannot be a backend.

use std::time::Duration;

use crate::protocol::speaks;

/// Why a process was not started, or is no backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The system did not start it.
    #[error("`{command}`: {cause}; name a program by its path, or one that PATH finds")]
    Spawn {
        /// As people wrote it.
        command: String,
        /// In the system's words.
        cause: String,
        /// Whether the system does not know the format of the program's file.
        is_other_format: bool,
    },
    /// It ended instead of saying hello.
    #[error("`{command}` did not say hello: {how}")]
    Ended {
        /// As people wrote it.
        command: String,
        /// How, with what it said last on standard error.
        how: String,
    },
    /// It said nothing.
    #[error("`{command}` did not say hello within {:.1} s{last_words}", time.as_secs_f64())]
    Silent {
        /// As people wrote it.
        command: String,
        /// How long it was waited for.
        time: Duration,
        /// What it said last on standard error, behind `; it said: `, or nothing.
        last_words: String,
    },
    /// It speaks another version of the protocol.
    #[error("{}", speaks(&format!("`{command}`"), *version))]
    Version {
        /// As people wrote it.
        command: String,
        /// The version that it speaks.
        version: u32,
    },
    /// What it sent is no hello.
    #[error("`{command}` {what}")]
    Protocol {
        /// As people wrote it.
        command: String,
        /// What it did.
        what: String,
    },
    /// It says why it cannot work.
    #[error("{0}")]
    Refused(String),
    /// Its hello makes no sense.
    #[error("the `hello` of `{command}` makes no sense: {what}")]
    Hello {
        /// As people wrote it.
        command: String,
        /// Why not.
        what: String,
    },
    /// It declares something else than the first process of the command.
    #[error("`{command}` {how}")]
    Changed {
        /// As people wrote it.
        command: String,
        /// What differs.
        how: String,
    },
}
