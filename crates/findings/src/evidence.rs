//! The evidence for final rules: many fresh cases on each side of a rule, chosen to refute it.
//!
//! The search ends when a few rounds bring no counterexample, which proves little. So each rule that is right
//! so far is held against cases that no step of the search has seen: cases for which it holds; cases for
//! which a weaker rule holds that lacks one of its conditions, or is one step wider; and others. A fixed
//! share of them differs from a known case in one member, and each member is changed over its whole range,
//! whether the rule names it or not. A third of the cases on each side lie at a bound of the rule, if enough
//! of them are found, since few other cases show that a bound is off by one. Operators with the same rule
//! share the cases. A report prints the counts.

use std::collections::BTreeSet;

use dmlcts_generate::draw::derive;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{
    Library, Operator, Predicate,
    expression::{Expression, parse},
    program::Values,
};

use crate::{
    again::{is_random, variants},
    candidates::Candidates,
    data::has_only_distinct_elements,
    elsewhere::elsewhere,
    experiment::{Budget, Estimate},
    fresh::Fresh,
    label::{Ask, Label, Labelled},
    learned::Learned,
    near::{at_bounds, beyond_bounds, weaker},
    role::form,
};

/// The candidates that are drawn at a time, and the most times that they are drawn.
const DRAWN: usize = 1_000;
const TIMES: usize = 40;
/// One of this number of candidates has a number at which a rule begins or ceases to hold.
const WALKED: u64 = 8;
/// The most passes that are asked with other data.
const HIDING: usize = 100;
/// A pass counts if it also passes with this number of random fills, although no fill has distinct elements.
const RANDOM: usize = 2;
/// The cases far from a rule that are asked at a time.
const FAR: usize = 150;
/// The number of times that cases are drawn in which every third case of a side lies at a bound.
const EDGE_TIMES: usize = 8;

/// Asks fresh cases of each rule that experiments found to be right. The rules get the counts. Returns the
/// answers that refute rules.
pub(crate) fn weigh(
    learned: &mut [Learned],
    labelled: &[Labelled],
    (library, level): (&Library, FeatureLevel),
    seed: u64,
    budget: Budget<'_>,
    ask: &mut dyn Ask,
) -> Vec<Labelled> {
    let mut refuting = Vec::new();
    let shares = shares(learned, library, budget.evidence);
    for (place, side) in shares.into_iter().enumerate() {
        let one = &mut learned[place];
        if one.weighed >= side {
            one.estimate = one.estimate.map(|estimate| estimate.of_side(side));
            for found in &mut one.predicates {
                found.estimate = found.estimate.map(|estimate| estimate.of_side(side));
            }
        }
        let one = &learned[place];
        let is_asked = one.exact && one.weighed < side;
        let Some(operator) = library.operator(&one.operator).filter(|_| is_asked) else { continue };
        let seed = derive(seed, &format!("evidence {} {} {:?}", one.operator, one.class, one.validity));
        let Ok(fresh) = Fresh::new(library, operator, seed) else { continue };
        ask.begin_evidence(&one.operator, &one.class);
        let rules = Rules::new(learned, place, operator, level);
        let cases = Candidates::new(one, labelled, (library, operator), level, fresh, seed);
        let near = vec![0; rules.near.len()];
        let blind = Label::Blind(one.class.clone());
        let is_hiding = |labelled: &&Labelled| {
            labelled.label == blind && labelled.case.desc.signature.operator == one.operator
        };
        let hiding = labelled.iter().filter(is_hiding).map(|one| &one.case).collect();
        let weighed = Weighing { rules, near, cases, hiding, class: &one.class, side, budget }.run(ask);
        let one = &mut learned[place];
        for (found, tally) in one.predicates.iter_mut().zip(&weighed.tallies) {
            found.estimate = Some(*tally);
        }
        let all = |of: fn(&Estimate) -> usize| weighed.tallies.iter().map(of).sum();
        let (held, held_failing) = (all(|one| one.held), all(|one| one.held_failing));
        let sum = Estimate { held, held_failing, ..weighed.tallies[0] };
        if sum.cases() > 0 {
            one.estimate = Some(sum);
        }
        one.asked += weighed.asked;
        one.exact &= sum.wrong() == 0;
        one.weighed = side;
        refuting.extend(weighed.refuting);
        if one.exact {
            refuting.extend(elsewhere(learned, place, labelled, (library, level), seed, ask));
        }
    }
    refuting
}

