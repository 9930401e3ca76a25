//! Adds up the results of the cases that an entry matches.

use std::{collections::BTreeMap, sync::Arc};

use dmlcts_model::named_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conclusion, Fit, KnownFailure, conclude};
use crate::{Class, FirstCase};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownTally {
    /// The entry.
    #[serde(flatten)]
    pub entry: Arc<KnownFailure>,
    /// The results of its cases.
    #[serde(flatten)]
    pub counts: KnownCounts,
}

/// The results of an entry's cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KnownCounts {
    /// The number of cases that failed as the entry describes.
    pub as_expected: u64,
    /// The number of cases that failed in another way, by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub otherwise: BTreeMap<Class, u64>,
    /// The number of cases that passed.
    pub passed: u64,
    /// The number of cases that were skipped.
    pub skipped: u64,
    /// The number of cases with an unknown result.
    pub unknown: u64,
    /// The first case that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_passed: Option<FirstCase>,
    /// The first case that failed in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_otherwise: Option<FirstCase>,
    /// What its smallest case did before the cases of the run. `None` if it did not run, or came to another
    /// result each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<SmallestCase>,
}

/// The smallest case of an entry, and what it did before the cases of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestCase {
    /// What it did.
    pub result: Smallest,
    /// The case.
    pub line: String,
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
        let first = |first: &mut Option<FirstCase>| {
            first.get_or_insert_with(|| FirstCase { index, line: line.to_owned() });
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
        self.first_otherwise = self.first_otherwise.take().filter(|first| first.index != index);
    }

    /// Changes a case with this index, which passed, to unknown: it is a flake.
    pub(crate) fn doubt_pass(&mut self, index: u64) {
        self.passed = self.passed.saturating_sub(1);
        self.unknown += 1;
        self.first_passed = self.first_passed.take().filter(|first| first.index != index);
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
                && first.as_ref().is_none_or(|first| earlier.index < first.index)
            {
                *first = Some(earlier.clone());
            }
        }
    }
}
