//! Labels: what a backend did with a case, as far as the learner needs to know it.

use dmlcts_model::Case;

/// What happened to a case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Label {
    /// The backend did what the spec demands.
    Passed,
    /// It passed, but its data could not have shown a failure of this class. For other classes it is a pass.
    Blind(String),
    /// The backend failed in this class. The learner only compares classes.
    Failed(String),
    /// The case says nothing: it was skipped, created only, or left open by the spec.
    Unknown,
}

impl Label {
    /// Whether the case counts as a failure of a class (true) or as a pass (false), if it says either.
    pub(crate) fn failed(&self, class: &str) -> Option<bool> {
        match self {
            Self::Failed(failed) if failed == class => Some(true),
            Self::Passed => Some(false),
            Self::Blind(to) if to != class => Some(false),
            _ => None,
        }
    }
}

/// A case and its label.
#[derive(Clone, PartialEq, Debug)]
pub struct Labelled {
    /// The case.
    pub case: Case,
    /// What happened to it.
    pub label: Label,
}

/// Runs cases for experiments. Closures do so without limits.
pub trait Ask {
    /// Runs cases and tells what happened to each, in their order. A case that is not run is unknown.
    fn ask(&mut self, cases: &[Case]) -> Vec<Label>;

    /// The next cases are about the failures of an operator in a class. Limits on the cost of one search
    /// begin anew.
    fn begin(&mut self, operator: &str, class: &str) {
        let _ = (operator, class);
    }

    /// The next cases are the evidence for predicates of such failures.
    fn begin_evidence(&mut self, operator: &str, class: &str) {
        let _ = (operator, class);
    }

    /// The evidence is complete.
    fn end_evidence(&mut self) {}

    /// The rounds of a search ended at a limit, although answers still contradicted the rules.
    fn cut(&mut self, limit: RoundLimit) {
        let _ = limit;
    }
}

/// A limit on the rounds of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundLimit {
    /// The number of cases.
    Cases,
    /// The number of candidates that were examined.
    Candidates,
}

impl<F: FnMut(&[Case]) -> Vec<Label>> Ask for F {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        self(cases)
    }
}
