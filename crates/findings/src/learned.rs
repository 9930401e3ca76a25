//! What was learned about failures: predicates with their counts.

use dmlcts_spec::Validity;

use crate::experiment::Estimate;

/// What was learned about the failures of one class, of one operator's valid or invalid descs.
#[derive(Clone, PartialEq, Debug)]
pub struct Learned {
    /// The operator.
    pub operator: String,
    /// The class of the failures.
    pub class: String,
    /// Whether the failing descs are valid or invalid. The predicates are about such descs alone. Experiments
    /// ask an invalid desc only if it breaks every clause that some known failure breaks.
    pub validity: Validity,
    /// One condition for each cause. Empty if every case fails, or if no condition was found; in the second
    /// case, `wrong` is not 0.
    pub predicates: Vec<LearnedRule>,
    /// Whether the predicates together are right about every labelled case and every fresh one.
    pub exact: bool,
    /// What fresh cases say of the predicates together; `None` if none were asked.
    pub estimate: Option<Estimate>,
    /// The labelled cases that the predicates get wrong, with those that were asked.
    pub wrong: usize,
    /// Whether the search ended early because the language seems to lack the cause.
    pub is_lost: bool,
    /// The rounds of experiments.
    pub rounds: usize,
    /// The cases that were asked.
    pub asked: usize,
    /// The answers that the predicates at that time got wrong.
    pub counterexamples: usize,
    /// The most cases that were asked on each side after the search; 0 if none were. The estimate is of these
    /// cases.
    pub weighed: usize,
}

impl Learned {
    /// Whether both are about the same failures.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.operator == other.operator && self.class == other.class && self.validity == other.validity
    }
}

/// One predicate on the cases of an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnedRule {
    /// The condition on cases of the operator, in the language of the specs.
    pub condition: String,
    /// The number of its atoms.
    pub conditions: usize,
    /// The labelled failures for which it holds.
    pub held_failing: usize,
    /// The labelled passes for which it holds.
    pub held_passing: usize,
    /// What the cases that were asked after the search say of it; `None` if none were.
    pub estimate: Option<Estimate>,
}
