//! Explains the failures of a run: which cause each belongs to.
//!
//! Rules are learned from a sample of the cases and held against all of them. The cases that a rule gets
//! wrong join the sample, and rules are learned again.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_generate::draw::{Draws, derive};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate, Scratch, Validity, program::Values};

use crate::{
    cause::Cause,
    classes::{ENOUGH_FAILURES, Way, learn_by},
    evidence::weigh,
    experiment::Budget,
    join::{JoinedAnswers, JoinedCases, join_kinds},
    label::{Ask, Label, Labelled, RoundLimit},
    learned::Learned,
    merge::LearnedSubject,
    outcomes::{Cases, Outcomes},
    role::{around_clauses, form},
    telling::tells_data_apart,
};

/// The passes of each operator, and the failures of each operator and kind, in the first sample.
const PASSES: usize = 4_000;
const FAILURES: usize = 1_500;
/// The cases that join the sample at a time, and the number of times that rules are learned.
const ADDED: usize = 512;
const ROUNDS: usize = 4;
/// The times that rules are learned again because evidence refuted them.
const CORRECTIONS: usize = 3;
/// A check that is left out shows in descs that violate at most this number of clauses alone. Larger sets of
/// clauses have other reasons.
const CLAUSES_OF_A_CHECK: usize = 6;
/// The number of failures that a rule must hold for, for each of its conditions.
const FAILURES_A_CONDITION: usize = 2;

/// Explains failures. With `ask`, experiments refine the conditions.
pub fn explain(
    outcomes: &Outcomes,
    (library, level): (&Library, FeatureLevel),
    seed: u64,
    budget: Budget<'_>,
    cases: &mut dyn Cases,
    ask: Option<&mut dyn Ask>,
) -> Vec<Cause> {
    if outcomes.failures.is_empty() {
        return Vec::new();
    }
    let mut ask = ask.filter(|_| budget.cases > 0);
    let of = (library, level);
    let sample = sample(outcomes, derive(seed, "sample of a run"), cases);
    let mut known =
        Known { of, seed, budget, sample, asked: Vec::new(), subjects: Vec::new(), seen: BTreeMap::new() };
    let mut learned = known.learn(Vec::new(), outcomes, cases, ask.as_mut().map(|ask| &mut **ask as _));
    let joined = join_kinds(&mut learned, &known.labelled(), of, seed, budget);
    if !joined.is_empty() {
        joined.relabel(known.sample.values_mut().chain(&mut known.asked));
        known.subjects.clear();
    }
    let mut without_data = Vec::new();
    let of_joined = (!joined.is_empty()).then(|| joined.outcomes(outcomes, cases));
    let outcomes = of_joined.as_ref().unwrap_or(outcomes);
    let cases = &mut JoinedCases { joined: &joined, cases };
    let mut ask = ask.map(|ask| JoinedAnswers { joined: &joined, ask });
    for correction in 0..=CORRECTIONS {
        judge_data(&mut learned, &known, &mut without_data);
        let Some(ask) = &mut ask else { break };
        let seed = derive(seed, &format!("evidence {correction}"));
        let refuting = weigh(&mut learned, &known.labelled(), of, seed, budget, ask);
        ask.end_evidence();
        if refuting.is_empty() || correction == CORRECTIONS || (budget.is_over)() {
            break;
        }
        known.asked.extend(refuting);
        learned = known.learn(learned, outcomes, cases, None);
    }
    Rules::new(&learned, library, level).causes(outcomes, cases)
}

/// What rules are learned from.
struct Known<'a> {
    of: (&'a Library, FeatureLevel),
    seed: u64,
    budget: Budget<'a>,
    sample: Sample,
    /// The cases that were asked.
    asked: Vec<Labelled>,
    /// What was learned last.
    subjects: Vec<LearnedSubject<'a>>,
    /// The number of each operator's cases when that was learned.
    seen: BTreeMap<String, usize>,
}

