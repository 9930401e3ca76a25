//! Passes that say nothing about a failure, because their data could not have shown it.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_findings::{Cases, has_only_distinct_elements};
use dmlcts_model::Case;
use dmlcts_runner::{Class, Difference, runs_on_other_data};

use crate::finding::FailureKind;

/// How the wrong outputs of each operator failed, as far as the data of a case decide whether it can fail so.
pub(crate) type DataDependent = BTreeMap<&'static str, BTreeSet<Class>>;

/// Whether not all data show a failure of this class.
pub(crate) fn is_data_dependent(class: Class) -> bool {
    matches!(class, Class::Output(Difference::WrongValue) | Class::OutsideQuestion | Class::Remembered)
}

/// The cases of a run, for the search for causes.
pub(crate) struct CasesOfRun<'a> {
    pub(crate) read: &'a mut dyn FnMut(u64) -> Case,
    pub(crate) dependent: &'a DataDependent,
}

impl Cases for CasesOfRun<'_> {
    fn read(&mut self, index: u64) -> Case {
        (self.read)(index)
    }

    /// A case shows an element from a wrong place if its elements differ, and what an operator remembers if
    /// it ran on other data, too.
    fn blind_to(&mut self, index: u64, case: &Case) -> Option<String> {
        let classes = self.dependent.get(case.desc.signature.operator.as_str())?;
        let shows = classes.iter().all(|class| match class {
            Class::Remembered => runs_on_other_data(index, case),
            _ => has_only_distinct_elements(case),
        });
        (!shows).then(|| FailureKind::Wrong.to_string())
    }
}
