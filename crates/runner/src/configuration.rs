//! The configuration of a run: its cases, its backend, and its limits.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{OpenError, Pipelined, Purpose, process::Incidents};
use dmlcts_model::{FeatureLevel, named_enum};
use dmlcts_spec::{Library, Predicate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CaseSource, Difference, KnownFailures, Partition, RunOutcomes, Stop, Totals};

/// Makes a backend. It is called once for each thread, and again after a panic. If it fails, the error is in
/// the backend's words.
pub type Factory = dyn Fn(Purpose) -> Result<Box<dyn Pipelined>, OpenError> + Send + Sync;

/// Everything that a run needs.
#[derive(Clone)]
pub struct Run {
    /// The specs. They live as long as the program, since a worker that hangs is left behind.
    pub library: &'static Library,
    /// The source of the cases.
    pub source: Arc<dyn CaseSource>,
    /// Makes the backends.
    pub backend: Arc<Factory>,
    /// How the cases run, and where the run ends.
    pub configuration: Configuration,
    /// Ends the run from outside.
    pub stop: Stop,
}

named_enum! {
    /// How often a created operator runs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Runs: id, from_id {
        /// Once, and for a sample of the cases a second time on other data, which shows state that it keeps.
        /// If the expected output looks like the poison in the output's memory, it runs again over other
        /// poison, which shows elements that it never wrote.
        #[default]
        Sampled = "sampled",
        /// Once for each case, on the case's own data.
        Once = "once",
    }
}

impl Runs {
    /// The maximum number of runs of a case.
    pub(crate) fn most(self) -> u64 {
        match self {
            Self::Sampled => 3,
            Self::Once => 1,
        }
    }
}

/// How cases are run, and where a run ends.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The feature level to judge at; `None` for the backend's own.
    pub level: Option<FeatureLevel>,
    /// The number of threads, each with its own backend; at least one runs.
    pub jobs: usize,
    /// The maximum number of cases to run.
    pub limit: Option<u64>,
    /// Runs only the cases at these indices, which are in ascending order.
    pub only: Option<Arc<[u64]>>,
    /// Ends the run at the unexpected verdict with this number. A run that resumes counts its own.
    pub max_failures: Option<u64>,
    /// Ends the run at the unexpected crash with this number, as [`Self::max_failures`] does at a failure.
    pub max_crashes: Option<u64>,
    /// Ends the run after this many cases without an answer in time, if cases are left.
    pub max_hangs: Option<u64>,
    /// When the run must have ended, including the explanation of its failures.
    pub deadline: Option<Instant>,
    /// Whether the deadline ends the cases alone, and not the explanation of their failures.
    pub ends_cases_alone: bool,
    /// The maximum number of bytes of a case: its tensors and the memory that they are compared with. A
    /// larger case is created but not run.
    pub memory: u64,
    /// How often a created operator runs.
    pub runs: Runs,
    /// Kinds of differences that are not failures in this run.
    pub allow: Vec<Difference>,
    /// Runs only the cases that this predicate accepts.
    pub filter: Option<Arc<Predicate>>,
    /// How long an ending run waits for a backend that does not answer. After the deadline or an interrupt, a
    /// run waits for at most two [moments](Stop::MOMENT).
    pub grace: Duration,
    /// How often a failure is run again alone, to detect flakes; 0 for never.
    pub retries: u32,
    /// The cases of a run with a deadline end this much earlier if something failed, so that time is left
    /// for the explanation.
    pub kept: Duration,
    /// The incidents of the backend's processes, for [`Event::Incident`](crate::Event::Incident).
    pub incidents: Incidents,
    /// Runs only the cases of this part.
    pub partition: Option<Partition>,
    /// The known failures of the backend.
    pub known: KnownFailures,
    /// Whether the smallest case of each known failure runs first, in the first part of a run. It is not
    /// counted among the cases of the run.
    pub tries_smallest: bool,
    /// Whether to report the result of each case: [`Event::Cases`](crate::Event::Cases).
    pub record: bool,
    /// The totals of an earlier run of the same cases that was cut off. This run resumes after it, and its
    /// summary counts both.
    pub resume: Option<Totals>,
    /// The outcomes of the earlier run's cases, so that an explanation covers both runs.
    pub run_outcomes: RunOutcomes,
}

impl Configuration {
    /// The default memory limit of a case, in bytes.
    pub const USUAL_MEMORY: u64 = 1 << 30;
    /// How often a failure is run again alone by default.
    pub const USUAL_RETRIES: u32 = 2;
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            level: None,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: None,
            only: None,
            max_failures: None,
            max_crashes: None,
            max_hangs: None,
            deadline: None,
            ends_cases_alone: false,
            memory: Self::USUAL_MEMORY,
            runs: Runs::default(),
            allow: Vec::new(),
            filter: None,
            grace: Duration::from_secs(5),
            retries: Self::USUAL_RETRIES,
            kept: Duration::ZERO,
            incidents: Incidents::default(),
            partition: None,
            known: KnownFailures::default(),
            tries_smallest: false,
            record: false,
            resume: None,
            run_outcomes: RunOutcomes::default(),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("configuration", &self.configuration).finish_non_exhaustive()
    }
}
