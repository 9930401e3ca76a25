//! `spec/common.yaml`: what all operators share.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ClauseForm, QuestionForm, RemarkForm};

/// What all operators share: feature levels, data types, enumerations, and the rules of buffer tensors.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommonForm {
    /// The page that this file cites by default: its name in the address, such as
    /// `ns-directml-dml_buffer_tensor_desc`.
    pub page: String,
    /// The feature levels of `DirectML.h`, oldest first, such as `"2.1"`.
    pub levels: Vec<String>,
    /// The data types of `DirectML.h`.
    pub data_types: Vec<DataTypeForm>,
    /// The enumerations that members may have as their kind.
    #[serde(default)]
    pub enumerations: Vec<EnumerationForm>,
    /// The rules of a buffer tensor, with `each: tensor` or `each: tensor axis`. `Tensor` stands for the
    /// input and the output in turn. A clause `size-positive` becomes `slice1.input.size-positive` and
    /// `slice1.output.size-positive`.
    pub clauses: Vec<ClauseForm>,
    /// The points about buffer tensors that the pages leave open.
    #[serde(default)]
    pub questions: Vec<QuestionForm>,
    /// The rules of bindings, which say where a tensor may lie in its buffer.
    #[serde(default)]
    pub bindings: Vec<BindingForm>,
    /// The errors of the pages.
    #[serde(default)]
    pub errata: Vec<RemarkForm>,
    /// Further remarks for readers.
    #[serde(default)]
    pub notes: Vec<RemarkForm>,
}

/// One rule of bindings. A binding is no part of a desc, so that a case that breaks the rule is neither valid
/// nor invalid: it has no defined outcome, and is not run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingForm {
    /// Lower-case words joined by hyphens; unique in the list.
    pub id: String,
    /// The condition that must be true of each tensor. `Binding.Offset` is the tensor's offset in bytes, and
    /// `Tensor` stands for the input and the output in turn. An undefined condition counts as true.
    pub that: String,
    /// The page that is cited; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
}

/// One data type. Loading compares it with the program's own table.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataTypeForm {
    /// The name without `DML_TENSOR_DATA_TYPE_`, such as `FLOAT32`.
    pub name: String,
    /// The value in `DirectML.h`.
    pub code: u32,
    /// The size of an element in bits.
    pub bits: u32,
    /// How the bits represent a number: `float`, `unsigned` or `signed`.
    pub kind: String,
}

/// One enumeration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumerationForm {
    /// The name as `DirectML.h` spells it, such as `DML_PADDING_MODE`.
    pub name: String,
    /// The enumerators, in the order of the header.
    pub enumerators: Vec<EnumeratorForm>,
}

/// One enumerator.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumeratorForm {
    /// The name without the enumeration's prefix, such as `REFLECTION`.
    pub name: String,
    /// The value in `DirectML.h`.
    pub value: i32,
    /// The feature level that introduced it. By default, it is as old as the operator that uses it.
    pub since: Option<String>,
    /// The page that is cited; by default the file's.
    pub page: Option<String>,
    /// The section of the page.
    pub cite: String,
    /// Further information for readers.
    pub note: Option<String>,
}
