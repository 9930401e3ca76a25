//! The entry of the crate: labelled cases in, predicates out. The predicates separate the failures of each
//! operator and class from the passes.

use std::collections::BTreeSet;

use dmlcts_generate::draw::derive;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{
    Clause, Library, Operator, Predicate, Scratch, Validity, expression::parse, program::Values,
};

use crate::{
    alternatives::join_alternatives,
    covering::learn_of_data,
    effort::Effort,
    experiment::{self, Budget, Experimented, experiment},
    fresh::Fresh,
    label::{Ask, Label, Labelled, RoundLimit},
    learn::learn as learn_rules,
    learned::{Learned, LearnedRule},
    merge::{LearnedSubject, merge},
    near::conjuncts,
    propose::Asked,
    rule_set::RuleSet,
    share::share,
    simplify::simpler as simpler_rules,
    terms::Terms,
    universe::Universe,
};

/// The number of failures that a rule must hold for. Failures of experiments count.
pub(crate) const ENOUGH_FAILURES: usize = 3;

/// Learns predicates for the failures among labelled cases. With `ask`, experiments refine them. The result
/// follows from the cases, the seed and the answers, unless the time ends.
pub fn learn(
    labelled: &[Labelled],
    of: (&Library, FeatureLevel),
    seed: u64,
    budget: Budget<'_>,
    ask: Option<&mut dyn Ask>,
) -> Vec<Learned> {
    learn_by(labelled, of, seed, budget, ask.map_or(Way::Cases, Way::Experiments), Vec::new()).learned
}

/// What was learned of all kinds of failures.
pub(crate) struct LearnedKinds<'lib> {
    pub(crate) learned: Vec<Learned>,
    /// The same before operators shared conditions.
    pub(crate) subjects: Vec<LearnedSubject<'lib>>,
}

/// How rules are learned.
pub(crate) enum Way<'a> {
    /// From the cases and from experiments.
    Experiments(&'a mut dyn Ask),
    /// From the cases alone.
    Cases,
    /// From the cases alone: one rule that asks for data and is right about all cases, or none.
    Data,
}

