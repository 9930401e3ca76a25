//! What became of the cases of each known failure, as a checkpoint and a summary have it. The parts of a run
//! are joined before anything is said of it.

use std::{collections::BTreeMap, sync::Arc};

use dmlcts_runner::{Class, Kind, KnownCounts, KnownFailure, KnownTally, Smallest, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A known failure, and what became of the cases that it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownForm {
    /// The file.
    pub file: String,
    /// The id.
    pub id: String,
    /// Its cases in words: the predicate, or how many are listed.
    pub cases: String,
    /// In which ways they fail, the most severe first.
    #[schemars(with = "Vec<String>", extend("items" = serde_json::json!({"enum": Class::ALL.map(Class::id)})))]
    pub classes: Vec<Class>,
    /// Whether the failures are expected.
    pub status: Status,
    /// The kind of cause.
    pub kind: Kind,
    /// Whether some of the cases may pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Whether a case fails from time to time, and may pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// Why they fail; empty if nobody said it.
    pub reason: String,
    /// Where it is followed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Cases that failed as it says.
    #[serde(default)]
    pub as_expected: u64,
    /// Cases that failed in another way, by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, u64>", extend("propertyNames" = serde_json::json!({"enum": Class::ALL.map(Class::id)})))]
    pub otherwise: BTreeMap<Class, u64>,
    /// Cases that passed.
    #[serde(default)]
    pub passed: u64,
    /// Cases that were skipped.
    #[serde(default)]
    pub skipped: u64,
    /// Cases of which nobody knows: without an answer, or with another one each time.
    #[serde(default)]
    pub unknown: u64,
    /// The first that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_passed: Option<FirstForm>,
    /// The first that failed in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_otherwise: Option<FirstForm>,
    /// What its smallest case did before the cases of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<SmallestForm>,
}

/// What the smallest case of a known failure did before the cases of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestForm {
    /// What it did.
    #[schemars(with = "String", extend("enum" = Smallest::ALL.map(Smallest::id)))]
    pub result: Smallest,
    /// The case.
    pub line: String,
}

/// The first case of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstForm {
    /// Its index.
    pub index: u64,
    /// The case.
    pub line: String,
}

impl From<&KnownTally> for KnownForm {
    fn from(tally: &KnownTally) -> Self {
        let KnownFailure { file, id, cases, classes, status, kind, is_partial, is_flaky, reason, link } =
            (*tally.entry).clone();
        let KnownCounts {
            as_expected,
            otherwise,
            passed,
            skipped,
            unknown,
            first_passed,
            first_otherwise,
            smallest,
        } = tally.counts.clone();
        let smallest = smallest.map(|(result, line)| SmallestForm { result, line });
        let first = |first: Option<(u64, String)>| first.map(|(index, line)| FirstForm { index, line });
        let (first_passed, first_otherwise) = (first(first_passed), first(first_otherwise));
        Self {
            file,
            id,
            cases,
            classes,
            status,
            kind,
            partial: is_partial,
            flaky: is_flaky,
            reason,
            link,
            as_expected,
            otherwise,
            passed,
            skipped,
            unknown,
            first_passed,
            first_otherwise,
            smallest,
        }
    }
}

impl KnownForm {
    /// The entry and its counts.
    pub(crate) fn tally(&self) -> KnownTally {
        let form = self.clone();
        let entry = KnownFailure {
            file: form.file,
            id: form.id,
            cases: form.cases,
            classes: form.classes,
            status: form.status,
            kind: form.kind,
            is_partial: form.partial,
            is_flaky: form.flaky,
            reason: form.reason,
            link: form.link,
        };
        let first = |first: Option<FirstForm>| first.map(|first| (first.index, first.line));
        let counts = KnownCounts {
            as_expected: form.as_expected,
            otherwise: form.otherwise,
            passed: form.passed,
            skipped: form.skipped,
            unknown: form.unknown,
            first_passed: first(form.first_passed),
            first_otherwise: first(form.first_otherwise),
            smallest: form.smallest.map(|form| (form.result, form.line)),
        };
        KnownTally { entry: Arc::new(entry), counts }
    }
}
