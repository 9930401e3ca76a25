//! Labels: what a backend did with a case, as far as the learner needs to know it.

use dmlcts_model::Case;

/// What happened to a case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Label {
    /// The backend did what the spec demands.
    Passed,
    /// The backend failed in this class. The learner only compares classes.
    Failed(String),
    /// The case says nothing: it was skipped, created only, or left open by the spec.
    Unknown,
}

/// A case and its label.
#[derive(Clone, PartialEq, Debug)]
pub struct Labelled {
    /// The case.
    pub case: Case,
    /// What happened to it.
    pub label: Label,
}

impl Labelled {
    /// Whether it failed, in any class.
    pub fn is_failure(&self) -> bool {
        matches!(self.label, Label::Failed(_))
    }
}

/// Runs cases and tells what happened to each, in their order.
pub type Ask<'a> = dyn FnMut(&[Case]) -> Vec<Label> + 'a;
