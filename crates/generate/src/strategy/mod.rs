//! The ways to expand a spec to cases, one a file. Each knows the spec's clauses, types and levels, and no
//! operator by name.

use std::sync::Arc;

use dmlcts_model::{BindingOffsets, Case, DataType, Desc, Fill, List, Tensor};
use dmlcts_spec::Library;

use crate::Length;

/// What every strategy is: a number of cases, and the case at an index.
pub(crate) trait Generator: Send + Sync {
    /// How many cases there are; the first call may search.
    fn length(&self) -> Length;

    /// Writes the case at an index over `case`, reusing its memory. The index lies within the length.
    fn case(&self, index: u128, case: &mut Case);

    /// What a search did not find, one sentence each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A case of the first operator, to be written over.
pub(crate) fn blank(library: &Library) -> Option<Case> {
    let signature = Arc::clone(library.operators().first()?.signature());
    let tensor = Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    let desc = Desc::usual(signature, tensor.clone(), tensor);
    Some(Case { desc, binding: BindingOffsets::default(), fill: Fill::Iota })
}