/// Learns predicates in one of these ways. `kept` was learned before, of operators that have no new cases
/// since then: nothing is learned about them.
pub(crate) fn learn_by<'lib>(
    labelled: &[Labelled],
    (library, level): (&'lib Library, FeatureLevel),
    seed: u64,
    budget: Budget<'_>,
    way: Way<'_>,
    kept: Vec<LearnedSubject<'lib>>,
) -> LearnedKinds<'lib> {
    let is_of_data = matches!(way, Way::Data);
    let mut ask = if let Way::Experiments(ask) = way { Some(ask) } else { None };
    let mut all = kept;
    let is_kept = |operator: &Operator| all.iter().any(|one| one.operator.name() == operator.name());
    let new = library.operators().iter().filter(|operator| !is_kept(operator));
    let of_operators = new.map(|operator| {
        let cases = of_operator(labelled, operator, level);
        let kinds = cases.iter().filter_map(|(_, label, validity)| match label {
            Label::Failed(class) => Some((class.as_str(), *validity == Validity::Invalid)),
            _ => None,
        });
        let kinds: BTreeSet<(&str, bool)> = kinds.collect();
        (operator, kinds, cases)
    });
    let of_operators: Vec<_> = of_operators.collect();
    let kinds = of_operators.iter().map(|(_, kinds, _)| kinds.len()).sum();
    for (operator, kinds_of_it, cases) in &of_operators {
        let terms = Terms::new(operator, level);
        let from = all.len();
        let mut learn_kind = |class: &str, is_invalid: bool, against: Option<&str>| {
            let validity = if is_invalid { Validity::Invalid } else { Validity::Valid };
            let seed = derive(seed, &format!("{} {class} {is_invalid}", operator.name()));
            let of_validity = cases.iter().filter(|(_, _, of)| *of == validity);
            let told = |label: &Label| match label {
                Label::Failed(kind) if against == Some(kind) => Label::Passed,
                label => label.clone(),
            };
            let told: Vec<(&Case, Label)> =
                of_validity.map(|(case, label, _)| (*case, told(label))).collect();
            let told = told.iter().map(|(case, label)| (*case, label));
            let mut universe = universe(&terms, told, class, budget.threads);
            let result = match (&mut ask, Fresh::new(library, operator, seed)) {
                (Some(ask), Ok(fresh)) => {
                    let mut telling = Telling { ask: *ask, against };
                    let ask = &mut telling;
                    let failures = universe.of_outcome(true);
                    let failures = failures.iter().map(|case| universe.case(*case));
                    let asked = Asked::like(validity, failures, operator, level);
                    let subject =
                        experiment::OperatorSubject { operator, asked, class, kinds, fresh, seed, budget };
                    ask.begin(operator.name(), class);
                    experiment(&mut universe, subject, ask)
                }
                _ => Experimented {
                    // Few failures support no rule, and nearly every condition holds for them.
                    rules: if universe.of_outcome(true).len() < ENOUGH_FAILURES {
                        RuleSet::default()
                    } else if is_of_data {
                        learn_of_data(&universe, derive(seed, "sample"), &Effort::new(budget.is_over))
                    } else {
                        learn_rules(&universe, &[], derive(seed, "sample"), &Effort::new(budget.is_over))
                    },
                    ..Experimented::default()
                },
            };
            let simpler = simpler(&result.rules, &universe);
            let learned = learned(class, validity, &universe, result);
            let (cases, failed) = universe.into_labels();
            LearnedSubject { operator, level, learned, simpler, cases, failed }
        };
        for &(class, is_invalid) in kinds_of_it {
            if (budget.is_over)() {
                break;
            }
            all.push(learn_kind(class, is_invalid, None));
        }
        // A rule that is also that of refusals in other words says nothing about these words.
        for place in from..all.len() {
            let one = &all[place].learned;
            let wider = all[from..].iter().map(|other| &other.learned).find(|other| {
                is_worded_like(one, other)
                    && conditions_of(one) == conditions_of(other)
                    && held_failing(one) < held_failing(other)
            });
            if let Some(wider) = wider.filter(|_| !(budget.is_over)()) {
                let (class, against) = (one.class.clone(), wider.class.clone());
                all[place] = learn_kind(&class, one.validity == Validity::Invalid, Some(&against));
            }
        }
    }
    let place = |one: &LearnedSubject<'_>| {
        library.operators().iter().position(|operator| operator.name() == one.operator.name())
    };
    all.sort_by_key(|one| (one.learned.class.clone(), one.learned.validity == Validity::Invalid, place(one)));
    let subjects = all.clone();
    let is_alike = |one: &LearnedSubject<'_>, other: &LearnedSubject<'_>| {
        one.learned.class == other.learned.class && one.learned.validity == other.learned.validity
    };
    for subjects in all.chunk_by_mut(is_alike) {
        merge(subjects, library);
        share(subjects, library, ask.as_mut().map(|ask| &mut **ask as &mut dyn Ask));
    }
    LearnedKinds { learned: all.into_iter().map(|one| one.learned).collect(), subjects }
}

/// Answers as if one kind of failures had passed.
struct Telling<'a> {
    ask: &'a mut dyn Ask,
    against: Option<&'a str>,
}

impl Ask for Telling<'_> {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        let told = |label| match label {
            Label::Failed(kind) if self.against == Some(&kind) => Label::Passed,
            label => label,
        };
        self.ask.ask(cases).into_iter().map(told).collect()
    }

    fn begin(&mut self, operator: &str, class: &str) {
        self.ask.begin(operator, class);
    }

    fn begin_evidence(&mut self, operator: &str, class: &str) {
        self.ask.begin_evidence(operator, class);
    }

    fn cut(&mut self, limit: RoundLimit) {
        self.ask.cut(limit);
    }
}

/// Whether both are about refusals of one class in different words.
fn is_worded_like(one: &Learned, other: &Learned) -> bool {
    let class = |one: &Learned| one.class.split_once(": ").map(|(class, _)| class.to_owned());
    one.class != other.class
        && one.validity == other.validity
        && class(one).is_some()
        && class(one) == class(other)
}

fn conditions_of(one: &Learned) -> Vec<&str> {
    one.predicates.iter().map(|found| found.condition.as_str()).collect()
}

