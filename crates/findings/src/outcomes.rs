//! The cases of a run, and which of them failed.

use std::collections::BTreeMap;

use dmlcts_model::Case;

/// The failures and passes of a run, by their indices.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// The failures, each with its kind. Failures of different kinds have different causes.
    pub failures: BTreeMap<u64, String>,
    /// The cases that passed. Cases that say nothing are in neither.
    pub passes: Vec<u64>,
}

/// The cases of a run. Closures read them, and take each pass for evidence.
pub trait Cases {
    /// The case at an index.
    fn read(&mut self, index: u64) -> Case;

    /// The kind of failure of its operator that the data of a pass could not have shown, if there is one.
    fn blind_to(&mut self, index: u64, case: &Case) -> Option<String> {
        let _ = (index, case);
        None
    }
}

impl<F: FnMut(u64) -> Case> Cases for F {
    fn read(&mut self, index: u64) -> Case {
        self(index)
    }
}
