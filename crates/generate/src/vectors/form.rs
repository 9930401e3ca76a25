//! `cases/vectors/<name>.yaml` as plain structs, field by field. Unknown keys are denied.

use dmlcts_spec::form::TensorForm;
use schemars::JsonSchema;
use serde::Deserialize;

/// Test vectors that were taken from another project. They are evidence that does not depend on the spec.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorsForm {
    /// The name of the file.
    pub vectors: String,
    /// The origin of the values.
    pub source: SourceForm,
    /// How the values were taken from the source.
    pub method: String,
    /// The vectors.
    pub cases: Vec<VectorForm>,
}

/// The origin of a file's values.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceForm {
    /// The project's name.
    pub name: String,
    /// The version or commit.
    pub version: String,
    /// The address of that version.
    pub url: String,
    /// The SPDX identifier of its licence. `NOTICE.md` holds the notice.
    pub license: String,
    /// The date of retrieval, such as `"2026-11-23"`.
    pub retrieved: String,
}

/// One vector: one input, and what it becomes. Either `output`, `rejected` or `seen` is present.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorForm {
    /// Lower-case words joined by hyphens; unique in the file.
    pub id: String,
    /// The name of the test in the source, or the names of tests with the same data.
    pub test: String,
    /// Case lines without `fill`. Each has this input and this output, and is a case.
    pub descs: Vec<String>,
    /// The input.
    pub input: TensorForm,
    /// The output that the source expects.
    pub output: Option<TensorForm>,
    /// True if the source expects a refusal.
    #[serde(default)]
    pub rejected: bool,
    /// For a desc that the spec leaves open: the answers that were seen. Each must be one that the question
    /// allows. They are provenance: a run demands no more than the question does.
    #[serde(default)]
    pub seen: Vec<SeenForm>,
    /// Further information for readers.
    pub note: Option<String>,
}

/// An answer that was seen. Either `output` or `rejected` is present.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenForm {
    /// The implementation that gave the answer.
    pub by: String,
    /// Its output.
    pub output: Option<TensorForm>,
    /// True if it refused the desc.
    #[serde(default)]
    pub rejected: bool,
    /// Further information for readers.
    pub note: Option<String>,
}
