//! `spec/common.yaml`: what all operators share.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ClauseForm, QuestionForm, RemarkForm};

/// What all operators share: feature levels, data types, enumerations, and the rules of buffer tensors.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommonForm {
    /// The page that clauses, questions and remarks of this file cite where they name no other: its name in
    /// the address, such as `ns-directml-dml_buffer_tensor_desc`.
    pub page: String,
    /// The feature levels of `DirectML.h`, oldest first, such as `"2.1"`.
    pub levels: Vec<String>,
    /// The data types of `DirectML.h`.
    pub data_types: Vec<DataTypeForm>,
    /// The enumerations that members may have as their kind.
    #[serde(default)]
    pub enumerations: Vec<EnumerationForm>,
    /// The rules of a buffer tensor: `each: tensor` and `each: tensor axis`, where `Tensor` stands for the
    /// input and the output in turn. A clause `size-positive` becomes `slice1.input.size-positive` and
    /// `slice1.output.size-positive`.
    pub clauses: Vec<ClauseForm>,
    /// What the pages leave open about buffer tensors.
    #[serde(default)]
    pub questions: Vec<QuestionForm>,
    /// What the pages get wrong.
    #[serde(default)]
    pub errata: Vec<RemarkForm>,
    /// What a reader should know besides.
    #[serde(default)]
    pub notes: Vec<RemarkForm>,
}

/// One data type; checked against the program's own table.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataTypeForm {
    /// Without `DML_TENSOR_DATA_TYPE_`: `FLOAT32`.
    pub name: String,
    /// As in `DirectML.h`.
    pub code: u32,
    /// Bits an element.
    pub bits: u32,
    /// How the bits read as a number: `float`, `unsigned` or `signed`.
    pub kind: String,
}

/// One enumeration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumerationForm {
    /// As `DirectML.h` spells it: `DML_PADDING_MODE`.
    pub name: String,
    /// In the order of the header.
    pub enumerators: Vec<EnumeratorForm>,
}

/// One name of an enumeration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumeratorForm {
    /// Without the enumeration's prefix: `REFLECTION`.
    pub name: String,
    /// As in `DirectML.h`.
    pub value: i32,
    /// The feature level that introduced it; without it, as old as the operator that uses it.
    #[serde(default)]
    pub since: Option<String>,
    /// The page that says so; by default the file's.
    #[serde(default)]
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Anything that a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}
