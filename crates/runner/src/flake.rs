//! Flakes: what fails in one run and passes in another. Failures are run again alone, and what changes is
//! told from what fails.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a case failed, of all its runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Runs in which it failed.
    pub failed: u32,
    /// All runs.
    pub runs: u32,
}

impl Rate {
    /// Of the run that found a failure.
    pub const FOUND: Self = Self { failed: 1, runs: 1 };

    /// Of the run in which a known failure passed.
    pub(crate) const PASSED: Self = Self { failed: 0, runs: 1 };

    /// Counts another run.
    pub fn count(&mut self, failed: bool) {
        self.failed += u32::from(failed);
        self.runs += 1;
    }

    /// Whether it failed in some runs and not in others.
    pub fn is_flake(self) -> bool {
        0 < self.failed && self.failed < self.runs
    }
}

/// `failed in 1 of 3 runs`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed in {} of {} runs", self.failed, self.runs)
    }
}
