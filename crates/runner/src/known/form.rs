//! The form of `cases/known-failures/<backend>.yaml` as plain structs, field by field. Unknown keys are
//! rejected. No form is tagged, untagged or flattened, so that a mistake keeps its location.

use dmlcts_model::named_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Class;

/// The known failures of a backend.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownFailuresForm {
    /// The backend's own name, as the summary of a run shows it after "on".
    pub backend: String,
    /// The failures, one entry for each cause.
    pub failures: Vec<KnownFailureForm>,
}

/// Cases that fail for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownFailureForm {
    /// The id: lower-case words joined by hyphens, unique among all files of a run.
    pub id: String,
    /// The names of the suites that the entry was made from. A complete run of one of them shows whether the
    /// entry is still true. In any other run, the entry only sets the expectation of the cases that it
    /// matches.
    pub suites: Vec<String>,
    /// The cases, by a predicate in the language of the specs, such as `operator == SLICE1 and any axis
    /// InputWindowStrides < 0`. Cases that cannot fail in this way are left out automatically: an invalid
    /// desc has no output that could be wrong, and an output without NaNs cannot lose their bits. Otherwise
    /// the predicate must hold only for cases that fail.
    #[serde(default, rename = "where")]
    pub filter: Option<String>,
    /// The cases one by one, as `dmlcts list` prints them, if no predicate separates them from those that
    /// pass.
    #[serde(default)]
    pub cases: Option<Vec<String>>,
    /// How the cases fail. A case that fails in another way is unexpected.
    #[schemars(extend("enum" = signatures()))]
    pub signature: String,
    /// The kind of cause.
    pub kind: Kind,
    /// Why the cases fail, for readers of the list.
    pub reason: String,
    /// The address of an issue about the failure.
    #[serde(default)]
    pub link: Option<String>,
    /// The entry applies only to these versions of the backend.
    #[serde(default)]
    pub version: Option<BoundsForm>,
    /// The entry applies only to these versions of the driver.
    #[serde(default)]
    pub driver: Option<BoundsForm>,
    /// The entry applies only if the device's name contains this, regardless of case.
    #[serde(default)]
    pub device: Option<String>,
}

/// The possible signatures: every class except [`Class::Lost`].
fn signatures() -> Vec<&'static str> {
    Class::ALL.into_iter().filter(|class| *class != Class::Lost).map(Class::id).collect()
}

named_enum! {
    /// The kind of cause of a known failure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Kind: id {
        /// The backend is wrong.
        Bug = "bug",
        /// The backend does not support the cases, and its declaration cannot express that.
        Unsupported = "unsupported",
        /// The pages can be read in another way.
        Question = "question",
    }
}

impl Kind {
    /// The kind after a change of class. If the backend calls the cases unsupported, a bug becomes
    /// `Unsupported`. If it no longer does, `Unsupported` becomes a bug.
    #[must_use]
    pub fn changed(self, from: Class, to: Class) -> Self {
        match self {
            Self::Bug if to == Class::Undeclared => Self::Unsupported,
            Self::Unsupported if from == Class::Undeclared && to != from => Self::Bug,
            kind => kind,
        }
    }
}

/// A range of versions. Versions compare by their first number with a dot, part by part: `Mesa 25.2.8` is
/// from 25.2 and below 26.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsForm {
    /// This version and later ones.
    #[serde(default)]
    pub from: Option<String>,
    /// Versions before this one, which fixes the failure.
    #[serde(default)]
    pub below: Option<String>,
}
