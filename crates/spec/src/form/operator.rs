//! `spec/<operator>.yaml`: one operator.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Ordered;

/// One operator: the promises of its page in executable form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorForm {
    /// The name without `DML_` and `_OPERATOR_DESC`, such as `SLICE1`.
    pub operator: String,
    /// The feature level that introduced the operator.
    pub introduced: String,
    /// The page that this file cites by default: its name in the address, such as
    /// `ns-directml-dml_slice1_operator_desc`.
    pub page: String,
    /// What the operator does, in one sentence.
    pub summary: String,
    /// The members of the struct after the two tensors, in order, and their kinds. A kind is `count` (the
    /// UINT with the length of the lists), `u32`, `i32`, `u32[]`, `i32[]` (one value per axis), `data_type`,
    /// `scalar` (the 8-byte union), or the name of an enumeration.
    pub members: Ordered<String>,
    /// The support rows, oldest first. Values that a row leaves out are as in the row before.
    pub support: Vec<SupportForm>,
    /// Named expressions for use in the rest of the file. Each may use the names above it. On an axis, a
    /// list's name means its value there.
    #[serde(default, rename = "let")]
    pub lets: Ordered<String>,
    /// The conditions that every valid desc satisfies.
    #[serde(default)]
    pub clauses: Vec<ClauseForm>,
    /// The operator's semantics.
    pub semantics: SemanticsForm,
    /// The points that the page leaves open.
    #[serde(default)]
    pub questions: Vec<QuestionForm>,
    /// The page's examples, with complete tensors.
    #[serde(default)]
    pub examples: Vec<ExampleForm>,
    /// Errors of the page that belong to no single clause.
    #[serde(default)]
    pub errata: Vec<RemarkForm>,
    /// Further remarks for readers.
    #[serde(default)]
    pub notes: Vec<RemarkForm>,
}

/// The data types and dimension counts that are supported from a level on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupportForm {
    /// The feature level.
    pub since: String,
    /// The number of dimensions that a tensor may have; by default as in the row before.
    pub dimensions: Option<DimensionsForm>,
    /// The data types that a tensor may have; by default as in the row before.
    pub types: Option<Vec<String>>,
    /// The page that is cited; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
}

/// A range of dimension counts, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionsForm {
    /// The least number of dimensions.
    pub min: u32,
    /// The greatest number of dimensions, at most 8.
    pub max: u32,
}

/// What a clause or question applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Each {
    /// The desc as a whole.
    #[default]
    #[serde(rename = "desc")]
    Desc,
    /// Each axis of the desc. A list's name means its value on the axis.
    #[serde(rename = "axis")]
    Axis,
    /// Each of the two tensors, as a whole; in common.yaml only.
    #[serde(rename = "tensor")]
    Tensor,
    /// Each axis of each of the two tensors; in common.yaml only.
    #[serde(rename = "tensor axis")]
    TensorAxis,
}

/// One normative statement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClauseForm {
    /// Lower-case words joined by hyphens; unique in the file.
    pub id: String,
    /// What it applies to; by default the desc as a whole.
    #[serde(default)]
    pub each: Each,
    /// The clauses that must hold before this one is judged. That lists are present and have equal lengths is
    /// implied for a clause that reads lists.
    #[serde(default)]
    pub given: Vec<String>,
    /// The condition that must be true.
    pub that: String,
    /// The page that is cited; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
    /// The error of the page that this clause corrects, and the assumed meaning.
    pub erratum: Option<String>,
}

/// A point that the page leaves open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionForm {
    /// Lower-case words joined by hyphens; unique in the file.
    pub id: String,
    /// What it applies to; by default the desc as a whole.
    #[serde(default)]
    pub each: Each,
    /// The clauses that must hold before the question is raised.
    #[serde(default)]
    pub given: Vec<String>,
    /// The condition that raises the question. An undefined condition counts as false.
    pub when: String,
    /// The answers that are recorded; any other answer is a failure.
    pub allow: Vec<AllowForm>,
    /// The page that leaves it open; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
}

/// One answer to a question. Exactly one of the keys is present.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowForm {
    /// The desc is refused as invalid.
    #[serde(default)]
    pub reject: bool,
    /// The desc is accepted, with any output.
    #[serde(default)]
    pub accept: bool,
    /// The desc is accepted, and the output follows the semantics.
    #[serde(default)]
    pub semantics: bool,
    /// The desc is accepted, and this is the coordinate that is read on the axes that raise the question.
    pub read: Option<String>,
}

/// The operator's semantics. On each axis, output coordinate `c` reads one input coordinate or `fill`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SemanticsForm {
    /// The input coordinate that output coordinate `c` reads, or `fill`; required without `by`.
    pub read: Option<String>,
    /// The enumeration member that chooses among `reads`.
    pub by: Option<String>,
    /// For each enumerator, the input coordinate that output coordinate `c` reads, or `fill`.
    #[serde(default)]
    pub reads: Ordered<String>,
    /// The scalar member whose value an element gets if any axis reads `fill`.
    pub fill: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
}

/// One example of the page.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleForm {
    /// Lower-case words joined by hyphens; unique in the file.
    pub id: String,
    /// The page; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// The desc as a case line without `fill`.
    pub desc: String,
    /// The input.
    pub input: TensorForm,
    /// The expected output.
    pub output: TensorForm,
    /// Further information for readers.
    pub note: Option<String>,
}

/// The elements of a packed tensor. Exactly one of the keys is present.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TensorForm {
    /// The tensor's innermost rows, in order.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Vec<f64>>>")]
    pub rows: Option<Vec<Vec<serde_json::Number>>>,
    /// The tensor's bytes, two hex digits each. White space means nothing.
    pub hex: Option<String>,
}

/// An erratum or a note that belongs to no single clause. A note with `when` states what the pages expect of
/// certain valid descs, and a suite must have such a desc.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemarkForm {
    /// Lower-case words joined by hyphens; unique in the file.
    pub id: String,
    /// The page; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// The text of the remark.
    pub text: String,
    /// The valid descs that a note is about: a condition on the desc as a whole. Errata have none.
    pub when: Option<String>,
}