impl Known<'_> {
    fn labelled(&self) -> Vec<Labelled> {
        self.sample.values().chain(&self.asked).cloned().collect()
    }

    /// The number of each operator's cases.
    fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for one in self.sample.values().chain(&self.asked) {
            *counts.entry(one.case.desc.signature.operator.clone()).or_default() += 1;
        }
        counts
    }

    /// Learns rules, and again with the cases of the run that they get wrong, until the search is over. With
    /// `ask`, experiments refine the first ones. Nothing is learned again about operators without new cases.
    fn learn(
        &mut self,
        mut learned: Vec<Learned>,
        outcomes: &Outcomes,
        cases: &mut dyn Cases,
        mut ask: Option<&mut dyn Ask>,
    ) -> Vec<Learned> {
        for _ in 0..ROUNDS {
            let labelled = self.labelled();
            let counts = self.counts();
            let mut kept = std::mem::take(&mut self.subjects);
            kept.retain(|one| self.seen.get(one.operator.name()) == counts.get(one.operator.name()));
            let mut noting = ask.take().map(|ask| Noting { ask, asked: &mut self.asked });
            let note: Option<&mut dyn Ask> = noting.as_mut().map(|noting| noting as _);
            let way = note.map_or(Way::Cases, Way::Experiments);
            let found = learn_by(&labelled, self.of, self.seed, self.budget, way, kept);
            // A search that was cut off knows less than the one before it.
            if (self.budget.is_over)() && !learned.is_empty() {
                break;
            }
            self.subjects = found.subjects;
            self.seen = self.counts();
            let before = std::mem::replace(&mut learned, found.learned);
            for new in &mut learned {
                if let Some(old) = before.iter().find(|old| old.is_like(new)) {
                    keep_estimate(old, new);
                }
            }
            let rules = Rules::new(&learned, self.of.0, self.of.1);
            if (self.budget.is_over)() || !rules.add_mistakes(outcomes, &mut self.sample, cases) {
                break;
            }
        }
        learned
    }
}

/// Replaces rules by conditions on the data, if these are as right about passes whose data may hide a
/// failure. `without` are the kinds of failures that have no such condition. More cases give them none.
fn judge_data(learned: &mut [Learned], known: &Known<'_>, without: &mut Vec<Learned>) {
    let Known { of: (library, level), seed, budget, ref sample, ref asked, .. } = *known;
    let rules = Rules::new(learned, library, level);
    // The passes whose data may hide a failure, for each rule that holds for some. The others stay as they
    // are, as do those with few such passes, which support no condition.
    let mut hiding: BTreeMap<usize, usize> = BTreeMap::new();
    for Labelled { case, label } in sample.values() {
        if let Label::Blind(kind) = label
            && let Some(place) = rules.holding(case, (Some(kind), None), &mut Values::default())
        {
            *hiding.entry(rules.compiled[place].0).or_default() += 1;
        }
    }
    hiding.retain(|place, passes| {
        *passes >= ENOUGH_FAILURES && !without.iter().any(|one| one.is_like(&learned[*place]))
    });
    if !hiding.is_empty() && !(budget.is_over)() {
        let is_hiding = |operator: &str, kind: Option<&str>| {
            let mut of = hiding.keys().map(|place| &learned[*place]).filter(|one| one.operator == operator);
            of.any(|one| kind.is_none_or(|kind| one.class == kind))
        };
        let says = |one: &&Labelled| {
            let kind = if let Label::Failed(kind) = &one.label { Some(kind.as_str()) } else { None };
            is_hiding(&one.case.desc.signature.operator, kind)
        };
        let told = |one: &Labelled| match one.label {
            Label::Blind(_) => Labelled { case: one.case.clone(), label: Label::Passed },
            _ => one.clone(),
        };
        let labelled: Vec<Labelled> = sample.values().chain(asked).filter(says).map(told).collect();
        // A condition on the data may be right about the blind passes, too. If it is hardly longer, the data
        // are the cause. A long one fits by chance.
        let length = |one: &Learned| one.predicates.iter().map(|found| found.conditions).sum::<usize>();
        for mut new in learn_by(&labelled, (library, level), seed, budget, Way::Data, Vec::new()).learned {
            if new.predicates.is_empty() {
                without.push(new);
                continue;
            }
            if !tells_data_apart(&new, sample.values(), (library, level)) {
                continue;
            }
            let mut old = hiding.keys().copied().filter(|place| learned[*place].is_like(&new));
            let old = old.next().map(|place| &mut learned[place]);
            let is_right = |old: &&mut Learned| new.wrong == 0 && length(&new) <= 2 + length(old);
            if let Some(old) = old.filter(is_right) {
                keep_estimate(old, &mut new);
                *old = new;
            }
        }
    }
}

