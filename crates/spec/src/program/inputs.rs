//! What a program reads.

use dmlcts_model::{BindingOffsets, Case, Desc, FeatureLevel};

use crate::Validity;

/// What a program reads.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The desc. Its signature must be the one that the program was built for.
    pub desc: &'a Desc,
    /// The feature level to judge at.
    pub level: FeatureLevel,
    /// Where the tensors lie in their buffers; only predicates over cases read it.
    pub binding: BindingOffsets,
    /// What the desc was judged, where somebody asks; only predicates over cases do.
    pub validity: Option<Validity>,
}

impl<'a> Inputs<'a> {
    /// A desc at a feature level, bound at offset 0.
    pub fn new(desc: &'a Desc, level: FeatureLevel) -> Self {
        Self { desc, level, binding: BindingOffsets::default(), validity: None }
    }

    /// A case at a feature level.
    pub fn of_case(case: &'a Case, level: FeatureLevel) -> Self {
        Self { desc: &case.desc, level, binding: case.binding, validity: None }
    }
}
