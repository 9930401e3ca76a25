//! The errors of starting a process as a backend.

use std::time::Duration;

use crate::protocol::speaks;

/// Why a process did not start, or is not a backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The system did not start it.
    #[error("`{command}`: {cause}; name a program by its path, or one that PATH finds")]
    Spawn {
        /// The command as the user wrote it.
        command: String,
        /// The system's message.
        cause: String,
        /// Whether the system does not know the format of the program file.
        is_other_format: bool,
    },
    /// The process ended before it sent `hello`.
    #[error("`{command}` did not say hello: {how}")]
    Ended {
        /// The command as the user wrote it.
        command: String,
        /// How it ended, with its last output on standard error.
        how: String,
    },
    /// The process sent nothing.
    #[error("`{command}` did not say hello within {:.1} s{last_words}", time.as_secs_f64())]
    Silent {
        /// The command as the user wrote it.
        command: String,
        /// How long the host waited.
        time: Duration,
        /// Its last output on standard error after `; it said: `, or nothing.
        last_words: String,
    },
    /// The process speaks another version of the protocol.
    #[error("{}", speaks(&format!("`{command}`"), *version))]
    Version {
        /// The command as the user wrote it.
        command: String,
        /// The version that the process speaks.
        version: u32,
    },
    /// The process sent something other than `hello`.
    #[error("`{command}` {what}")]
    Protocol {
        /// The command as the user wrote it.
        command: String,
        /// What the process did.
        what: String,
    },
    /// The process says why it cannot work.
    #[error("{0}")]
    Refused(String),
    /// The `hello` is invalid.
    #[error("the `hello` of `{command}` makes no sense: {what}")]
    Hello {
        /// The command as the user wrote it.
        command: String,
        /// The mistake in the `hello`.
        what: String,
    },
    /// The process declares something else than the first process of the command.
    #[error("`{command}` {how}")]
    Changed {
        /// The command as the user wrote it.
        command: String,
        /// The differences.
        how: String,
    },
}
