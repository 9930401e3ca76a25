//! Drops the conditions of a rule that are not needed, and replaces a condition by a lighter one that fits.

use crate::{
    atom::Atom,
    rule::{Condition, Form, Rule},
    universe::Universe,
};

/// A condition that excludes no more passes than this may fit them by chance.
const CHANCE: usize = 2;

/// The passes that simpler rules may get wrong, before they are asked again.
pub(crate) const DOUBTED: usize = 24;

/// The rule without conditions and atoms that no pass needs. Fewer conditions hold for more failures, so only
/// passes count.
pub(crate) fn simplified(rule: &Rule, atoms: &[Atom], universe: &Universe<'_>, left: &[usize]) -> Rule {
    let wrong = |rule: &Rule| {
        let holds = |case: &usize| !universe.is_failure(*case) && rule.holds(atoms, universe, *case);
        (0..universe.len()).filter(holds).count()
    };
    let held = |rule: &Rule| left.iter().filter(|case| rule.holds(atoms, universe, **case)).count();
    let (most_wrong, least_held) = (wrong(rule), held(rule));
    let mut best = rule.clone();
    loop {
        let shorter = shorter(&best);
        let fits = |rule: &Rule| wrong(rule) <= most_wrong && held(rule) >= least_held;
        let next = shorter.into_iter().filter(fits).min_by_key(|rule| rule.weight(atoms));
        match next {
            Some(next) => best = next,
            None => return of_desc(lightened(&best, atoms, universe, left), atoms, universe),
        }
    }
}

/// The rule with each atom replaced by the lightest one that holds for the same failures and no other pass.
fn lightened(rule: &Rule, atoms: &[Atom], universe: &Universe<'_>, left: &[usize]) -> Rule {
    let holds = |rule: &Rule, case: usize| rule.holds(atoms, universe, case);
    let failures: Vec<usize> = left.iter().copied().filter(|case| holds(rule, *case)).collect();
    let mut best = rule.clone();
    for place in 0..rule.conditions.len() {
        for atom in 0..rule.conditions[place].atoms.len() {
            let old = best.conditions[place].atoms[atom];
            // The passes that the rule excludes, as far as the other conditions hold for them.
            let mut rest = best.clone();
            rest.conditions.remove(place);
            let is_passed = |case: &usize| !universe.is_failure(*case) && holds(&rest, *case);
            let passes: Vec<usize> = (0..universe.len()).filter(is_passed).collect();
            let allowed: Vec<usize> = passes.iter().copied().filter(|case| holds(&best, *case)).collect();
            let mut lighter: Vec<usize> = (0..atoms.len())
                .filter(|other| atoms[*other].is_axis == atoms[old].is_axis)
                .filter(|other| atoms[*other].weight < atoms[old].weight)
                .collect();
            lighter.sort_by_key(|other| (atoms[*other].weight, *other));
            let found = lighter.into_iter().find(|other| {
                let mut condition = best.conditions[place].clone();
                condition.atoms[atom] = *other;
                let holds = |case: &usize| condition.holds(atoms, universe, *case);
                let is_new = |case: &usize| holds(case) && allowed.binary_search(case).is_err();
                failures.iter().all(holds) && !passes.iter().any(is_new)
            });
            if let Some(found) = found {
                best.conditions[place].atoms[atom] = found;
            }
        }
    }
    best
}

/// The rule with each condition on an axis replaced by the lightest one on the desc that holds for the same
/// cases: `rank > 1` in place of `any axis axis == 1`.
fn of_desc(mut rule: Rule, atoms: &[Atom], universe: &Universe<'_>) -> Rule {
    for condition in &mut rule.conditions {
        if condition.form == Form::Once || condition.atoms.len() > 1 {
            continue;
        }
        let held: Vec<bool> =
            (0..universe.len()).map(|case| condition.holds(atoms, universe, case)).collect();
        let is_same = |other: &Condition| {
            held.iter().enumerate().all(|(case, held)| other.holds(atoms, universe, case) == *held)
        };
        let of_desc = (0..atoms.len()).filter(|atom| !atoms[*atom].is_axis);
        let lighter = of_desc
            .map(|atom| Condition { form: Form::Once, atoms: vec![atom] })
            .filter(|other| other.weight(atoms) < condition.weight(atoms) && is_same(other));
        if let Some(lightest) = lighter.min_by_key(|other| (other.weight(atoms), other.clone())) {
            *condition = lightest;
        }
    }
    rule
}

