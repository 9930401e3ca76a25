//! Learns one rule after another until each failure has one. The first rule is for all failures if there is
//! such a rule. Each further one is for failures that the rules before it miss.
//!
//! The search runs on a sample of the cases. A rule that it finds is checked on all cases; those that it gets
//! wrong join the sample, and the search runs again.

use dmlcts_generate::draw::Draws;

use crate::{
    atom::Atom,
    effort::Effort,
    pool::{Candidate, Sample},
    proposals,
    rule::Rule,
    rule_set::RuleSet,
    search::{Aim, IMPURITY, Search},
    simplify::simplified,
    universe::Universe,
};

/// The failures and passes of a first sample.
const FAILURES: usize = 250;
const PASSES: usize = 600;
/// The failures of a sample for rules about many failures, and half of its passes.
const MANY: usize = 250;
/// The cases that join a sample at a time, and the number of times.
const VIOLATORS: usize = 60;
const ATTEMPTS: usize = 8;
/// The passes for which a rule about some of the failures would hold by chance, at least. There are tens of
/// thousands of conditions, so that some exclude a few passes without a reason.
const EXPECTED: usize = 24;
/// The rules for one class of failures.
const MOST_RULES: usize = 8;

/// Learns one rule that asks for data and holds for all failures and no pass. No rules if there is none.
pub(crate) fn learn_of_data(universe: &Universe<'_>, seed: u64, effort: &Effort<'_>) -> RuleSet {
    let mut sample = first_sample(universe, &[], seed);
    let cases: Vec<usize> = sample.failed.iter().chain(&sample.passed).copied().collect();
    let atoms = proposals::atoms(universe, &cases);
    let failures = universe.of_outcome(true);
    let found = one_rule((universe, effort), &atoms, &failures, &mut sample, Aim::All);
    let asks_for_data = |rule: &Rule| {
        let mut of_rule = rule.conditions.iter().flat_map(|condition| &condition.atoms);
        of_rule.any(|atom| universe.terms.words[atoms[*atom].test.term()].is_of_data)
    };
    let found = found.map(|found| found.rules).unwrap_or_default().into_iter().filter(asks_for_data);
    let best = found.map(|rule| simplified(&rule, &atoms, universe, &failures)).find(asks_for_data);
    let rules = best.into_iter().collect();
    RuleSet { atoms, rules, ..RuleSet::default() }
}

