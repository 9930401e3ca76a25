//! Chooses cases to ask: where a rule holds, where all but one of its conditions hold, where none holds, and
//! where another rule that fits the labels disagrees.

use std::collections::BTreeSet;

use dmlcts_generate::draw::Draws;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{IdSet, Judgement, Operator, Scratch, Validity};

use crate::{
    fresh::Fresh,
    mutate::{Donors, is_large, is_passed_over, mutant, resize_one},
    rule::{Condition, Form, Rule},
    rule_set::RuleSet,
    simplify::shorter,
    substitutes::substitutes,
    universe::Universe,
};

/// The fresh cases and mutants to choose from, and the mutants that are tried.
const FRESH: usize = 400;
const MUTANTS: usize = 1400;
const TRIED: usize = 9000;
/// One mutant of an invalid case in this number has a list of another length.
const RESIZED: u64 = 12;

/// The questions of a round: for each kind.
const HOLDS: usize = 40;
const NEAR: usize = 14;
const NONE: usize = 40;
const PLAIN: usize = 30;
const DECIDING: usize = 50;
const UNUSUAL: usize = 40;
/// The weight up to which a condition that failures share is doubted.
const SIMPLE: u32 = 40;

/// Which descs an experiment asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Valid ones.
    Valid,
    /// Invalid ones that break all clauses that a known failure breaks.
    Breaking(Vec<IdSet>),
}

impl Asked {
    /// The descs that are judged like these failures, which have this validity.
    pub(crate) fn like<'a>(
        validity: Validity,
        failures: impl Iterator<Item = &'a Case>,
        operator: &Operator,
        level: FeatureLevel,
    ) -> Self {
        if validity == Validity::Valid {
            return Self::Valid;
        }
        let mut scratch = Scratch::default();
        let violated = |case: &Case| operator.judge(&case.desc, level, &mut scratch).violated;
        let mut sets: Vec<IdSet> = failures.map(violated).collect();
        sets.sort_by_key(|set| set.bits());
        sets.dedup();
        Self::Breaking(sets)
    }

    /// Whether a case of this judgement, which was drawn, is asked. Large valid ones are asked less often.
    pub(crate) fn takes(&self, case: &Case, judgement: Judgement, draws: &mut Draws) -> bool {
        self.includes(case, judgement) && (*self != Self::Valid || !is_passed_over(case, draws))
    }

    /// Whether a case of this judgement may be asked. Only valid descs run, so that others may be large.
    pub(crate) fn includes(&self, case: &Case, judgement: Judgement) -> bool {
        match self {
            Self::Valid => judgement.validity() == Validity::Valid && !is_large(case),
            Self::Breaking(sets) => sets.iter().any(|set| judgement.violated.contains_all(*set)),
        }
    }
}

/// What proposals draw from.
pub(crate) struct ProposalSource<'a, 'lib> {
    pub(crate) operator: &'a Operator,
    pub(crate) asked: &'a Asked,
    pub(crate) fresh: &'a mut Fresh<'lib>,
    pub(crate) draws: &'a mut Draws,
    /// The lines of the cases that have a label.
    pub(crate) known: &'a mut BTreeSet<String>,
}

/// The cases to ask next.
pub(crate) fn questions(
    rules: &RuleSet,
    universe: &Universe<'_>,
    source: &mut ProposalSource<'_, '_>,
) -> Vec<Case> {
    let mut pool = Universe::new(universe.terms, universe.threads);
    fresh_cases(&mut pool, source, universe, FRESH);
    let plain = pool.len();
    mutants(&mut pool, rules, universe, source);
    let mut chosen = Chosen { order: Vec::new(), set: BTreeSet::new() };
    let holds: Vec<bool> = (0..pool.len()).map(|case| rules.hold(&pool, case)).collect();
    deciding(rules, universe, &pool, &holds, &mut chosen);
    unusual(rules, universe, &pool, &mut chosen);
    for rule in &rules.rules {
        near(rule, rules, &pool, &holds, source.draws, &mut chosen);
    }
    let of = |wanted: bool| (0..pool.len()).filter(|case| holds[*case] == wanted).collect::<Vec<_>>();
    chosen.some(of(true), HOLDS, source.draws);
    chosen.some(of(false).into_iter().filter(|case| *case >= plain).collect(), NONE, source.draws);
    chosen.some((0..plain).collect(), PLAIN, source.draws);
    let cases: Vec<Case> = chosen.order.iter().map(|case| pool.case(*case).clone()).collect();
    source.known.extend(cases.iter().map(ToString::to_string));
    cases
}

