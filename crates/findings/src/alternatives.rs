//! Joins rules that differ by one atom of one condition. What they have in common holds for few passes, so
//! the failures have one cause, which shows in either of two ways: at the start or at the end of an axis,
//! say.

use crate::{
    atom::{Atom, Test},
    rule::{Condition, Form, Rule},
    rule_set::RuleSet,
    universe::Universe,
};

/// What joined rules have in common holds for at most one pass in this number.
const TELLING: usize = 2;

/// Joins rules as long as that is possible. The joined rules hold for the same cases.
pub(crate) fn join_alternatives(rules: &mut RuleSet, universe: &Universe<'_>) {
    // Such rules are joined already.
    if rules.is_by_mode {
        return;
    }
    let pairs = |count: usize| (0..count).flat_map(move |one| (one + 1..count).map(move |two| (one, two)));
    while let Some((one, two, joined)) = pairs(rules.rules.len()).find_map(|(one, two)| {
        let joined = alternative(&rules.rules[one], &rules.rules[two], &mut rules.atoms, universe)?;
        Some((one, two, joined))
    }) {
        rules.rules[one] = joined;
        rules.rules.remove(two);
    }
}

/// One rule for two. `None` if they differ by more than an atom, or have too little in common.
fn alternative(one: &Rule, two: &Rule, atoms: &mut Vec<Atom>, universe: &Universe<'_>) -> Option<Rule> {
    let only = |these: &Rule, others: &Rule| -> Vec<Condition> {
        these.conditions.iter().filter(|condition| !others.conditions.contains(condition)).cloned().collect()
    };
    let (of_one, of_two) = (only(one, two), only(two, one));
    let ([first], [second]) = (of_one.as_slice(), of_two.as_slice()) else { return None };
    // Other forms of the alternatives are not the alternatives of the forms.
    if first.form != second.form || !matches!(first.form, Form::Once | Form::Any) {
        return None;
    }
    let (common, of_first): (Vec<usize>, Vec<usize>) =
        first.atoms.iter().partition(|atom| second.atoms.contains(atom));
    let of_second: Vec<usize> =
        second.atoms.iter().copied().filter(|atom| !first.atoms.contains(atom)).collect();
    let ([either], [or]) = (of_first.as_slice(), of_second.as_slice()) else { return None };
    let mut conditions: Vec<Condition> =
        one.conditions.iter().filter(|condition| *condition != first).cloned().collect();
    let shared = Condition { form: first.form, atoms: common.clone() };
    let in_common = Rule {
        conditions: conditions.iter().cloned().chain((!common.is_empty()).then_some(shared)).collect(),
    };
    let passes = universe.of_outcome(false);
    let held = passes.iter().filter(|case| in_common.holds(atoms, universe, **case)).count();
    if held * TELLING > passes.len() {
        return None;
    }
    let tests = [*either, *or].map(|atom| Box::new(atoms[atom].test.clone()));
    let [either, or] = tests;
    atoms.push(Atom::new(Test::Either(either, or), &universe.terms.words));
    conditions.push(Condition { form: first.form, atoms: [common, vec![atoms.len() - 1]].concat() });
    conditions.sort();
    Some(Rule { conditions })
}
