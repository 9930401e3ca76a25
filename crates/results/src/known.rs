//! What became of the cases of each known failure, as a checkpoint and a summary have it. It holds all that
//! it takes to say whether the entry is still true, so that the parts of a run say it once they are joined.

use std::{collections::BTreeMap, sync::Arc};

use dmlcts_runner::{Class, Kind, KnownCounts, KnownFailure, KnownTally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An entry of a list of known failures, and what became of the cases that it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownForm {
    /// The file that it stands in.
    pub file: String,
    /// Its id.
    pub id: String,
    /// The suites that say whether it is still true.
    pub suites: Vec<String>,
    /// Its cases in words: the predicate, or how many are listed.
    pub cases: String,
    /// In which way they fail.
    #[schemars(with = "String", extend("enum" = Class::ALL.map(Class::id)))]
    pub signature: Class,
    /// Whose matter it is.
    pub kind: Kind,
    /// Why they fail.
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
        let KnownFailure { file, id, suites, cases, signature, kind, reason, link } = (*tally.entry).clone();
        let KnownCounts { as_expected, otherwise, passed, skipped, unknown, first_passed, first_otherwise } =
            tally.counts.clone();
        let first = |first: Option<(u64, String)>| first.map(|(index, line)| FirstForm { index, line });
        let (first_passed, first_otherwise) = (first(first_passed), first(first_otherwise));
        Self {
            file,
            id,
            suites,
            cases,
            signature,
            kind,
            reason,
            link,
            as_expected,
            otherwise,
            passed,
            skipped,
            unknown,
            first_passed,
            first_otherwise,
        }
    }
}

impl KnownForm {
    /// The entry and its counts.
    pub(crate) fn tally(&self) -> KnownTally {
        let form = self.clone();
        let entry = KnownFailure {
            signature: form.signature,
            file: form.file,
            id: form.id,
            suites: form.suites,
            cases: form.cases,
            kind: form.kind,
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
        };
        KnownTally { entry: Arc::new(entry), counts }
    }
}