/// For each kind of failures of an operator, the cases that are asked on each side of its rules. Operators
/// with the same rules share the evidence of one finding.
fn shares(learned: &[Learned], library: &Library, evidence: usize) -> Vec<usize> {
    let cause = |one: &Learned| {
        let forms = one.predicates.iter().map(|found| form(&found.condition, library));
        (one.exact, one.class.clone(), one.validity, forms.collect::<BTreeSet<_>>())
    };
    let causes: Vec<_> = learned.iter().map(cause).collect();
    let alike = |one| causes.iter().filter(|other| *other == one).count();
    causes.iter().map(|one| evidence.div_ceil(alike(one))).collect()
}

/// The rules of a kind of failures, and what is near them.
struct Rules {
    /// One for each cause. `None` holds for every case.
    own: Vec<Option<Predicate>>,
    /// Those of the operator's other kinds of failures.
    others: Vec<Predicate>,
    /// Weaker forms of the own ones.
    near: Vec<Predicate>,
    /// Forms of the own ones that hold at a bound alone.
    edges: Vec<Predicate>,
    /// Forms of the own ones that hold just beyond a bound alone.
    beyond: Vec<Predicate>,
    level: FeatureLevel,
    values: Values,
}

/// Where a case lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// This rule holds.
    Inside(usize),
    /// No rule holds, but one that is a little weaker does.
    Near,
    /// No such rule holds.
    Far,
    /// Another kind of failure is expected.
    Other,
}

impl Rules {
    fn new(learned: &[Learned], place: usize, operator: &Operator, level: FeatureLevel) -> Self {
        let compiled = |text: &str| Predicate::compile(text, [operator.scope()]).ok();
        let one = &learned[place];
        let texts = one.predicates.iter().map(|found| found.condition.as_str());
        let own: Vec<Option<Predicate>> =
            if one.predicates.is_empty() { vec![None] } else { texts.clone().map(compiled).collect() };
        let is_other = |(at, other): &(usize, &Learned)| {
            *at != place && other.operator == one.operator && other.validity == one.validity
        };
        let others = learned.iter().enumerate().filter(is_other).flat_map(|(_, other)| &other.predicates);
        let others = others.filter_map(|found| compiled(&found.condition)).collect();
        let expressions: Vec<Expression> = texts.filter_map(|text| parse(text).ok()).collect();
        let all = |forms: fn(&Expression) -> Vec<Expression>| -> Vec<Predicate> {
            let forms = expressions.iter().flat_map(forms);
            forms.filter_map(|one| Predicate::from_expression(one, [operator.scope()]).ok()).collect()
        };
        let (near, edges, beyond) = (all(weaker), all(at_bounds), all(beyond_bounds));
        Self { own, others, near, edges, beyond, level, values: Values::default() }
    }

    /// Among the weaker forms that hold for a case, the one with the fewest cases so far.
    fn rarest(&mut self, case: &Case, counts: &[usize]) -> Option<usize> {
        let Self { near, level, values, .. } = self;
        let held = (0..near.len()).filter(|place| near[*place].holds(case, *level, values));
        held.min_by_key(|place| counts[*place])
    }

    /// Whether a case lies at a bound of a rule, on this side of it.
    fn is_at_edge(&mut self, case: &Case, side: Side) -> bool {
        let Self { edges, beyond, level, values, .. } = self;
        let forms = if matches!(side, Side::Inside(_)) { edges } else { beyond };
        forms.iter().any(|one| one.holds(case, *level, values))
    }

    fn side(&mut self, case: &Case) -> Side {
        let Self { own, others, near, level, values, .. } = self;
        let mut holds = |one: &Predicate| one.holds(case, *level, values);
        if let Some(place) = own.iter().position(|one| one.as_ref().is_none_or(&mut holds)) {
            Side::Inside(place)
        } else if others.iter().any(&mut holds) {
            Side::Other
        } else if near.iter().any(&mut holds) {
            Side::Near
        } else {
            Side::Far
        }
    }
}

