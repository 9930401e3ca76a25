//! The form of `cases/profiles/<name>.yaml` as plain structs, field by field. Unknown keys are rejected. No
//! form is tagged, untagged or flattened, so that a mistake keeps its location.
//!
//! People write the keys above `spec`. The others follow from these keys, the specs and the suites.
//! `DMLCTS_BLESS=1 cargo test -p dmlcts-tests profiles` writes them.

use schemars::JsonSchema;
use serde::Deserialize;

/// A named, versioned promise to which a backend can conform.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileForm {
    /// The profile's name, which is also the name of its file.
    pub profile: String,
    /// The edition of the profile, from 1. Another edition has other cases or other expectations, so a
    /// backend that conforms to one may not conform to the other.
    pub version: u32,
    /// What the profile promises, for people.
    pub summary: String,
    /// The suite, all of whose cases run on a backend.
    pub suite: String,
    /// The seed for all random choices.
    pub seed: u64,
    /// The feature level to judge at. A backend with a higher level that cannot be set to this one rightly
    /// accepts descs that only its own level makes valid. Those cases are left out.
    pub feature_level: String,
    /// The maximum number of bytes of a case: its tensors and the memory that they are compared with. A
    /// larger case is created but not run.
    pub memory: u64,
    /// The BLAKE3 hash of the specs, in hex.
    pub spec: String,
    /// The promise for each operator.
    pub operators: Vec<PromisedForm>,
}

/// The promise for one operator. Both digests are the first half of a BLAKE3 hash, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromisedForm {
    /// The operator.
    pub operator: String,
    /// The number of its cases.
    pub cases: u64,
    /// The number of its cases that are valid and larger than `memory`.
    pub created_only: u64,
    /// The digest of the lines of its cases in order, as `dmlcts list` prints them.
    pub lines: String,
    /// The digest of the expectations of its cases at the profile's level, each after the case's line. An
    /// expectation is a refusal, creation only, the hash of the output's elements, or the answers that open
    /// questions allow. If this stays the same while `spec` changes, only the wording of the specs has
    /// changed.
    pub expectations: String,
}