/// What experiments said of earlier conditions, if the new ones are the same.
fn keep_estimate(old: &Learned, new: &mut Learned) {
    let texts = |one: &Learned| -> Vec<String> {
        one.predicates.iter().map(|found| found.condition.clone()).collect()
    };
    new.asked = old.asked;
    if texts(old) != texts(new) {
        return;
    }
    (new.estimate, new.weighed) = (old.estimate, old.weighed);
    new.exact &= old.estimate.is_none_or(|estimate| estimate.wrong() == 0);
    for (old, new) in old.predicates.iter().zip(&mut new.predicates) {
        new.estimate = old.estimate;
    }
}

/// Runs cases, and keeps the answers.
struct Noting<'a> {
    ask: &'a mut dyn Ask,
    asked: &'a mut Vec<Labelled>,
}

impl Ask for Noting<'_> {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        let labels = self.ask.ask(cases);
        let new = cases.iter().zip(&labels);
        self.asked.extend(new.map(|(case, label)| Labelled { case: case.clone(), label: label.clone() }));
        labels
    }

    fn begin(&mut self, operator: &str, class: &str) {
        self.ask.begin(operator, class);
    }

    fn cut(&mut self, limit: RoundLimit) {
        self.ask.cut(limit);
    }
}

/// Cases with their labels, by index.
type Sample = BTreeMap<u64, Labelled>;

/// The label of a pass.
fn passed(index: u64, case: &Case, cases: &mut dyn Cases) -> Label {
    cases.blind_to(index, case).map_or(Label::Passed, Label::Blind)
}

/// A first sample: some passes of each operator, and some failures of each operator and kind.
fn sample(outcomes: &Outcomes, seed: u64, cases: &mut dyn Cases) -> Sample {
    let mut draws = Draws::new(seed);
    let mut passes = outcomes.passes.clone();
    let mut failures: Vec<(u64, &String)> =
        outcomes.failures.iter().map(|(index, kind)| (*index, kind)).collect();
    draws.shuffle(&mut passes);
    draws.shuffle(&mut failures);
    let mut counts: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let mut sample = Sample::new();
    // The kinds of failures are few; passes of operators that fill up are read in vain.
    let mut add = |index: u64, kind: Option<&String>, most: usize| {
        let case = cases.read(index);
        let of = (case.desc.signature.operator.clone(), kind.cloned());
        let count = counts.entry(of).or_insert(0);
        if *count < most {
            *count += 1;
            let failed = kind.map(|kind| Label::Failed(kind.clone()));
            let label = failed.unwrap_or_else(|| passed(index, &case, cases));
            sample.insert(index, Labelled { case, label });
        }
    };
    failures.iter().take(40 * FAILURES).for_each(|(index, kind)| add(*index, Some(kind), FAILURES));
    passes.iter().take(10 * PASSES).for_each(|index| add(*index, None, PASSES));
    sample
}

/// The learned conditions, compiled.
struct Rules<'a> {
    learned: &'a [Learned],
    library: &'a Library,
    level: FeatureLevel,
    /// Each condition: its index in `learned`, its index in the predicates there, and the compiled predicate.
    /// Both are `None` for a condition that holds for all cases.
    compiled: Vec<(usize, Option<usize>, Option<Predicate>)>,
}

impl<'a> Rules<'a> {
    fn new(learned: &'a [Learned], library: &'a Library, level: FeatureLevel) -> Self {
        let mut compiled = Vec::new();
        for (place, one) in learned.iter().enumerate() {
            let Some(operator) = library.operator(&one.operator) else { continue };
            for (condition, found) in one.predicates.iter().enumerate() {
                let predicate = Predicate::compile(&found.condition, [operator.scope()]).ok();
                compiled.extend(predicate.map(|predicate| (place, Some(condition), Some(predicate))));
            }
            if one.predicates.is_empty() && one.wrong == 0 {
                compiled.push((place, None, None));
            }
        }
        Self { learned, library, level, compiled }
    }

    /// The first condition that holds for a case, among those of a kind or of all.
    fn holding(
        &self,
        case: &Case,
        (kind, validity): (Option<&str>, Option<Validity>),
        values: &mut Values,
    ) -> Option<usize> {
        self.holding_of(case, |of| kind.is_none_or(|kind| kind == of), validity, values)
    }

    /// The first condition that holds for a pass, among those of kinds that its data could have shown.
    fn contradicting(
        &self,
        case: &Case,
        label: &Label,
        validity: Validity,
        values: &mut Values,
    ) -> Option<usize> {
        let is_told = |kind: &str| !matches!(label, Label::Blind(to) if to == kind);
        self.holding_of(case, is_told, Some(validity), values)
    }

