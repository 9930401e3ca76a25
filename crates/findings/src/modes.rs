//! Learns rules for each mode. One cause shows differently by mode: a padding that starts at the wrong place
//! shows under every mode, but not for the same descs. Of several causes, one may have no rule, and hide the
//! rules of other modes.

use std::collections::BTreeSet;

use dmlcts_model::MemberKind;

use crate::{
    atom::{Atom, Test},
    covering::{learn_once, tells_apart},
    effort::Effort,
    rule::{Condition, Form, Rule},
    rule_set::RuleSet,
    search::Aim,
    universe::Universe,
};

/// The rules for each mode in which something fails. `None` if the operator has no mode, if only one mode has
/// failures, or if a rule may hold by chance.
pub(crate) fn by_mode(
    universe: &Universe<'_>,
    hints: &[usize],
    seed: u64,
    effort: &Effort<'_>,
) -> Option<RuleSet> {
    let term = mode(universe)?;
    let code = |case: usize| universe.column(term).lanes(case).values[0];
    let codes: BTreeSet<i64> = universe.of_outcome(true).into_iter().map(code).collect();
    if codes.len() < 2 {
        return None;
    }
    let mut whole = RuleSet::default();
    // The text of each rule, with its place and modes.
    let mut rules: Vec<(String, Rule, Vec<i64>)> = Vec::new();
    let mut is_one_each = true;
    for mode in codes {
        let cases: Vec<usize> = (0..universe.len()).filter(|case| code(*case) == mode).collect();
        let own = universe.only(&cases);
        let hints: Vec<usize> = hints.iter().filter_map(|hint| cases.binary_search(hint).ok()).collect();
        let learned = learn_once(&own, &hints, seed, (Aim::All, effort));
        is_one_each &= learned.rules.len() == 1;
        let first = whole.atoms.len();
        let moved = |condition: &Condition| Condition {
            form: condition.form,
            atoms: condition.atoms.iter().map(|atom| first + atom).collect(),
        };
        for rule in &learned.rules {
            let text = rule.text(&learned.atoms);
            if let Some((.., modes)) = rules.iter_mut().find(|(known, ..)| *known == text) {
                modes.push(mode);
                continue;
            }
            let rule = Rule { conditions: rule.conditions.iter().map(moved).collect() };
            rules.push((text, rule, vec![mode]));
        }
        whole.atoms.extend(learned.atoms);
    }
    // Two rules are rather two causes.
    whole.is_by_mode = is_one_each && rules.len() > 2;
    for (_, mut rule, modes) in rules {
        rule.conditions.push(Condition { form: Form::Once, atoms: vec![whole.atoms.len()] });
        rule.conditions.sort();
        whole.atoms.push(Atom::new(Test::Names(term, modes, true), &universe.terms.words));
        whole.rules.push(rule);
    }
    let failures = universe.of_outcome(true);
    let says_something = |rule: &Rule| {
        let held = failures.iter().filter(|case| rule.holds(&whole.atoms, universe, **case));
        tells_apart(held.count(), universe)
    };
    whole.rules.iter().all(says_something).then_some(whole)
}

/// The term of the operator's mode.
fn mode(universe: &Universe<'_>) -> Option<usize> {
    let members = &universe.terms.operator.signature().members;
    let is_mode = |name: &str| {
        let mut modes = members.iter().filter(|member| matches!(member.kind, MemberKind::Enumeration(_)));
        modes.any(|member| member.name == name)
    };
    universe.terms.words.iter().position(|word| is_mode(&word.text))
}
