//! A rule that leaves out an operator claims that its cases pass. So cases of that operator for which the
//! rest of the rule holds are asked.

use std::collections::BTreeSet;

use dmlcts_generate::draw::derive;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate, Scratch, expression::parse, program::Values};

use crate::{
    candidates::{Candidates, DONORS},
    fresh::Fresh,
    label::{Ask, Label, Labelled},
    learned::{Learned, LearnedRule},
    near::conjuncts,
    role::{on_output_sizes, translated},
};

/// The cases of an operator that are asked for a rule, and the most that are drawn for them.
const ASKED: usize = 60;
const DRAWN: usize = 8_000;

/// Asks cases of operators that have no such failure, and for which the rule holds but for the operator.
/// Returns the answers if one of them is such a failure: then the operator has the cause, too.
pub(crate) fn elsewhere(
    learned: &[Learned],
    place: usize,
    labelled: &[Labelled],
    (library, level): (&Library, FeatureLevel),
    seed: u64,
    ask: &mut dyn Ask,
) -> Vec<Labelled> {
    let one = &learned[place];
    let Some(own) = library.operator(&one.operator) else { return Vec::new() };
    let has_such = |operator: &&Operator| {
        let is_such = |other: &&Learned| other.class == one.class && other.validity == one.validity;
        learned.iter().filter(is_such).any(|other| other.operator == operator.name())
    };
    let failures = labelled.iter().filter(|labelled| {
        labelled.case.desc.signature.operator == one.operator
            && matches!(&labelled.label, Label::Failed(class) if *class == one.class)
    });
    let failures: Vec<&Case> = failures.map(|labelled| &labelled.case).collect();
    let mut found = Vec::new();
    for operator in library.operators().iter().filter(|operator| !has_such(operator)) {
        let in_words = |found: &LearnedRule| {
            [Some(found.condition.clone()), on_output_sizes(&found.condition, &failures)]
        };
        let texts = one.predicates.iter().flat_map(in_words).flatten();
        let texts: BTreeSet<String> = texts.map(|text| translated(&text, own, operator)).collect();
        for text in texts {
            // The rule as its conditions.
            let compiled = |part| Predicate::from_expression(part, [operator.scope()]).ok();
            let rule = parse(&text).ok().and_then(|rule| conjuncts(rule).into_iter().map(compiled).collect());
            let Some(rule): Option<Vec<Predicate>> = rule else { continue };
            let chosen = cases_elsewhere(&rule, one, labelled, (library, operator), level, seed);
            let labels = ask.ask(&chosen);
            let is_such = |label: &Label| matches!(label, Label::Failed(class) if *class == one.class);
            if labels.iter().any(is_such) {
                found.extend(chosen.into_iter().zip(labels).map(|(case, label)| Labelled { case, label }));
            }
        }
    }
    found
}

/// Cases of another operator for which a rule holds, in the words of that operator. None if a known pass is
/// such a case.
fn cases_elsewhere(
    rule: &[Predicate],
    one: &Learned,
    labelled: &[Labelled],
    (library, operator): (&Library, &Operator),
    level: FeatureLevel,
    seed: u64,
) -> Vec<Case> {
    let mut values = Values::default();
    // The number of conditions that hold for a case.
    let mut held = |case: &Case| rule.iter().filter(|one| one.holds(case, level, &mut values)).count();
    let mut scratch = Scratch::default();
    let mut is_of = |case: &Case| {
        case.desc.signature.operator == operator.name()
            && operator.judge(&case.desc, level, &mut scratch).validity() == one.validity
    };
    let mut passes = labelled.iter().filter(|one| one.label == Label::Passed);
    if passes.any(|pass| is_of(&pass.case) && held(&pass.case) == rule.len()) {
        return Vec::new();
    }
    let seed = derive(seed, operator.name());
    let Ok(fresh) = Fresh::new(library, operator, seed) else { return Vec::new() };
    let mut cases = Candidates::new(one, labelled, (library, operator), level, fresh, seed);
    let (mut chosen, mut best) = (Vec::new(), 0);
    for _ in 0..DRAWN {
        let Some(case) = cases.next() else { continue };
        // Cases for which most conditions hold are changed further.
        let count = held(&case);
        if count > best {
            cases.failures.clear();
            best = count;
        }
        if count == best && cases.failures.len() < DONORS {
            cases.failures.push(case.clone());
        }
        if count == rule.len() {
            chosen.push(case);
        }
        if chosen.len() == ASKED {
            break;
        }
    }
    chosen
}