/// Adds fresh cases to a pool. Fresh valid cases become invalid by edits that take values from failures, if
/// that is what is asked for.
pub(crate) fn fresh_cases(
    pool: &mut Universe<'_>,
    source: &mut ProposalSource<'_, '_>,
    universe: &Universe<'_>,
    count: usize,
) {
    let mut scratch = Scratch::default();
    let failures = universe.of_outcome(true);
    let mut found = Vec::new();
    for _ in 0..count * 20 {
        if found.len() >= count {
            break;
        }
        let Some(mut case) = source.fresh.next() else { break };
        if *source.asked != Asked::Valid {
            let Some(failure) = source.draws.pick(&failures) else { break };
            let donors = [universe.case(*failure).clone()];
            let donors = Donors { cases: &donors, numbers: &[0, 1, -1, i64::from(u32::MAX)] };
            case = mutant(&case, &donors, source.draws);
        }
        let judgement = source.operator.judge(&case.desc, pool.terms.level, &mut scratch);
        if source.asked.takes(&case, judgement, source.draws) && !source.known.contains(&case.to_string()) {
            found.push((case, false));
        }
    }
    pool.extend(&found);
}

/// Adds mutants: three in four of a failure, the others of any case.
fn mutants(
    pool: &mut Universe<'_>,
    rules: &RuleSet,
    universe: &Universe<'_>,
    source: &mut ProposalSource<'_, '_>,
) {
    let mut scratch = Scratch::default();
    let numbers = numbers(rules);
    let failures = universe.of_outcome(true);
    let donors: Vec<Case> = {
        let mut of = |most: usize| -> Vec<Case> {
            (0..most).filter_map(|_| source.draws.pick(universe.cases()).cloned()).collect()
        };
        of(200)
    };
    let donors = Donors { cases: &donors, numbers: &numbers };
    let mut found = Vec::new();
    let mut lines = BTreeSet::new();
    for _ in 0..TRIED {
        if found.len() >= MUTANTS {
            break;
        }
        let base = if source.draws.chance(3, 4) { source.draws.pick(&failures).copied() } else { None };
        let base = base.unwrap_or_else(|| source.draws.place(universe.len()));
        let mut case = mutant(universe.case(base), &donors, source.draws);
        if *source.asked != Asked::Valid && source.draws.chance(1, RESIZED) {
            resize_one(&mut case, source.draws);
        }
        let judgement = source.operator.judge(&case.desc, pool.terms.level, &mut scratch);
        if !source.asked.takes(&case, judgement, source.draws) {
            continue;
        }
        let line = case.to_string();
        if !source.known.contains(&line) && lines.insert(line) {
            found.push((case, false));
        }
    }
    pool.extend(&found);
}

/// The numbers that rules compare with, their neighbours, and small ones.
fn numbers(rules: &RuleSet) -> Vec<i64> {
    let mut numbers: BTreeSet<i64> = [0, 1, 2, 3, -1].into();
    let of_rules = rules.rules.iter().chain(rules.others.iter().take(8));
    for atom in of_rules.flat_map(|rule| &rule.conditions).flat_map(|condition| &condition.atoms) {
        if let Some(number) = rules.atoms[*atom].test.number() {
            numbers.extend([number.saturating_sub(1), number, number.saturating_add(1)]);
        }
    }
    numbers.into_iter().collect()
}

struct Chosen {
    order: Vec<usize>,
    set: BTreeSet<usize>,
}

impl Chosen {
    /// Adds a number of these cases.
    fn some(&mut self, mut cases: Vec<usize>, most: usize, draws: &mut Draws) {
        draws.shuffle(&mut cases);
        let mut added = 0;
        for case in cases {
            if added < most && self.set.insert(case) {
                self.order.push(case);
                added += 1;
            }
        }
    }
}