/// The rule without conditions that exclude hardly any pass. For rules that are not exact anyway, such
/// conditions fit the cases by chance.
pub(crate) fn pruned(rule: &Rule, atoms: &[Atom], universe: &Universe<'_>) -> Rule {
    let wrong = |rule: &Rule| errors(rule, atoms, universe);
    let mut best = rule.clone();
    loop {
        let most = wrong(&best) + CHANCE;
        let Some(next) = shorter(&best).into_iter().min_by_key(wrong).filter(|next| wrong(next) <= most)
        else {
            return best;
        };
        best = next;
    }
}

/// The rule with fewer and fewer conditions and atoms, while each step makes few passes wrong.
pub(crate) fn simpler(rule: &Rule, atoms: &[Atom], universe: &Universe<'_>) -> Vec<Rule> {
    let wrong = |rule: &Rule| errors(rule, atoms, universe);
    let most = wrong(rule) + DOUBTED;
    let next = |rule: &Rule| {
        let rules = shorter(rule).into_iter().map(|rule| (wrong(&rule), rule));
        rules.min_by_key(|(wrong, _)| *wrong).filter(|(wrong, _)| *wrong <= most).map(|(_, rule)| rule)
    };
    std::iter::successors(next(rule), next).collect()
}

/// The number of cases that a rule gets wrong.
fn errors(rule: &Rule, atoms: &[Atom], universe: &Universe<'_>) -> usize {
    let is_wrong = |case: &usize| rule.holds(atoms, universe, *case) != universe.is_failure(*case);
    (0..universe.len()).filter(is_wrong).count()
}

/// The rule without one of its conditions or atoms.
pub(crate) fn shorter(rule: &Rule) -> Vec<Rule> {
    let mut all = Vec::new();
    for (place, condition) in rule.conditions.iter().enumerate() {
        let mut without = rule.clone();
        without.conditions.remove(place);
        all.push(without);
        for atom in 0..if condition.atoms.len() > 1 { condition.atoms.len() } else { 0 } {
            let mut without = rule.clone();
            without.conditions[place].atoms.remove(atom);
            all.push(without);
        }
    }
    all.retain(|rule| !rule.conditions.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{FeatureLevel, line};
    use dmlcts_spec::{Library, expression::Comparison};

    use super::*;
    use crate::{atom::Test, terms::Terms};

    /// The text of `any axis InputTensor.Sizes > 4` in the plainest words, for these cases. `rank > 1` is the
    /// other atom.
    fn plainest(cases: &[&str]) -> String {
        let library = Library::embedded();
        let terms = Terms::new(library.operator("SLICE").expect("it is built in"), FeatureLevel::NEWEST);
        let mut universe = Universe::new(&terms, 1);
        for case in cases {
            universe.push(line::parse(case, library.signatures()).expect("it is a case"), false);
        }
        let above = |word: &str, number| {
            let place = terms.words.iter().position(|it| it.text == word).expect("it is a word");
            Atom::new(Test::Number(place, Comparison::Greater, number), &terms.words)
        };
        let atoms = [above("InputTensor.Sizes", 4), above("rank", 1)];
        let condition = Condition { form: Form::Any, atoms: vec![0] };
        of_desc(Rule { conditions: vec![condition] }, &atoms, &universe).text(&atoms)
    }

    #[test]
    fn a_condition_on_the_desc_is_plainer_if_no_case_tells_them_apart() {
        let small = "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1";
        let square = "SLICE UINT8 in=8,8 out=8,8 Offsets=0,0 Sizes=8,8 Strides=1,1";
        let long = "SLICE UINT8 in=8 out=8 Offsets=0 Sizes=8 Strides=1";
        assert_eq!(plainest(&[small, square]), "rank > 1");
        assert_eq!(plainest(&[small, square, long]), "any axis InputTensor.Sizes > 4");
    }
}
