//! Unused descs, kept for their memory.
//!
//! A case is written over the desc of an earlier case, which is quick if both have the same operator.
//! Otherwise the members must be made anew. The signature, too, must be cloned, and threads then contend for
//! its reference count.

use std::sync::Arc;

use dmlcts_model::{DataType, Desc, List, Signature, Tensor};

use crate::shared::Shared;

/// Unused descs, by the index of their operator in the library.
#[derive(Debug, Default)]
pub(crate) struct DescPool {
    #[expect(clippy::vec_box, reason = "a desc changes hands by its pointer, to cases and from them")]
    rows: Vec<Vec<Box<Desc>>>,
    /// The operator of the case that was read last. The next case usually has the same one.
    last: usize,
}

impl DescPool {
    /// Records that a case was read into this desc.
    pub(crate) fn note(&mut self, desc: &Desc, shared: &Shared) {
        if let Some((place, _)) = shared.operator_of(desc) {
            self.last = place;
        }
    }

    /// Replaces a desc, which the next case will be read into, with one of the operator that this case
    /// probably has.
    pub(crate) fn exchange(&mut self, desc: &mut Box<Desc>, shared: &Shared) {
        let Some(operator) = shared.library.operators().get(self.last) else { return };
        if Arc::ptr_eq(&desc.signature, operator.signature()) {
            return;
        }
        let Some((place, _)) = shared.operator_of(desc) else { return };
        self.rows.resize_with(shared.library.operators().len(), Vec::new);
        let other = self.rows[self.last].pop();
        let other = other.unwrap_or_else(|| Box::new(any_desc(Arc::clone(operator.signature()))));
        self.rows[place].push(std::mem::replace(desc, other));
    }
}

/// Some desc of an operator, whose values do not matter.
pub(crate) fn any_desc(signature: Arc<Signature>) -> Desc {
    let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    Desc::usual(signature, unit(), unit())
}
