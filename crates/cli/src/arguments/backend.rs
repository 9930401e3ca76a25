//! The options of a backend for the commands that have few options.

use std::time::Duration;

use clap::{Args, ValueHint};

use super::{RunArguments, heading};
use crate::units;

/// The backend, and how it is hosted.
#[derive(Clone, Debug, Args)]
pub(crate) struct BackendArguments {
    /// The backend, as for `run`
    #[arg(
        long,
        value_name = "NAME",
        default_value = RunArguments::DEFAULT_BACKEND,
        value_hint = ValueHint::Other,
        help_heading = heading::BACKEND
    )]
    pub(crate) backend: String,

    /// Run a built-in backend on threads
    #[arg(long, help_heading = heading::BACKEND)]
    pub(crate) in_process: bool,

    /// How long a process may be silent
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = units::time_span,
        allow_hyphen_values = true,
        help_heading = heading::BACKEND
    )]
    pub(crate) case_timeout: Duration,

    /// How much memory a backend process may use
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = units::size,
        allow_hyphen_values = true,
        help_heading = heading::BACKEND
    )]
    pub(crate) backend_memory: Option<u64>,
}

impl BackendArguments {
    /// The arguments of a run on this backend. Everything else is as `run` has it.
    pub(crate) fn run(&self) -> RunArguments {
        RunArguments {
            backend: self.backend.clone(),
            in_process: self.in_process,
            case_timeout: self.case_timeout,
            backend_memory: self.backend_memory,
            ..RunArguments::usual()
        }
    }
}
