//! What the pages promise, as YAML that is judged and executed.

mod branching;
mod coverage;
pub mod expression;
pub mod form;
mod judge;
mod judgement;
mod library;
mod load;
mod names;
mod operator;
mod oracle;
mod predicate;
pub mod program;
mod scratch;
mod source;
pub mod yaml;

pub use branching::SemanticBranch;
pub use coverage::{Coverage, Obligation};
pub use judgement::{IdSet, Judgement, Validity};
pub use library::Library;
pub use operator::{
    AlternativeReading, Answer, Branch, Citation, Clause, Example, ModeSupport, Operator, Origin, Question,
    Remark, Scope, Semantics, Support, ValidDesc,
};
pub use oracle::{OracleError, Plan};
pub use predicate::Predicate;
pub use scratch::Scratch;
pub use source::{Diagnostic, LoadError, Source};
