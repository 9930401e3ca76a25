//! `spec/<operator>.yaml`: one operator.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Ordered;

/// One operator: what its page promises, executable.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorForm {
    /// Without `DML_` and `_OPERATOR_DESC`: `SLICE1`.
    pub operator: String,
    /// The feature level that introduced the operator.
    pub introduced: String,
    /// The page that everything in this file cites where it names no other: its name in the address, such
    /// as `ns-directml-dml_slice1_operator_desc`.
    pub page: String,
    /// What the operator does, in a sentence.
    pub summary: String,
    /// The members of the struct after the two tensors, in order, each with its kind: `count` (the UINT that
    /// says how long the lists are), `u32`, `i32`, `u32[]`, `i32[]` (one value an axis), `data_type`, `scalar`
    /// (the 8-byte union), or the name of an enumeration.
    pub members: Ordered<String>,
    /// What is supported from which level on. Each row changes what it names and leaves the rest as it was.
    pub support: Vec<SupportForm>,
    /// Names for expressions, usable below; each may use those above it. On an axis, a list stands for its
    /// value there.
    #[serde(default, rename = "let")]
    pub lets: Ordered<String>,
    /// What a valid desc keeps.
    #[serde(default)]
    pub clauses: Vec<ClauseForm>,
    /// What the operator computes.
    pub semantics: SemanticsForm,
    /// What the page leaves open.
    #[serde(default)]
    pub questions: Vec<QuestionForm>,
    /// The page's examples, with their tensors in full.
    #[serde(default)]
    pub examples: Vec<ExampleForm>,
    /// What the page gets wrong, where no single clause is the place to say it.
    #[serde(default)]
    pub errata: Vec<RemarkForm>,
    /// What a reader should know besides.
    #[serde(default)]
    pub notes: Vec<RemarkForm>,
}

/// What is supported from a level on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupportForm {
    /// The level.
    pub since: String,
    /// How many dimensions a tensor may have; as before where absent.
    #[serde(default)]
    pub dimensions: Option<DimensionsForm>,
    /// The data types that a tensor may have; as before where absent.
    #[serde(default)]
    pub types: Option<Vec<String>>,
    /// The page that says so; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// A range of dimension counts, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionsForm {
    /// At least so many.
    pub min: u32,
    /// At most so many, and never more than 8.
    pub max: u32,
}

/// What a clause or question is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Each {
    /// The desc as a whole.
    #[default]
    #[serde(rename = "desc")]
    Desc,
    /// Each axis of the desc, where a list stands for its value on the axis.
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
    /// Lower case, words joined by hyphens; unique in the file.
    pub id: String,
    /// What it is asked of; by default the desc as a whole.
    #[serde(default)]
    pub each: Each,
    /// The clauses that must hold for this one to be judged at all. A clause that reads a list is given that
    /// the lists are there and agree, without saying so.
    #[serde(default)]
    pub given: Vec<String>,
    /// What must be true.
    pub that: String,
    /// The page that says so; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
    /// What the page gets wrong here, and what it is taken to mean.
    #[serde(default)]
    pub erratum: Option<String>,
}

/// A point that the page leaves open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionForm {
    /// Lower case, words joined by hyphens; unique in the file.
    pub id: String,
    /// What it is asked of; by default the desc as a whole.
    #[serde(default)]
    pub each: Each,
    /// The clauses that must hold for it to be asked at all.
    #[serde(default)]
    pub given: Vec<String>,
    /// Where it arises. An expression that is undefined counts as false.
    pub when: String,
    /// The answers that are recorded; any other is a failure.
    pub allow: Vec<AllowForm>,
    /// The page that leaves it open; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// One answer to a question; exactly one of the keys is present.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowForm {
    /// The desc is refused as invalid.
    #[serde(default)]
    pub reject: bool,
    /// It is accepted, and what comes out is left open too.
    #[serde(default)]
    pub accept: bool,
    /// It is accepted, and the semantics hold.
    #[serde(default)]
    pub semantics: bool,
    /// It is accepted, and this is the coordinate read wherever the question arises.
    #[serde(default)]
    pub read: Option<String>,
}

/// What the operator computes. On each axis, output coordinate `c` reads one input coordinate, or is fill.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SemanticsForm {
    /// The input coordinate that output coordinate `c` reads, or `fill`; where `by` is absent.
    #[serde(default)]
    pub read: Option<String>,
    /// The enumeration member that chooses among `reads`.
    #[serde(default)]
    pub by: Option<String>,
    /// For each enumerator, the input coordinate that output coordinate `c` reads, or `fill`.
    #[serde(default)]
    pub reads: Ordered<String>,
    /// The scalar member that an element holds as soon as one axis says `fill`.
    #[serde(default)]
    pub fill: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// One example of the page.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleForm {
    /// Lower case, words joined by hyphens; unique in the file.
    pub id: String,
    /// The page; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// The desc as a case line without its `fill`.
    pub desc: String,
    /// What goes in.
    pub input: TensorForm,
    /// What comes out.
    pub output: TensorForm,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// A tensor of an example.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TensorForm {
    /// Its innermost rows, one after the other.
    #[schemars(with = "Vec<Vec<f64>>")]
    pub rows: Vec<Vec<serde_yaml::Number>>,
}

/// An erratum or a note that belongs to no single clause.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemarkForm {
    /// Lower case, words joined by hyphens; unique in the file.
    pub id: String,
    /// The page; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// What there is to say.
    pub text: String,
}