fn held_failing(one: &Learned) -> usize {
    one.predicates.iter().map(|found| found.held_failing).sum()
}

/// The passes, and the failures of one class.
fn universe<'a, 'c>(
    terms: &'a Terms<'a>,
    cases: impl Iterator<Item = (&'c Case, &'c Label)>,
    class: &str,
    threads: usize,
) -> Universe<'a> {
    let mut universe = Universe::new(terms, threads);
    let told = cases.filter_map(|(case, label)| Some((case.clone(), label.failed(class)?)));
    universe.extend(&told.collect::<Vec<_>>());
    universe
}

/// The texts of rules with fewer conditions. Rules of single modes have no such rules.
fn simpler(rules: &RuleSet, universe: &Universe<'_>) -> Vec<String> {
    let all = rules.rules.iter().filter(|_| !rules.is_by_mode);
    let all = all.flat_map(|rule| simpler_rules(rule, &rules.atoms, universe));
    all.map(|rule| rule.text(&rules.atoms)).collect()
}

/// The cases of an operator with their judgement, without those that say nothing or are open.
fn of_operator<'a>(
    labelled: &'a [Labelled],
    operator: &Operator,
    level: FeatureLevel,
) -> Vec<(&'a Case, &'a Label, Validity)> {
    let mut scratch = Scratch::default();
    let mut judged = Vec::new();
    for Labelled { case, label } in labelled {
        if case.desc.signature.operator != operator.name() || *label == Label::Unknown {
            continue;
        }
        let judgement = operator.judge(&case.desc, level, &mut scratch);
        let validity = judgement.validity();
        // A backend may refuse an invalid desc because of its question. It must not accept it.
        let failed = matches!(label, Label::Failed(_));
        let says = judgement.questions.is_empty() || validity == Validity::Invalid && failed;
        if says {
            judged.push((case, label, validity));
        }
    }
    judged
}

/// A rule that counts violations without naming one, with the clauses that its failures violate. Experiments
/// ask no desc that violates other clauses alone, so that no answer says that these are refused. The names
/// take the place of the count if they hold for the same cases. The number says how many conditions the rule
/// has more.
fn with_named_clauses(text: &str, universe: &Universe<'_>) -> Option<(String, usize)> {
    if !text.contains("violations ") || text.contains("violation ") {
        return None;
    }
    let (operator, level) = (universe.terms.operator, universe.terms.level);
    let (mut values, mut scratch) = (Values::default(), Scratch::default());
    let mut held = |text: &str| -> Option<Vec<usize>> {
        let predicate = Predicate::compile(text, [operator.scope()]).ok()?;
        Some(
            (0..universe.len())
                .filter(|case| predicate.holds(universe.case(*case), level, &mut values))
                .collect(),
        )
    };
    let own = held(text)?;
    let failures = own.iter().filter(|case| universe.is_failure(**case)).map(|case| universe.case(*case));
    let violated = failures.map(|case| operator.judge(&case.desc, level, &mut scratch).violated);
    let violated = violated.reduce(dmlcts_spec::IdSet::union)?;
    let mut names: Vec<String> = violated.items(operator.clauses()).map(Clause::name).collect();
    names.sort_unstable();
    names.dedup();
    let named = match names.as_slice() {
        [] => return None,
        [one] => format!("violation == {one}"),
        several => format!("violation in [{}]", several.join(", ")),
    };
    let mut parts = conjuncts(parse(text).ok()?).into_iter().map(|part| part.to_string());
    let count = parts.find(|part| part.starts_with("violations "))?;
    let in_place = text.replacen(&count, &named, 1);
    let is_same = held(&in_place).is_some_and(|held| held == own);
    Some(if is_same { (in_place, 0) } else { (format!("{named} and {text}"), 1) })
}

