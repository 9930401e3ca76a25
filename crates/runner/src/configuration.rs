//! What a run is made of: where cases come from, who answers them, and where it ends.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{OpenError, Pipelined, Purpose, process::Incidents};
use dmlcts_model::FeatureLevel;
use dmlcts_spec::{Library, Predicate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Difference, KnownFailures, Partition, Source, Stop, Totals};

/// Makes a backend. It is called once a thread, and again after a panic; the reason for not being able to is
/// in the backend's words.
pub type Factory = dyn Fn(Purpose) -> Result<Box<dyn Pipelined>, OpenError> + Send + Sync;

/// Everything that a run needs.
pub struct Run {
    /// What is promised. It lives as long as the program, since a worker that hangs is left behind.
    pub library: &'static Library,
    /// Where the cases come from.
    pub source: Arc<dyn Source>,
    /// Who answers them.
    pub backend: Arc<Factory>,
    /// How, and how long.
    pub configuration: Configuration,
    /// Ends the run from outside.
    pub stop: Stop,
}

/// How often a created operator runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runs {
    /// Once, and in a sample of the cases a second time on other data, which shows what it remembers. Where the expected output looks
    /// like the poison before it, it runs again over another poison, which shows what it never wrote.
    #[default]
    Sampled,
    /// Once in each case, on the case's own data.
    Once,
}

impl Runs {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::Sampled, Self::Once];

    /// As files and options spell it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Sampled => "sampled",
            Self::Once => "once",
        }
    }

    /// How many runs a case has at most.
    pub(crate) fn most(self) -> u64 {
        match self {
            Self::Sampled => 3,
            Self::Once => 1,
        }
    }
}

/// How cases are run, and where a run ends.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Configuration {
    /// The feature level to judge at; the backend's own where there is none.
    pub level: Option<FeatureLevel>,
    /// Threads, each with a backend of its own; at least one runs.
    pub jobs: usize,
    /// How many cases to run at most.
    pub limit: Option<u64>,
    /// Runs only the cases at these indices, which are in order.
    pub only: Option<Arc<[u64]>>,
    /// Whether to end at the first verdict that is not expected.
    pub fail_fast: bool,
    /// At how many cases that had no answer in time to end, where others are left.
    pub max_hangs: Option<u64>,
    /// When to end, with the search for smaller failing cases done: where something failed, the last tenth of
    /// the time, or the ten seconds that the search takes at most, is left for it.
    pub deadline: Option<Instant>,
    /// How many bytes one case may take, its tensors and what they are compared with together. A larger case
    /// is created and not run.
    pub memory: u64,
    /// How often a created operator runs.
    pub runs: Runs,
    /// Differences that are no failures in this run.
    pub allow: Vec<Difference>,
    /// Runs only the cases for which it holds.
    pub filter: Option<Arc<Predicate>>,
    /// How long a run that is to end waits for a backend that does not answer. One whose time is up, or that is interrupted, waits for
    /// two [moments](Self::MOMENT) at most.
    pub grace: Duration,
    /// How often a failure is run again alone, to tell flakes; never where it is 0.
    pub retries: u32,
    /// Whether to look for a smaller case in each group of failures.
    pub shrink: bool,
    /// What happens to the backend meanwhile, for [`Event::Incident`](crate::Event::Incident).
    pub incidents: Incidents,
    /// Runs only the cases of this part.
    pub partition: Option<Partition>,
    /// What is known to fail, on whatever backend.
    pub known: KnownFailures,
    /// Whether to tell what became of each case: [`Event::Cases`](crate::Event::Cases).
    pub record: bool,
    /// Whether to tell as well what each case could have shown, as [`Blessing`](crate::Blessing) needs it.
    pub record_sensitivity: bool,
    /// What an earlier run of the same cases came to before it was cut off: this one goes on behind it, and its
    /// summary counts both.
    pub resume: Option<Totals>,
}

impl Configuration {
    /// What cases that are under way when the time is up, or the run is interrupted, have left to be answered. A backend should wait no longer either; what it has no
    /// outcome for by then counts as not run.
    pub const MOMENT: Duration = Duration::from_millis(500);
    /// What one case may take where nobody says otherwise, in bytes.
    pub const USUAL_MEMORY: u64 = 1 << 30;
    /// How often a failure is run again alone where nobody says otherwise.
    pub const USUAL_RETRIES: u32 = 2;
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            level: None,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: None,
            only: None,
            fail_fast: false,
            max_hangs: None,
            deadline: None,
            memory: Self::USUAL_MEMORY,
            runs: Runs::default(),
            allow: Vec::new(),
            filter: None,
            grace: Duration::from_secs(5),
            retries: Self::USUAL_RETRIES,
            shrink: true,
            incidents: Incidents::default(),
            partition: None,
            known: KnownFailures::default(),
            record: false,
            record_sensitivity: false,
            resume: None,
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("configuration", &self.configuration).finish_non_exhaustive()
    }
}
