//! The options for the cases of a suite and for a backend, for the commands that have few options.

use std::time::Duration;

use clap::{Args, ValueHint};
use dmlcts_results::BackendOptions;

use super::{RunArguments, Selection, heading};
use crate::units;

/// The backend, and how it is hosted.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub(crate) struct BackendArguments {
    /// The backend, as for `run`
    #[arg(long, value_name = "NAME", default_value = BackendOptions::USUAL_BACKEND, value_hint = ValueHint::Other)]
    pub(crate) backend: String,

    /// Run a built-in backend on threads
    #[arg(long)]
    pub(crate) in_process: bool,

    /// How long a process may be silent
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) case_timeout: Duration,

    /// How much memory a backend process may use
    #[arg(long, value_name = "SIZE", value_parser = units::size, allow_hyphen_values = true)]
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

/// Some cases of a suite, and the backend that runs them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::CASES)]
pub(crate) struct OfSuiteArguments {
    /// Only cases for which this predicate holds
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) filter: Option<String>,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = units::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// The number of threads [default: one per processor]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        allow_negative_numbers = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) backend: BackendArguments,
}

impl OfSuiteArguments {
    /// The arguments of a run of these cases of a suite. Everything else is as `run` has it.
    pub(crate) fn run(&self, suite: &str) -> RunArguments {
        let run = self.backend.run();
        let (suite, filter) = (suite.to_owned(), self.filter.clone());
        let selection = Selection { suite, filter, seed: self.seed, jobs: self.jobs, ..run.selection };
        RunArguments { selection, ..run }
    }
}