/// What is asked about the rules of one kind of failures.
struct Weighing<'a> {
    rules: Rules,
    /// For each weaker form, the number of cases that were asked since it holds.
    near: Vec<usize>,
    cases: Candidates<'a>,
    /// Passes whose data may hide a failure.
    hiding: Vec<&'a Case>,
    class: &'a str,
    /// The cases that are asked on each side.
    side: usize,
    budget: Budget<'a>,
}

/// What the answers say.
struct Weighed {
    /// For each rule. The cases for which no rule holds count for each of them.
    tallies: Vec<Estimate>,
    asked: usize,
    /// The answers that a rule gets wrong.
    refuting: Vec<Labelled>,
}

impl Weighing<'_> {
    /// Asks until each side has enough cases, an answer refutes a rule, or nothing is answered.
    fn run(mut self, ask: &mut dyn Ask) -> Weighed {
        let side = self.side;
        let tallies = vec![Estimate::default(); self.rules.own.len()];
        let mut weighed = Weighed { tallies, asked: 0, refuting: Vec::new() };
        for time in 0..TIMES {
            let is_enough = |tally: &Estimate| tally.held >= side && tally.not_held >= side;
            if weighed.tallies.iter().all(is_enough) || (self.budget.is_over)() {
                break;
            }
            let chosen = self.chosen(&weighed.tallies, time < EDGE_TIMES);
            if chosen.is_empty() {
                continue;
            }
            let cases: Vec<Case> = chosen.iter().map(|(_, case)| case.clone()).collect();
            let labels = ask.ask(&cases);
            let answered = labels.iter().filter(|label| **label != Label::Unknown).count();
            weighed.asked += answered;
            for ((side, case), label) in chosen.into_iter().zip(labels) {
                self.count(side, case, &label, &mut weighed, ask);
            }
            if answered == 0 || !weighed.refuting.is_empty() {
                break;
            }
        }
        if weighed.refuting.is_empty() && weighed.asked > 0 {
            self.ask_hiding(&mut weighed, ask);
        }
        weighed
    }

    /// Asks passes for which a rule holds with other data. One that shows an element from each place and
    /// still passes counts against the rule. Rules are not learned again for it: they would exclude it by
    /// chance.
    fn ask_hiding(&mut self, weighed: &mut Weighed, ask: &mut dyn Ask) {
        let hiding = std::mem::take(&mut self.hiding).into_iter();
        let held = hiding.filter_map(|case| match self.rules.side(case) {
            Side::Inside(place) if self.cases.is_of_kind(case) => Some((place, case)),
            _ => None,
        });
        let held: Vec<(usize, &Case)> = held.take(HIDING).collect();
        for (place, case) in held {
            if self.fails_with_other_data(place, case, weighed, ask) == Some(false) {
                weighed.tallies[place].count(true, false);
            }
        }
    }

    /// Cases of each side that lacks some. `keeps_room` is whether a third of the room on each side is for
    /// cases at a bound.
    fn chosen(&mut self, tallies: &[Estimate], keeps_room: bool) -> Vec<(Side, Case)> {
        let most = self.side;
        let kept = |forms: &[Predicate]| if keeps_room && !forms.is_empty() { most / 3 } else { 0 };
        let (kept, kept_outside) = (kept(&self.rules.edges), kept(&self.rules.beyond));
        // Each weaker form has its share, since few cases contradict a condition that rarely matters.
        let share = if keeps_room { (most - kept_outside) / self.near.len().max(1) } else { most };
        let mut room: Vec<usize> = tallies.iter().map(|tally| most.saturating_sub(tally.held)).collect();
        let mut outside = most.saturating_sub(tallies[0].not_held);
        let mut far = FAR;
        let mut chosen = Vec::new();
        for _ in 0..DRAWN {
            let is_walked = self.cases.draws.chance(1, WALKED);
            let case = if is_walked {
                self.cases.walked(|case| matches!(self.rules.side(case), Side::Inside(_)))
            } else {
                self.cases.next()
            };
            let Some(case) = case else { continue };
            let side = self.rules.side(&case);
            let left = match side {
                Side::Inside(place) if room[place] <= kept && !self.rules.is_at_edge(&case, side) => continue,
                Side::Inside(place) => &mut room[place],
                Side::Near if outside <= kept_outside && !self.rules.is_at_edge(&case, side) => continue,
                Side::Near => {
                    let Some(form) = self.rules.rarest(&case, &self.near) else { continue };
                    if self.near[form] >= share && !self.rules.is_at_edge(&case, side) {
                        continue;
                    }
                    self.near[form] += 1;
                    &mut outside
                }
                Side::Far if outside > kept_outside => &mut far,
                Side::Far | Side::Other => continue,
            };
            if *left > 0 {
                *left -= 1;
                outside -= usize::from(side == Side::Far);
                chosen.push((side, case));
            }
        }
        chosen
    }

    /// Counts an answer. A pass where a rule holds counts if its data, or other data, show each element.
    fn count(&mut self, side: Side, case: Case, label: &Label, weighed: &mut Weighed, ask: &mut dyn Ask) {
        let Some(failed) = label.failed(self.class) else { return };
        let Side::Inside(place) = side else {
            for tally in &mut weighed.tallies {
                tally.count(false, failed);
            }
            if failed {
                weighed.refuting.push(Labelled { case, label: label.clone() });
            }
            return;
        };
        let told = if failed { Some(true) } else { self.fails_with_other_data(place, &case, weighed, ask) };
        let Some(failed) = told else { return };
        weighed.tallies[place].count(true, failed);
        if !failed {
            weighed.refuting.push(Labelled { case, label: Label::Passed });
        }
    }

    /// Whether a case that passed fails with other data. `None` if no data tell. A narrow type has no
    /// distinct elements for a large tensor, but a wrong one shows in nearly all random data.
    fn fails_with_other_data(
        &mut self,
        place: usize,
        case: &Case,
        weighed: &mut Weighed,
        ask: &mut dyn Ask,
    ) -> Option<bool> {
        let (mut is_told, mut random) = (has_only_distinct_elements(case), 0);
        let others: Vec<Case> = variants(case)
            .into_iter()
            .filter(|other| self.rules.side(other) == Side::Inside(place))
            .collect();
        for (other, label) in others.iter().zip(ask.ask(&others)) {
            weighed.asked += usize::from(label != Label::Unknown);
            match label {
                Label::Failed(class) if class == self.class => return Some(true),
                Label::Passed => {
                    is_told |= has_only_distinct_elements(other);
                    random += usize::from(is_random(other));
                }
                _ => {}
            }
        }
        (is_told || random >= RANDOM).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_spec::Validity;

    use super::*;
    use crate::learned::LearnedRule;

    #[test]
    fn operators_with_one_rule_share_its_evidence() {
        let of = |operator: &str, condition: &str, exact: bool| {
            let condition = condition.to_owned();
            let found =
                LearnedRule { condition, conditions: 1, held_failing: 9, held_passing: 0, estimate: None };
            Learned {
                operator: operator.to_owned(),
                class: "wrong value".to_owned(),
                validity: Validity::Valid,
                predicates: vec![found],
                exact,
                estimate: None,
                wrong: 0,
                is_lost: false,
                rounds: 0,
                asked: 0,
                counterexamples: 0,
                weighed: 0,
            }
        };
        let backwards = of("SLICE1", "any axis InputWindowStrides < 0", true);
        let learned =
            [of("SLICE", "any axis Strides < 0", true), backwards, of("PADDING1", "rank > 2", true)];
        assert_eq!(shares(&learned, Library::embedded(), 3_000), [1_500, 1_500, 3_000]);
        let learned = [of("SLICE", "rank > 2", false), of("PADDING1", "rank > 2", true)];
        assert_eq!(shares(&learned, Library::embedded(), 3_000)[1], 3_000, "one that is wrong has no share");
    }
}
