//! The YAML files as plain structs: what can be written, field by field. Nothing here is checked beyond its
//! type; `load` does that, and turns forms into [`Operator`](crate::Operator)s. Every form denies unknown
//! keys, and none is a tagged, untagged or flattened enum, so that a mistake keeps its place and an editor
//! can complete every key from the JSON Schema in `spec/schema/`.

mod common;
mod operator;
mod ordered;

pub use common::{CommonForm, DataTypeForm, EnumerationForm, EnumeratorForm};
pub use operator::{
    AllowForm, ClauseForm, DimensionsForm, Each, ExampleForm, OperatorForm, QuestionForm, RemarkForm,
    SemanticsForm, SupportForm, TensorForm,
};
pub use ordered::Ordered;
