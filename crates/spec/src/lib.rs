//! What the pages promise, as YAML that is judged and executed.

pub mod expression;
pub mod form;
mod judgement;
mod library;
mod names;
mod operator;
mod predicate;
pub mod program;
mod scratch;
mod source;
pub mod yaml;

pub use judgement::{IdSet, Judgement, Validity};
pub use library::Library;
pub use operator::{
    Answer, Citation, Clause, Example, Operator, Origin, Question, Remark, Scope, Support, ValidDesc,
};
pub use predicate::Predicate;
pub use scratch::Scratch;
pub use source::{Diagnostic, LoadError, Source};