    fn holding_of(
        &self,
        case: &Case,
        is_of: impl Fn(&str) -> bool,
        validity: Option<Validity>,
        values: &mut Values,
    ) -> Option<usize> {
        (0..self.compiled.len()).find(|place| {
            let (of, _, predicate) = &self.compiled[*place];
            let learned = &self.learned[*of];
            learned.operator == case.desc.signature.operator
                && is_of(&learned.class)
                && validity.is_none_or(|validity| learned.validity == validity)
                && predicate.as_ref().is_none_or(|predicate| predicate.holds(case, self.level, values))
        })
    }

    fn operator(&self, case: &Case) -> Option<&'a Operator> {
        self.library.operator(&case.desc.signature.operator)
    }

    /// Adds cases to the sample that the conditions get wrong. Returns whether there are any.
    fn add_mistakes(&self, outcomes: &Outcomes, sample: &mut Sample, cases: &mut dyn Cases) -> bool {
        let (mut values, mut scratch) = (Values::default(), Scratch::default());
        let before = sample.len();
        let mut validity = |case: &Case, failed: bool| -> Option<Validity> {
            let judgement = self.operator(case)?.judge(&case.desc, self.level, &mut scratch);
            let validity = judgement.validity();
            let says = judgement.questions.is_empty() || failed && validity == Validity::Invalid;
            says.then_some(validity)
        };
        let (mut missed, mut wrong) = (0, 0);
        for (index, kind) in &outcomes.failures {
            if missed >= ADDED || sample.contains_key(index) {
                continue;
            }
            let case = cases.read(*index);
            let Some(validity) = validity(&case, true) else { continue };
            if self.holding(&case, (Some(kind), Some(validity)), &mut values).is_none() {
                missed += 1;
                sample.insert(*index, Labelled { case, label: Label::Failed(kind.clone()) });
            }
        }
        for index in &outcomes.passes {
            if wrong >= ADDED || sample.contains_key(index) {
                continue;
            }
            let case = cases.read(*index);
            if self.holding(&case, (None, None), &mut values).is_none() {
                continue;
            }
            let Some(validity) = validity(&case, false) else { continue };
            let label = passed(*index, &case, cases);
            if self.contradicting(&case, &label, validity, &mut values).is_some() {
                wrong += 1;
                sample.insert(*index, Labelled { case, label });
            }
        }
        sample.len() > before
    }

    /// Whether two causes are the same but for the operator.
    fn are_same(&self, one: &Cause, other: &Cause) -> bool {
        let form_of = |one: &Cause| {
            let condition = one.conditions.first().and_then(|(_, condition)| condition.as_deref());
            condition.map(|condition| form(&without_clauses(condition), self.library))
        };
        one.is_of_kind(other) && form_of(one) == form_of(other)
    }

    /// Whether two causes accept what violates the same clauses, in different operators. Each operator may
    /// ask for more, in its own words: where other clauses are violated, too, and no check is left out.
    fn are_of_one_check(&self, one: &Cause, other: &Cause) -> bool {
        let clauses = |cause: &Cause| {
            let condition = cause.conditions.first()?.1.as_deref()?;
            let form = form(condition, self.library);
            let [before, clauses, after] = around_clauses(&form)?;
            let clauses: BTreeSet<String> = clauses.split(", ").map(str::to_owned).collect();
            let asks_for_more = !(before.is_empty() && after.is_empty());
            (asks_for_more && clauses.len() <= CLAUSES_OF_A_CHECK).then_some(clauses)
        };
        let are_apart = || one.operators().all(|operator| other.operators().all(|own| own != operator));
        let is_within =
            |one: &BTreeSet<String>, other: &BTreeSet<String>| one.is_subset(other) || other.is_subset(one);
        one.is_of_kind(other)
            && are_apart()
            && clauses(one).zip(clauses(other)).is_some_and(|(one, other)| is_within(&one, &other))
    }

    /// The failures by cause.
    fn causes(&self, outcomes: &Outcomes, cases: &mut dyn Cases) -> Vec<Cause> {
        let (mut values, mut scratch) = (Values::default(), Scratch::default());
        let mut of_rule: Vec<Vec<u64>> = vec![Vec::new(); self.compiled.len()];
        let mut passes = vec![0_usize; self.compiled.len()];
        let mut left: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
        for (index, kind) in &outcomes.failures {
            let case = cases.read(*index);
            // A failure of an open desc has the cause whose condition holds.
            if let Some(rule) = self.holding(&case, (Some(kind), None), &mut values) {
                of_rule[rule].push(*index);
            } else {
                let of = (kind.clone(), case.desc.signature.operator.clone());
                left.entry(of).or_default().push(*index);
            }
        }
        for index in &outcomes.passes {
            let case = cases.read(*index);
            if self.holding(&case, (None, None), &mut values).is_none() {
                continue;
            }
            let judgement = self.operator(&case).map(|it| it.judge(&case.desc, self.level, &mut scratch));
            let Some(judgement) = judgement.filter(|judgement| judgement.questions.is_empty()) else {
                continue;
            };
            let label = passed(*index, &case, cases);
            if let Some(rule) = self.contradicting(&case, &label, judgement.validity(), &mut values) {
                passes[rule] += 1;
            }
        }
        let mut causes: Vec<Cause> = Vec::new();
        let mut companions = Vec::new();
        for (rule, (place, condition, _)) in self.compiled.iter().enumerate() {
            let learned = &self.learned[*place];
            let found = condition.and_then(|condition| learned.predicates.get(condition));
            let failures = std::mem::take(&mut of_rule[rule]);
            let is_supported = match found {
                // A rule with many conditions may fit a few failures by chance.
                Some(found) => {
                    found.held_failing >= ENOUGH_FAILURES.max(FAILURES_A_CONDITION * found.conditions)
                }
                None => failures.len() >= ENOUGH_FAILURES,
            };
            if !is_supported {
                for index in failures {
                    let of = (learned.class.clone(), learned.operator.clone());
                    left.entry(of).or_default().push(index);
                }
                continue;
            }
            let condition = found.map(|found| found.condition.clone());
            let estimate = found.and_then(|found| found.estimate).or(learned.estimate);
            let estimate = estimate.filter(|estimate| estimate.cases() > 0);
            let new = Cause {
                kind: learned.class.clone(),
                conditions: vec![(learned.operator.clone(), condition)],
                validity: Some(learned.validity),
                failures,
                passes: passes[rule],
                estimate,
                asked: learned.asked,
                exact: passes[rule] == 0 && learned.exact && learned.wrong == 0,
            };
            // Only experiments failed: the cause has another operator in the run.
            if new.failures.is_empty() {
                companions.push(new);
                continue;
            }
            let same = causes.iter().position(|one| self.are_same(one, &new));
            let same = same.or_else(|| causes.iter().position(|one| self.are_of_one_check(one, &new)));
            match same {
                Some(place) => causes[place].join(new),
                None => causes.push(new),
            }
        }
        for new in companions {
            // If no cause has this condition, it joins one of the same kind, of its operator if there is one.
            // Alone, that one would be called exact, although other cases fail, too.
            let operator = |one: &Cause| one.operators().any(|own| own == new.conditions[0].0);
            let of_kind = causes.iter_mut().filter(|one| one.is_of_kind(&new));
            let nearest = of_kind.max_by_key(|one| (self.are_same(one, &new), operator(one)));
            if let Some(cause) = nearest {
                cause.join(new);
            }
        }
        for ((kind, operator), mut failures) in left {
            failures.sort_unstable();
            causes.push(Cause::unexplained(kind, operator, failures));
        }
        causes
    }
}

/// A condition without the names of violated clauses, if it asks for more than them. A check that is left out
/// for some descs shows in each operator by clauses of its own. A desc that may violate only one clause
/// violates one.
fn without_clauses(condition: &str) -> String {
    match around_clauses(condition) {
        Some([before, _, after]) if !(before.is_empty() && after.is_empty()) => {
            format!("{before}violation{after}").replace("violations == 1 and ", "")
        }
        _ => condition.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_join_only_with_a_condition_in_common() {
        let in_common = "InputTensor.ElementSize >= 5 and violation";
        for clauses in ["== output_size", "in [output_reachable, window_in_bounds]"] {
            assert_eq!(without_clauses(&format!("{in_common} {clauses}")), in_common);
        }
        let counted = "InputTensor.ElementSize >= 5 and violations == 1 and violation in [a, b]";
        assert_eq!(without_clauses(counted), in_common, "one of two clauses alone is one violation");
        for alone in ["violation == output_size", "rank > 1", "violations == 1"] {
            assert_eq!(without_clauses(alone), alone);
        }
    }
}
