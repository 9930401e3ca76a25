//! The rules for one class of failures together, and what they cost.

use crate::{atom::Atom, pool::Candidate, rule::Rule, universe::Universe};

/// The cost of rules that are not exact.
const WRONG: usize = 40;
/// The cost of wrong cases, in units of a rule's weight, if their number is that of the failures or that of
/// the passes, the smaller one. So a rule that holds for every case costs no less than no rule.
const ERROR: usize = 1000;

/// The rules that explain the failures of a universe.
#[derive(Clone, Default)]
pub(crate) struct RuleSet {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) rules: Vec<Rule>,
    /// Other rules that explain the same cases, for experiments to decide between.
    pub(crate) others: Vec<Rule>,
    /// Conditions that hold for all failures, for substitutes.
    pub(crate) candidates: Vec<Candidate>,
    /// Whether all rules have one cause, which shows differently in each mode.
    pub(crate) is_by_mode: bool,
}

impl RuleSet {
    /// Whether a rule holds for a case.
    pub(crate) fn hold(&self, universe: &Universe<'_>, case: usize) -> bool {
        self.rules.iter().any(|rule| rule.holds(&self.atoms, universe, case))
    }

    /// How hard the rules are to read.
    pub(crate) fn weight(&self) -> u32 {
        self.rules.iter().map(|rule| rule.weight(&self.atoms)).sum()
    }

    /// What the rules cost: their weights, and what they get wrong. So one rule that is nearly right is
    /// better than several that fit every case by chance.
    pub(crate) fn cost(&self, universe: &Universe<'_>) -> usize {
        let errors = match self.errors(universe) {
            0 => 0,
            errors => {
                let failures = universe.of_outcome(true).len();
                WRONG + ERROR * errors / failures.min(universe.len() - failures).max(1)
            }
        };
        self.weight() as usize + errors
    }

    /// The number of cases that the rules get wrong.
    pub(crate) fn errors(&self, universe: &Universe<'_>) -> usize {
        (0..universe.len()).filter(|case| self.hold(universe, *case) != universe.is_failure(*case)).count()
    }
}
