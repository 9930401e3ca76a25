//! Descs that no case has at the moment, for their memory.
//!
//! A case is written over the desc of an earlier one, which is quick where both are of one operator: of another, its members
//! have to be made anew, and its signature is shared with the other threads, which then fight for the count of its owners.

use std::sync::Arc;

use dmlcts_model::{DataType, Desc, List, Signature, Tensor};

use crate::deal::Shared;

/// Descs by the place of their operator in the library.
#[derive(Debug, Default)]
pub(crate) struct DescPool {
    #[expect(clippy::vec_box, reason = "a desc changes hands by its pointer, to cases and from them")]
    rows: Vec<Vec<Box<Desc>>>,
    /// The operator of the case that was read last, which the next one will mostly be of.
    last: usize,
}

impl DescPool {
    /// Takes note that a case was read into this desc.
    pub(crate) fn note(&mut self, desc: &Desc, shared: &Shared) {
        if let Some((place, _)) = shared.operator_of(desc) {
            self.last = place;
        }
    }

    /// Changes a desc that the next case is to be read into for one of the operator that this case will probably be of.
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

/// A desc of an operator, to be written over.
pub(crate) fn any_desc(signature: Arc<Signature>) -> Desc {
    let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    Desc::usual(signature, unit(), unit())
}
