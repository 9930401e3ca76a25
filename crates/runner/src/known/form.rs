//! `cases/known-failures/<backend>.yaml` as plain structs: what can be written, field by field. Unknown keys are denied,
//! and no form is tagged, untagged or flattened, so that a mistake keeps its place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Class;

/// What is known to fail on a backend.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownFailuresForm {
    /// The backend, by the name that it gives itself: the one behind "on" in the summary of a run.
    pub backend: String,
    /// What fails, one cause an entry.
    pub failures: Vec<KnownFailureForm>,
}

/// Cases that fail for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownFailureForm {
    /// Lower case, words joined by hyphens; unique among all files of a run.
    pub id: String,
    /// The suites that it was made from, by the names that they give themselves. A complete run of one of them says whether the entry is still true; in any other run it
    /// only says what is expected of the cases that it matches.
    pub suites: Vec<String>,
    /// The cases, by a predicate in the language of the specs, such as `operator == SLICE1 and any axis InputWindowStrides < 0`. Those that cannot
    /// fail in this way are left out by themselves: an invalid desc has no output that could be wrong, and an output without NaNs cannot lose their bits. Of the others it must hold only where they fail.
    #[serde(default, rename = "where")]
    pub filter: Option<String>,
    /// The cases one by one, as `dmlcts list` prints them, where no predicate tells them from those that pass.
    #[serde(default)]
    pub cases: Option<Vec<String>>,
    /// In which way they fail. A case that fails in another way is unexpected.
    #[schemars(extend("enum" = signatures()))]
    pub signature: String,
    /// Whose matter it is.
    pub kind: Kind,
    /// Why they fail, for whoever reads the list.
    pub reason: String,
    /// Where it is followed up: the address of an issue.
    #[serde(default)]
    pub link: Option<String>,
    /// Holds for these versions of the backend only.
    #[serde(default)]
    pub version: Option<BoundsForm>,
    /// Holds for these versions of the driver only.
    #[serde(default)]
    pub driver: Option<BoundsForm>,
    /// Holds only where this is a part of the device's name; upper and lower case do not matter.
    #[serde(default)]
    pub device: Option<String>,
}

/// What can be known of a failure: any class but that there was no answer.
fn signatures() -> Vec<&'static str> {
    Class::ALL.into_iter().filter(|class| *class != Class::Lost).map(Class::id).collect()
}

/// Whose matter a known failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The backend is wrong.
    Bug,
    /// The backend cannot do it, and cannot say so in advance by what it declares.
    Unsupported,
    /// The pages can be read otherwise.
    Question,
}

impl Kind {
    /// As files spell it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Unsupported => "unsupported",
            Self::Question => "question",
        }
    }

    /// What it becomes where the cases fail with another class: what a backend calls unsupported is so, and was a bug before, or is
    /// one now where it is called so no more.
    #[must_use]
    pub fn changed(self, from: Class, to: Class) -> Self {
        match self {
            Self::Bug if to == Class::Undeclared => Self::Unsupported,
            Self::Unsupported if from == Class::Undeclared && to != from => Self::Bug,
            kind => kind,
        }
    }
}

/// A range of versions. They compare by the first number with a dot in them, part by part: `Mesa 25.2.8` is from 25.2 and below 26.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsForm {
    /// This version or a later one.
    #[serde(default)]
    pub from: Option<String>,
    /// A version before this one: the one that mends it.
    #[serde(default)]
    pub below: Option<String>,
}
