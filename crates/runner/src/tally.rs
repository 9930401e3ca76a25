//! Counts of what cases came to.

use crate::Verdict;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cases looked at, including those that the filter left out.
    pub read: u64,
    /// Cases put to the backend, or skipped without, since it has not declared what they need.
    pub ran: u64,
    /// Cases whose verdict is not expected.
    pub unexpected: u64,
}

/// How many cases came to which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Verdict::ALL.len()]);

impl Tally {
    /// Cases that came to this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize]
    }

    /// Cases of any verdict.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Cases that the backend was asked and that it has, whatever became of them.
    pub fn tried(&self) -> u64 {
        self.total() - self.of(Verdict::Skip) - self.of(Verdict::Lost)
    }

    /// Cases whose verdict is not expected.
    pub fn unexpected(&self) -> u64 {
        Verdict::ALL
            .into_iter()
            .filter(|verdict| verdict.is_unexpected())
            .map(|verdict| self.of(verdict))
            .sum()
    }

    /// Counts one more case of this verdict.
    pub fn count(&mut self, verdict: Verdict) {
        self.count_many(verdict, 1);
    }

    /// Counts so many more.
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

/// How much was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often a created operator was run, as far as the backend says that it was.
    pub runs: u64,
    /// Cases whose operator ran a second time, on other data than their own.
    pub on_other_data: u64,
    /// Bytes of the outputs of these runs.
    pub bytes: u64,
    /// Valid cases that were created only, being larger than the memory that a case may take or than the
    /// backend's limit.
    pub too_large: u64,
    /// Those of them that passed: created as they should be, with no output to compare.
    pub only_created: u64,
}

/// What the documentation lets an implementation do, but a careful one does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Runs that wrote into the holes of a strided output.
    pub holes: u64,
    /// Runs that wrote between the last element and `TotalTensorSizeInBytes`.
    pub tails: u64,
    /// Runs whose output differed in no way but those that this run allows.
    pub forgiven: u64,
}
