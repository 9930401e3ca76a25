//! What a run left out when it explained its failures, because a limit was reached or the run ended.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit on explaining failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The number of cases of a finding.
    Cases,
    /// The number of conditions that a search for a predicate compares with cases.
    Candidates,
    /// The backend's time for a finding.
    Time,
    /// The number of hangs of a finding.
    Hangs,
    /// The backend's time for all findings together.
    Budget,
    /// The deadline of the run.
    Timeout,
    /// Ctrl-C or another signal.
    Interrupted,
    /// The run ended at its first failure, at its last hang or with its backend.
    EndOfRun,
}

/// What the limits on explaining left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LeftOut {
    /// The sets of failures of one operator and kind whose experiments did not run, or ended at a limit.
    pub experiments: u64,
    /// The findings with fewer repeats than usual.
    pub repeats: u64,
    /// The flakes for which nothing or not everything was tried.
    pub flakes: u64,
    /// The findings that were not shrunk, or only up to a limit.
    pub shrinking: u64,
    /// The limits that were reached.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub limits: BTreeSet<Limit>,
}

impl LeftOut {
    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another part of the run left out.
    pub fn add(&mut self, other: &Self) {
        // Counts of a file may be any numbers.
        self.experiments = self.experiments.saturating_add(other.experiments);
        self.repeats = self.repeats.saturating_add(other.repeats);
        self.flakes = self.flakes.saturating_add(other.flakes);
        self.shrinking = self.shrinking.saturating_add(other.shrinking);
        self.limits.extend(&other.limits);
    }
}