/// The result, with the counts that the predicates' own evaluation gives.
fn learned(class: &str, validity: Validity, universe: &Universe<'_>, result: Experimented) -> Learned {
    let Experimented { mut rules, rounds, asked, counterexamples, estimate, is_lost } = result;
    join_alternatives(&mut rules, universe);
    let (operator, level) = (universe.terms.operator, universe.terms.level);
    let mut predicates = Vec::new();
    let mut held = vec![false; universe.len()];
    let mut values = Values::default();
    let texts = rules.rules.iter().map(|rule| (rule.text(&rules.atoms), rule.length()));
    let mut texts: Vec<(String, usize)> = texts.collect();
    if rules.is_by_mode && texts.len() > 1 {
        let length = texts.iter().map(|(_, length)| length).sum();
        let parts: Vec<String> = texts.iter().map(|(text, _)| format!("({text})")).collect();
        texts = vec![(format!("({})", parts.join(" or ")), length)];
    }
    for (mut text, mut length) in texts {
        if text.is_empty() {
            held.fill(true);
            continue;
        }
        if let Some((named, more)) = with_named_clauses(&text, universe) {
            (text, length) = (named, length + more);
        }
        // The text is what counts, so it and not the search decides which cases it holds for.
        let Ok(predicate) = Predicate::compile(&text, [operator.scope()]) else { continue };
        let mut counts = [0; 2];
        for (case, held) in held.iter_mut().enumerate() {
            if predicate.holds(universe.case(case), level, &mut values) {
                *held = true;
                counts[usize::from(universe.is_failure(case))] += 1;
            }
        }
        let [held_passing, held_failing] = counts;
        predicates.push(LearnedRule {
            condition: text,
            conditions: length,
            held_failing,
            held_passing,
            estimate: None,
        });
    }
    let wrong = (0..universe.len()).filter(|case| held[*case] != universe.is_failure(*case)).count();
    Learned {
        operator: operator.name().to_owned(),
        class: class.to_owned(),
        validity,
        exact: wrong == 0 && estimate.is_none_or(|estimate| estimate.wrong() == 0),
        predicates,
        estimate,
        wrong,
        is_lost,
        rounds,
        asked,
        counterexamples,
        weighed: 0,
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;

    use super::*;

    #[test]
    fn clauses_take_the_place_of_their_number_if_that_says_the_same() {
        let library = Library::embedded();
        let terms = Terms::new(library.operator("SLICE").expect("it is built in"), FeatureLevel::NEWEST);
        let of = |failed: &[&str], passed: &[&str]| {
            let mut universe = Universe::new(&terms, 1);
            for (texts, is_failure) in [(failed, true), (passed, false)] {
                for text in texts {
                    let case = line::parse(text, library.signatures()).expect("it is a case");
                    universe.push(case, is_failure);
                }
            }
            with_named_clauses("violations == 1", &universe)
        };
        let outside = "SLICE FLOAT32 in=4 out=4 Offsets=1 Sizes=4 Strides=1";
        let short =
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Offsets=0 Sizes=4 Strides=1";
        let both =
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Offsets=1 Sizes=4 Strides=1";
        let one = "violation == reads_in_bounds".to_owned();
        assert_eq!(of(&[outside], &[both]), Some((one, 0)));
        let counted = "violation in [reads_in_bounds, total_size] and violations == 1".to_owned();
        assert_eq!(of(&[outside, short], &[both]), Some((counted, 1)));
    }

    #[test]
    fn nothing_is_learned_again_about_kept_operators() {
        let (library, level) = (Library::embedded(), FeatureLevel::NEWEST);
        let case = |strides: usize, label: Label| {
            let text = format!("SLICE FLOAT32 in=9 out=2 Offsets=0 Sizes=2 Strides={strides}");
            Labelled { case: line::parse(&text, library.signatures()).expect("it is a case"), label }
        };
        let failed = || Label::Failed("wrong".to_owned());
        let first: Vec<Labelled> =
            (1..8).map(|strides| case(strides, if strides > 2 { failed() } else { Label::Passed })).collect();
        let learned = |labelled: &[Labelled], kept| {
            learn_by(labelled, (library, level), 1, Budget::NONE, Way::Cases, kept)
        };
        let LearnedKinds { learned: of_first, subjects } = learned(&first, Vec::new());
        assert_eq!(of_first.len(), 1);
        let second: Vec<Labelled> = (1..8).map(|strides| case(strides, failed())).collect();
        assert_ne!(learned(&second, Vec::new()).learned, of_first);
        assert_eq!(learned(&second, subjects).learned, of_first);
    }
}
