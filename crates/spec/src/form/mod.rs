//! The YAML files as plain structs, field by field. Deserialization only checks types; `load` checks the rest
//! and turns forms into [`Operator`](crate::Operator)s. Every form denies unknown keys. No form is a tagged,
//! untagged or flattened enum, so that every mistake has a position, and an editor can complete every key
//! from the JSON Schema in `spec/schema/`.

mod common;
mod operator;
mod ordered;

pub use common::{BindingForm, CommonForm, DataTypeForm, EnumerationForm, EnumeratorForm};
pub use operator::{
    AllowForm, ClauseForm, DimensionsForm, Each, ExampleForm, OperatorForm, QuestionForm, RemarkForm,
    SemanticsForm, SupportForm, TensorForm,
};
pub use ordered::Ordered;
