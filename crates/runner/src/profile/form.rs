//! `cases/profiles/<name>.yaml` as plain structs: what can be written, field by field. Unknown keys are denied, and no
//! form is tagged, untagged or flattened, so that a mistake keeps its place.
//!
//! People write what stands above `spec`. The rest follows from it, from the specs and from the suites, and is written by
//! `DMLCTS_BLESS=1 cargo test -p dmlcts-tests --test profiles`.

use schemars::JsonSchema;
use serde::Deserialize;

/// A named, versioned promise: what a backend can say it conforms to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileForm {
    /// The profile's name, which is the file's too.
    pub profile: String,
    /// Which edition of it this is, from 1. Another edition has other cases, or expects something else of them: whoever conforms to
    /// one may not conform to the other.
    pub version: u32,
    /// What is promised, and who promises it.
    pub summary: String,
    /// The suite whose cases are put to a backend, all of them.
    pub suite: String,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The feature level that a backend is held to. One that has a higher level and cannot be set to this one rightly accepts what only its own
    /// makes valid: such cases are left out.
    pub feature_level: String,
    /// How many bytes a case may take, its tensors and what they are compared with together. A larger one is created and not run.
    pub memory: u64,
    /// The BLAKE3 hash of the specs, in hex.
    pub spec: String,
    /// What is promised of each operator.
    pub operators: Vec<PromisedForm>,
}

/// What is promised of an operator. Both digests are the first half of a BLAKE3 hash, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromisedForm {
    /// The operator.
    pub operator: String,
    /// How many cases it has.
    pub cases: u64,
    /// How many of them are valid and larger than `memory`.
    pub created_only: u64,
    /// The digest of the lines of its cases in their order, as `dmlcts list` prints them.
    pub lines: String,
    /// The digest of what is expected of each case at the profile's level, behind its line: refused, created only, the hash of its
    /// output's elements, or the answers that open questions allow. Where it stays while `spec` changes, the specs say the same in other words.
    pub expectations: String,
}