/// Learns the rules without a look at modes. The first rule has this aim.
pub(crate) fn learn_once(
    universe: &Universe<'_>,
    hints: &[usize],
    seed: u64,
    (aim, effort): (Aim, &Effort<'_>),
) -> RuleSet {
    let mut sample = first_sample(universe, hints, seed);
    let all: Vec<usize> = sample.failed.iter().chain(&sample.passed).copied().collect();
    let mut rules = RuleSet { atoms: proposals::atoms(universe, &all), ..RuleSet::default() };
    let mut left = universe.of_outcome(true);
    let mut near = None;
    while !left.is_empty() && rules.rules.len() < MOST_RULES && !effort.is_over() {
        let is_first = rules.rules.is_empty();
        let mut one = |aim: Aim| one_rule((universe, effort), &rules.atoms, &left, &mut sample, aim);
        let of_all = if is_first && aim == Aim::Many { Err(None) } else { one(Aim::All) };
        let found = match of_all {
            Ok(found) => Some(found),
            Err(_) if !is_first => one(Aim::Many).ok(),
            Err(near_all) => {
                near = near_all;
                one(Aim::Many).ok().or_else(|| match &near {
                    Some(near) => near.clone().if_near((universe, &rules.atoms), &left),
                    None => nearest((universe, effort), &rules.atoms, &left, &sample),
                })
            }
        };
        let Some(Solutions { rules: mut fitting, candidates }) = found else { break };
        let rule = simplified(&fitting.remove(0), &rules.atoms, universe, &left);
        let before = left.len();
        left.retain(|case| !rule.holds(&rules.atoms, universe, *case));
        if left.len() == before {
            break;
        }
        rules.rules.push(rule);
        rules.others.extend(fitting);
        if is_first {
            rules.candidates = candidates;
        }
        sample.failed.retain(|case| left.contains(case));
    }
    if let Some(near) = near.filter(|_| rules.rules.len() > 1) {
        let one = single(universe, &rules, near);
        return one.filter(|one| one.cost(universe) < rules.cost(universe)).unwrap_or(rules);
    }
    rules
}

/// The one rule that comes nearest to all failures, if it holds for more failures than passes.
fn single(universe: &Universe<'_>, rules: &RuleSet, near: Solutions) -> Option<RuleSet> {
    let all = universe.of_outcome(true);
    let Solutions { rules: found, candidates } = near.if_near((universe, &rules.atoms), &all)?;
    let found = found.iter().map(|rule| simplified(rule, &rules.atoms, universe, &all)).collect();
    Some(RuleSet { atoms: rules.atoms.clone(), rules: found, candidates, ..RuleSet::default() })
}

/// A sample of the failures and passes, with the hints.
fn first_sample(universe: &Universe<'_>, hints: &[usize], seed: u64) -> Sample {
    let mut draws = Draws::new(seed);
    let mut of = |failed: bool, most: usize| {
        let mut cases = universe.of_outcome(failed);
        draws.shuffle(&mut cases);
        cases.truncate(most);
        cases.extend(hints.iter().copied().filter(|case| universe.is_failure(*case) == failed));
        cases.sort_unstable();
        cases.dedup();
        cases
    };
    Sample { failed: of(true, FAILURES), passed: of(false, PASSES) }
}

/// A rule for the failures that are left: for all of them, or for many. If there is none, the error is the
/// rule that came nearest.
fn one_rule(
    (universe, effort): (&Universe<'_>, &Effort<'_>),
    atoms: &[Atom],
    left: &[usize],
    sample: &mut Sample,
    aim: Aim,
) -> Result<Solutions, Option<Solutions>> {
    if sample.failed.is_empty() {
        sample.failed = left.iter().copied().take(VIOLATORS).collect();
    }
    // Rules for many failures need fewer cases, and the search for them takes longer.
    let mut fewer = sample.fewer(MANY);
    let sample = if aim == Aim::Many { &mut fewer } else { sample };
    let mut near = None;
    for _ in 0..ATTEMPTS {
        let mut found = solutions((universe, effort), atoms, sample, aim)?;
        let checked: Vec<Check> =
            found.rules.iter().map(|rule| Check::of(rule, universe, atoms, left)).collect();
        let fitting: Vec<Rule> = found
            .rules
            .iter()
            .zip(&checked)
            .filter(|(_, check)| check.fits(aim) && (aim == Aim::All || tells_apart(check.held, universe)))
            .map(|(rule, _)| rule.clone())
            .collect();
        if !fitting.is_empty() {
            found.rules = fitting;
            return Ok(found);
        }
        found.rules.truncate(1);
        near = Some(found);
        let before = sample.failed.len() + sample.passed.len();
        for Check { missed, wrong, .. } in checked {
            let missed = if aim == Aim::All { missed } else { Vec::new() };
            for (known, new) in [(&mut sample.failed, missed), (&mut sample.passed, wrong)] {
                known.extend(new.into_iter().take(VIOLATORS));
                known.sort_unstable();
                known.dedup();
            }
        }
        if sample.failed.len() + sample.passed.len() == before {
            break;
        }
    }
    Err(near)
}

/// The rules of a search, the lightest first. There is at least one.
#[derive(Clone)]
struct Solutions {
    rules: Vec<Rule>,
    candidates: Vec<Candidate>,
}

impl Solutions {
    /// The same, if its rule holds for more of the failures that are left than passes.
    fn if_near(self, (universe, atoms): (&Universe<'_>, &[Atom]), left: &[usize]) -> Option<Self> {
        let check = Check::of(self.rules.first()?, universe, atoms, left);
        (check.held > check.wrong.len()).then_some(self)
    }
}

/// The solutions of a search on the sample. If none is for all failures on one axis, two and three axes are
/// tried. If there is none at all, the error is the rule that comes nearest on one axis.
fn solutions(
    (universe, effort): (&Universe<'_>, &Effort<'_>),
    atoms: &[Atom],
    sample: &Sample,
    aim: Aim,
) -> Result<Solutions, Option<Solutions>> {
    let mut search = Search::new(atoms, universe, sample, aim);
    let mut near = None;
    for at_least in 1..=3 {
        let (rules, best) = search.run(effort);
        let found = |rules| Solutions { rules, candidates: search.candidates().to_vec() };
        if !rules.is_empty() {
            return Ok(found(rules));
        }
        if aim == Aim::Many {
            break;
        }
        if at_least == 1 {
            near = best.map(|rule| found(vec![rule]));
        }
        search = search.on_axes(universe, sample, at_least + 1);
    }
    Err(near)
}

/// The rule that comes nearest to all failures and no pass, if it holds for more failures than passes.
fn nearest(
    (universe, effort): (&Universe<'_>, &Effort<'_>),
    atoms: &[Atom],
    left: &[usize],
    sample: &Sample,
) -> Option<Solutions> {
    let search = Search::new(atoms, universe, sample, Aim::All);
    let rule = search.run(effort).1?;
    let near = Solutions { rules: vec![rule], candidates: search.candidates().to_vec() };
    near.if_near((universe, atoms), left)
}

/// Whether a rule that holds for this number of failures and for hardly a pass says something. If it held by
/// chance, it would hold for as large a share of the passes as of the failures.
pub(crate) fn tells_apart(held: usize, universe: &Universe<'_>) -> bool {
    let failures = universe.of_outcome(true).len();
    held * (universe.len() - failures) >= EXPECTED * failures
}

/// What all cases say of a rule for the failures that are left.
struct Check {
    held: usize,
    /// The failures that it misses.
    missed: Vec<usize>,
    /// The passes for which it holds.
    wrong: Vec<usize>,
}

impl Check {
    fn of(rule: &Rule, universe: &Universe<'_>, atoms: &[Atom], left: &[usize]) -> Self {
        let holds = |case: &usize| rule.holds(atoms, universe, *case);
        let missed: Vec<usize> = left.iter().copied().filter(|case| !holds(case)).collect();
        let is_wrong = |case: &usize| !universe.is_failure(*case) && holds(case);
        Self {
            held: left.len() - missed.len(),
            missed,
            wrong: (0..universe.len()).filter(is_wrong).collect(),
        }
    }

    fn fits(&self, aim: Aim) -> bool {
        match aim {
            Aim::All => self.missed.is_empty() && self.wrong.is_empty(),
            Aim::Many => self.held > 0 && self.wrong.len() * IMPURITY <= self.held,
        }
    }
}
