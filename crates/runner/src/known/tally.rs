//! Adds up the results of the cases that an entry matches.

use std::{collections::BTreeMap, sync::Arc};

use dmlcts_model::named_enum;

use super::{Conclusion, Fit, KnownFailure, conclude};
use crate::Class;

named_enum! {
    /// What the smallest case of an entry does when it runs before the cases of the run.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Smallest: id {
        /// It fails as the entry says.
        AsKnown = "as-known",
        /// It fails in a class of the entry, with another output.
        AnotherAnswer = "another-answer",
        /// It fails in a class that the entry does not name.
        AnotherClass = "another-class",
        /// It passes.
        Passed = "passed",
    }
}

/// An entry, and the results of its cases.
#[derive(Clone, Debug)]
pub struct KnownTally {
    /// The entry.
    pub entry: Arc<KnownFailure>,
    /// The results of its cases.
    pub counts: KnownCounts,
}

/// The results of an entry's cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownCounts {
    /// The number of cases that failed as the entry describes.
    pub as_expected: u64,
    /// The number of cases that failed in another way, by class.
    pub otherwise: BTreeMap<Class, u64>,
    /// The number of cases that passed.
    pub passed: u64,
    /// The number of cases that were skipped.
    pub skipped: u64,
    /// The number of cases with an unknown result.
    pub unknown: u64,
    /// The index and the line of the first case that passed.
    pub first_passed: Option<(u64, String)>,
    /// The index and the line of the first case that failed in another way.
    pub first_otherwise: Option<(u64, String)>,
    /// What its smallest case did before the cases of the run, with its line. `None` if it did not run, or
    /// came to another result each time.
    pub smallest: Option<(Smallest, String)>,
}

impl KnownTally {
    /// What became of its cases. `is_whole` is whether the run had every case of its suite.
    pub fn conclude(&self, is_whole: bool) -> Conclusion {
        conclude(&self.entry, &self.counts, is_whole)
    }
}

impl KnownCounts {
    /// Counts a case with this fit, class, index and line.
    pub(crate) fn count(&mut self, fit: Fit, class: Option<Class>, index: u64, line: &str) {
        let first = |first: &mut Option<(u64, String)>| {
            first.get_or_insert_with(|| (index, line.to_owned()));
        };
        match fit {
            Fit::AsExpected => self.as_expected += 1,
            Fit::Otherwise => {
                *self.otherwise.entry(class.unwrap_or(Class::Lost)).or_default() += 1;
                first(&mut self.first_otherwise);
            }
            Fit::Passed => {
                self.passed += 1;
                first(&mut self.first_passed);
            }
            Fit::Skipped => self.skipped += 1,
            Fit::Unknown => self.unknown += 1,
        }
    }

    /// Changes a case with this index, which failed otherwise with this class, to unknown: it is a flake.
    pub(crate) fn doubt(&mut self, class: Class, index: u64) {
        if let Some(cases) = self.otherwise.get_mut(&class) {
            *cases = cases.saturating_sub(1);
            self.unknown += 1;
        }
        self.otherwise.retain(|_, cases| *cases > 0);
        self.first_otherwise = self.first_otherwise.take().filter(|first| first.0 != index);
    }

    /// Changes a case with this index, which passed, to unknown: it is a flake.
    pub(crate) fn doubt_pass(&mut self, index: u64) {
        self.passed = self.passed.saturating_sub(1);
        self.unknown += 1;
        self.first_passed = self.first_passed.take().filter(|first| first.0 != index);
    }

    /// Adds the results of other cases.
    pub(crate) fn add(&mut self, other: &Self) {
        self.as_expected += other.as_expected;
        self.passed += other.passed;
        self.skipped += other.skipped;
        self.unknown += other.unknown;
        for (class, cases) in &other.otherwise {
            *self.otherwise.entry(*class).or_default() += cases;
        }
        if self.smallest.is_none() {
            self.smallest.clone_from(&other.smallest);
        }
        let firsts = [
            (&mut self.first_passed, &other.first_passed),
            (&mut self.first_otherwise, &other.first_otherwise),
        ];
        for (first, other) in firsts {
            // The parts of a run are joined in any order.
            if let Some(earlier) = other
                && first.as_ref().is_none_or(|first| earlier.0 < first.0)
            {
                *first = Some(earlier.clone());
            }
        }
    }
}
