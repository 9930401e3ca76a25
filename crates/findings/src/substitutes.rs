//! Substitutes: rules with another condition in the place of one, which fit all labelled cases, too. Where a
//! substitute disagrees with its rule, an experiment decides between them.

use crate::{
    rule::{Condition, Form, Rule},
    rule_set::RuleSet,
    universe::Universe,
};

/// The substitutes for one condition or atom.
const EACH: usize = 60;

/// The substitutes of a rule that fit every case of the universe.
pub(crate) fn substitutes(rules: &RuleSet, rule: &Rule, universe: &Universe<'_>) -> Vec<Rule> {
    let holds = |rule: &Rule, case: usize| rule.holds(&rules.atoms, universe, case);
    let failures: Vec<usize> =
        universe.of_outcome(true).into_iter().filter(|case| holds(rule, *case)).collect();
    let passes = universe.of_outcome(false);
    let mut found = Vec::new();
    for place in 0..rule.conditions.len() {
        let condition = &rule.conditions[place];
        let mut rest = rule.clone();
        rest.conditions.remove(place);
        let critical: Vec<usize> = passes.iter().copied().filter(|case| holds(&rest, *case)).collect();
        let fits = |other: &Condition| {
            let holds = |case: &usize| other.holds(&rules.atoms, universe, *case);
            !critical.iter().any(holds) && failures.iter().all(holds)
        };
        let variants = variants(rules, condition);
        for other in variants.into_iter().filter(|other| other != condition && fits(other)).take(EACH) {
            let mut substitute = rest.clone();
            substitute.conditions.push(other);
            found.push(substitute);
        }
    }
    found
}

/// The conditions that may take the place of a condition: any for one atom; those with one atom exchanged for
/// several.
fn variants(rules: &RuleSet, condition: &Condition) -> Vec<Condition> {
    let all = rules.candidates.iter().flat_map(|one| std::iter::once(&one.condition).chain(&one.alike));
    let mut variants: Vec<Condition> = Vec::new();
    if condition.atoms.len() == 1 {
        variants.extend(all.cloned());
        return variants;
    }
    for other in all.filter(|other| other.form == Form::Any) {
        for place in 0..condition.atoms.len() {
            let mut variant = condition.clone();
            variant.atoms[place] = other.atoms[0];
            variants.push(variant);
        }
    }
    variants
}