/// Chooses cases that decide between the rules and other rules that fit the labels. The case that decides
/// most is chosen first.
fn deciding(
    rules: &RuleSet,
    universe: &Universe<'_>,
    pool: &Universe<'_>,
    holds: &[bool],
    chosen: &mut Chosen,
) {
    let is_single = rules.rules.len() == 1;
    let others = rules.others.iter().filter(|_| is_single).cloned();
    let of_rules = rules.rules.iter().flat_map(|rule| {
        substitutes(rules, rule, universe).into_iter().map(move |substitute| (Some(rule), substitute))
    });
    let rivals = of_rules.chain(others.map(|other| (None, other))).map(|(rule, rival)| {
        let differs = |case: &usize| {
            let own = rule.map_or(holds[*case], |rule| rule.holds(&rules.atoms, pool, *case));
            own != rival.holds(&rules.atoms, pool, *case)
        };
        (0..pool.len()).filter(differs).collect()
    });
    chosen.cover(rivals, pool.len(), DECIDING);
}

/// Cases for which a rule holds, but not a condition that all known failures share. If they pass, the rule
/// lacks the condition.
fn unusual(rules: &RuleSet, universe: &Universe<'_>, pool: &Universe<'_>, chosen: &mut Chosen) {
    let held: Vec<usize> = (0..pool.len()).filter(|case| rules.hold(pool, *case)).collect();
    let lacking = |condition: &Condition| -> Vec<usize> {
        held.iter().copied().filter(|case| !condition.holds(&rules.atoms, pool, *case)).collect()
    };
    let is_single = rules.rules.len() == 1;
    let shared = rules.candidates.iter().filter(|one| is_single && one.weight <= SIMPLE);
    chosen.cover(shared.map(|one| lacking(&one.condition)), pool.len(), UNUSUAL);
    let narrower = rules.rules.iter().flat_map(|rule| narrower(rule, rules, universe));
    chosen.cover(narrower.map(|one| lacking(&one)), pool.len(), UNUSUAL);
}

/// The conditions of a rule on an axis, each with an atom more that holds on the same axis of all known
/// failures.
fn narrower(rule: &Rule, rules: &RuleSet, universe: &Universe<'_>) -> Vec<Condition> {
    let is_of_rule = |case: &usize| rule.holds(&rules.atoms, universe, *case);
    let failures: Vec<usize> = universe.of_outcome(true).into_iter().filter(is_of_rule).collect();
    let mut found = Vec::new();
    let shared = rules.candidates.iter().map(|one| &one.condition);
    let is_simple = |one: &&Condition| one.form == Form::Any && one.weight(&rules.atoms) <= SIMPLE;
    let shared: Vec<&Condition> = shared.filter(is_simple).collect();
    for condition in rule.conditions.iter().filter(|one| one.form == Form::Any) {
        for other in &shared {
            let mut narrower = condition.clone();
            narrower.atoms.extend(&other.atoms);
            if failures.iter().all(|case| narrower.holds(&rules.atoms, universe, *case)) {
                found.push(narrower);
            }
        }
    }
    found
}

impl Chosen {
    /// Adds cases until each rival that has cases has one of them, or `most` are added. The case that serves
    /// most rivals comes first.
    fn cover(&mut self, rivals: impl Iterator<Item = Vec<usize>>, pool: usize, most: usize) {
        let mut rivals: Vec<Vec<usize>> = rivals.collect();
        let mut votes = vec![0_usize; pool];
        rivals.iter().flatten().for_each(|case| votes[*case] += 1);
        for _ in 0..most {
            let best = (0..pool).filter(|case| votes[*case] > 0).max_by_key(|case| (votes[*case], *case));
            let Some(case) = best else { return };
            if self.set.insert(case) {
                self.order.push(case);
            }
            rivals.retain(|cases| {
                let is_served = cases.binary_search(&case).is_ok();
                if is_served {
                    for case in cases {
                        votes[*case] -= 1;
                    }
                }
                !is_served
            });
        }
    }
}

/// Cases for which all but one condition of a rule hold.
fn near(
    rule: &Rule,
    rules: &RuleSet,
    pool: &Universe<'_>,
    holds: &[bool],
    draws: &mut Draws,
    chosen: &mut Chosen,
) {
    for without in shorter(rule) {
        let is_near = |case: &usize| !holds[*case] && without.holds(&rules.atoms, pool, *case);
        chosen.some((0..pool.len()).filter(is_near).collect(), NEAR, draws);
    }
}
