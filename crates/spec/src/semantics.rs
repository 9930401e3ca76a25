//! What an operator computes, as its page says it or as a question lets it be read.

use crate::{
    Citation,
    expression::{Expression, Term},
};

/// A reading that a question allows besides the semantics: what is read on the axes where the question
/// arises. The `n`-th of an operator is reading `n + 1`; reading 0 is the semantics.
#[derive(Debug)]
pub struct AlternativeReading {
    /// The place of its question.
    pub question: usize,
    /// The input coordinate that output coordinate `c` reads, or `fill`.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
}

/// What the operator computes.
#[derive(Debug)]
pub struct Semantics {
    /// The place of the enumeration member that chooses among the branches; `None` where there is one branch.
    pub by: Option<usize>,
    /// What is read; one for each enumerator, or a single one.
    pub branches: Vec<Branch>,
    /// The place of the scalar member that an element holds as soon as one axis says `fill`.
    pub fill: Option<usize>,
    /// Who says so.
    pub cite: Citation,
    /// Anything that a reader should know.
    pub note: Option<String>,
}

/// One branch of the semantics.
#[derive(Debug)]
pub struct Branch {
    /// The enumerator that chooses it, by name; `None` where nothing chooses.
    pub name: Option<String>,
    /// The same enumerator's value.
    pub value: Option<i64>,
    /// The input coordinate that output coordinate `c` reads, or `fill`.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
}
