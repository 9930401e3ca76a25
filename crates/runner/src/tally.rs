//! Counts of verdicts, work and notes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of cases that were read, including those that the filter left out.
    pub read: u64,
    /// The number of cases that were sent to the backend, or skipped because it does not declare them.
    pub ran: u64,
    /// The number of cases with an unexpected verdict.
    pub unexpected: u64,
}

/// The number of cases with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Verdict::ALL.len()]);

impl Tally {
    /// The number of cases with this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize]
    }

    /// The number of all cases.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The number of cases that the backend tried, whatever the outcome.
    pub fn tried(&self) -> u64 {
        self.total() - self.of(Verdict::Skip) - self.of(Verdict::Lost)
    }

    /// The number of cases with an unexpected verdict.
    pub fn unexpected(&self) -> u64 {
        Verdict::ALL
            .into_iter()
            .filter(|verdict| verdict.is_unexpected())
            .map(|verdict| self.of(verdict))
            .sum()
    }

    /// Counts one more case with this verdict.
    pub fn count(&mut self, verdict: Verdict) {
        self.count_many(verdict, 1);
    }

    /// Counts this number of cases with this verdict.
    pub fn count_many(&mut self, verdict: Verdict, cases: u64) {
        self.0[verdict as usize] += cases;
    }

    pub(crate) fn correct(&mut self, from: Verdict, to: Verdict) {
        self.0[from as usize] = self.0[from as usize].saturating_sub(1);
        self.0[to as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The number of runs of created operators, as the backend reports them.
    pub runs: u64,
    /// The number of cases whose operator ran a second time, on other data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub on_other_data: u64,
    /// The number of bytes in the outputs of these runs.
    pub bytes: u64,
    /// The number of valid cases that were only created, because they exceed the memory limit of a case or
    /// the backend's limit.
    pub too_large: u64,
    /// The number of these cases that passed: created correctly, with no output to compare.
    pub only_created: u64,
}

/// Behaviour that the documentation allows, but a careful implementation avoids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notes {
    /// The number of runs that wrote into the holes of a strided output.
    pub holes: u64,
    /// The number of runs that wrote between the last element and `TotalTensorSizeInBytes`.
    pub tails: u64,
    /// The number of runs whose output differed only in ways that this run allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgiven: u64,
}
