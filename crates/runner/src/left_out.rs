//! What a run left out when it explained its failures, because a limit was reached or the run ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the limits on explaining left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    }
}
