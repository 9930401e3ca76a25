//! The rules of bindings. A binding is no part of a desc, so that no clause judges it. The pages define no
//! outcome for a bad one, and a run refuses it.

use dmlcts_model::{Case, FeatureLevel, Side};

use crate::{Citation, Library, Predicate, program::Values};

/// A rule that the binding of one tensor must keep.
#[derive(Debug, Clone)]
pub struct BindingRule {
    /// The id, such as `binding-offset`.
    pub id: String,
    /// The tensor.
    pub side: Side,
    /// The condition that must be true, as text.
    pub text: String,
    /// Holds if the rule is broken.
    pub(crate) broken: Predicate,
    /// The page and section of the rule.
    pub cite: Citation,
    /// Further information for readers.
    pub note: Option<String>,
}

impl Library {
    /// The rules that the bindings of a case break.
    pub fn broken_bindings(&self, case: &Case) -> Vec<&BindingRule> {
        let mut values = Values::default();
        let mut broken = |rule: &&BindingRule| rule.broken.holds(case, FeatureLevel::NEWEST, &mut values);
        self.bindings().iter().filter(|rule| broken(rule)).collect()
    }
}
