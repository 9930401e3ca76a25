//! What a program reads.

use dmlcts_model::{BindingOffsets, Case, Desc, FeatureLevel};

use crate::{Data, IdSet, Validity};

/// What a program reads.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The desc. Its signature must be the one that the program was built for.
    pub desc: &'a Desc,
    /// The feature level to judge at.
    pub level: FeatureLevel,
    /// Where the tensors lie in their buffers; only predicates over cases read it.
    pub binding: BindingOffsets,
    /// What the judge said of the desc, if the program has a [`Leaf`](super::Leaf) for it; only predicates
    /// over cases do.
    pub judged: Option<Judged>,
    /// The data that the case moves, if the program has a [`Leaf`](super::Leaf) for them; only predicates
    /// over cases do. `None` is undefined.
    pub data: Option<Data>,
}

/// What the judge said of a desc, as predicates ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether it is valid.
    pub validity: Validity,
    /// The number of clauses that it violates.
    pub violations: usize,
    /// The code of the violated clause, if all violated clauses have one name.
    pub violation: Option<i64>,
    /// The names of the violated clauses, by their indices in
    /// [`Operator::clause_names`](crate::Operator::clause_names).
    pub names: IdSet,
}

impl<'a> Inputs<'a> {
    /// A desc at a feature level, bound at offset 0.
    pub fn new(desc: &'a Desc, level: FeatureLevel) -> Self {
        Self { desc, level, binding: BindingOffsets::default(), judged: None, data: None }
    }

    /// A case at a feature level.
    pub fn of_case(case: &'a Case, level: FeatureLevel) -> Self {
        Self { desc: &case.desc, level, binding: case.binding, judged: None, data: None }
    }
}
