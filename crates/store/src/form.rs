//! A finding's file as plain structs, field by field. Unknown keys are rejected. No form is tagged, untagged
//! or flattened, so that a mistake keeps its location.

use dmlcts_runner::{Applies, CauseKind, Class, Status};
use schemars::JsonSchema;
use serde::Deserialize;

/// A finding: cases that fail on a backend for one reason.
///
/// `accept` writes it. `reason`, `link`, `kind`, `partial`, `flaky`, `applies` and comments are a person's:
/// `accept` keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingFile {
    /// The id: the name of the file without `.yaml`. It stays, also if the predicate changes.
    pub finding: String,
    /// Whether the failures are expected.
    pub status: Status,
    /// The kind of cause.
    pub kind: CauseKind,
    /// The cases, by a predicate in the language of the specs, such as `operator == SLICE1 and any axis
    /// InputWindowStrides < 0`. Cases that cannot fail in this way are left out automatically: an invalid
    /// desc has no output that could be wrong, and an output without NaNs cannot lose their bits. Every other
    /// case for which it holds is expected to fail. Without a predicate, `smallest` and `cases` are all.
    #[serde(default, rename = "where")]
    pub filter: Option<String>,
    /// How the cases fail, the most severe first. A case that fails in another way is unexpected.
    #[schemars(extend("items" = serde_json::json!({"enum": classes()}), "minItems" = 1))]
    pub class: Vec<String>,
    /// What the run that wrote the file says of the predicate.
    #[serde(default)]
    pub evidence: Option<EvidenceForm>,
    /// The smallest case that is known to fail, as `dmlcts list` prints cases.
    pub smallest: String,
    /// What the backend does with the smallest case, in a sentence.
    #[serde(default)]
    pub answer: Option<String>,
    /// The digest of the wrong output of the smallest case, in 16 hexadecimal digits. Another output is
    /// unexpected.
    #[serde(default)]
    pub output: Option<String>,
    /// Other cases that fail: a few with `where`, and all without it.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Whether only some of the cases fail, and the others may pass.
    #[serde(default)]
    pub partial: bool,
    /// Whether the cases fail from time to time, and may pass.
    #[serde(default)]
    pub flaky: bool,
    /// The backends to which the finding applies; every version and device if it is left out.
    #[serde(default)]
    pub applies: Option<Applies>,
    /// The runs that saw the failures.
    #[serde(default)]
    pub seen: Option<SeenForm>,
    /// Why the cases fail.
    #[serde(default)]
    pub reason: Option<String>,
    /// The address of an issue about the failure.
    #[serde(default)]
    pub link: Option<String>,
}

/// What a run says of a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceForm {
    /// Of the cases for which it holds, those that failed: `3000 of 3000`.
    pub inside: String,
    /// Of the fresh cases for which it does not hold, those that failed: `0 of 3000`.
    #[serde(default)]
    pub outside: Option<String>,
    /// The first digits of the spec's hash.
    pub spec: String,
}

/// The runs that saw the failures of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenForm {
    /// The first version of the backend that failed.
    pub first: String,
    /// The last version of the backend that failed.
    pub last: String,
    /// The driver and the device of the last one, if it names any.
    #[serde(default)]
    pub with: Option<String>,
}

/// The classes that a finding can have: every class except [`Class::Lost`].
pub(crate) fn classes() -> Vec<&'static str> {
    Class::ALL.into_iter().filter(|class| *class != Class::Lost).map(Class::id).collect()
}
