//! The beam search: conjunctions are made longer by one condition at a time, and the best are kept.
//!
//! A state has conditions on the desc and on single atoms of axes, and one group of atoms that hold together
//! on an axis. The first aim is one rule that holds for all failures and no pass. Where there is none, the
//! second aim is a rule for many failures.

use std::collections::BTreeSet;

use crate::{
    atom::Atom,
    bits::Bits,
    effort::Effort,
    pool::{Candidate, Member, Sample, members, pool},
    rule::{Condition, Form, Rule},
    universe::Universe,
};

/// What a search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aim {
    /// A rule for all failures.
    All,
    /// A rule for many failures.
    Many,
}

/// The states that are made longer, by a condition and by an atom of their group.
const WIDTH: usize = 40;
const GROUPED: usize = 10;
/// The conditions of a rule.
const LONGEST: usize = 7;
const LONGEST_OF_MANY: usize = 4;
/// The candidates and members of a search for many failures.
const CANDIDATES_OF_MANY: usize = 500;
const MEMBERS_OF_MANY: usize = 160;
/// Further members of such a search: the lightest of those that hold for every failure.
const ALWAYS_OF_MANY: usize = 40;
/// Added to the weight of a state. The rank of the state is this sum times the number of its passes.
const PLAIN: usize = 40;
/// Rules that a search returns.
const RULES: usize = 12;
/// A rule for many failures holds for at least `LEAST` failures, and for at most one pass for each `IMPURITY`
/// failures.
const LEAST: usize = 4;
pub(crate) const IMPURITY: usize = 50;

#[derive(Clone)]
struct State {
    rule: Vec<usize>,
    group: Vec<usize>,
    /// The axes where the group holds.
    failed_axes: Vec<u8>,
    passed_axes: Vec<u8>,
    /// The cases for which the conditions hold, without the group.
    own: (Bits, Bits),
    /// The cases for which the state holds.
    failed: Bits,
    passed: Bits,
    weight: u32,
}

/// A search over the cases of a sample.
pub(crate) struct Search<'a> {
    atoms: &'a [Atom],
    aim: Aim,
    at_least: u8,
    candidates: Vec<Candidate>,
    members: Vec<Member>,
    failed: usize,
    passed: usize,
}

impl<'a> Search<'a> {
    /// Prepares a search. The atoms of a group hold together on one axis.
    pub(crate) fn new(atoms: &'a [Atom], universe: &Universe<'_>, sample: &Sample, aim: Aim) -> Self {
        let (failed, passed) = (sample.failed.len(), sample.passed.len());
        let least = if aim == Aim::All { failed } else { LEAST.min(failed) };
        let (candidates, members) = pool(atoms, universe, sample, least);
        let mut search = Self { atoms, aim, at_least: 1, candidates, members, failed, passed };
        if aim == Aim::Many {
            search.keep_telling();
        }
        search
    }

    /// The same search, with atoms of a group that hold together on `at_least` axes.
    pub(crate) fn on_axes(self, universe: &Universe<'_>, sample: &Sample, at_least: u8) -> Self {
        let least = if self.aim == Aim::All { self.failed } else { LEAST.min(self.failed) };
        let members = members(self.atoms, universe, sample, least, at_least);
        Self { at_least, members, ..self }
    }

    /// The conditions that hold for enough failures.
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Keeps the candidates and members that tell most by themselves.
    fn keep_telling(&mut self) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_by_cached_key(|one| (-self.gain(one.failed.count(), one.passed.count()), one.weight));
        candidates.truncate(CANDIDATES_OF_MANY);
        let mut members = std::mem::take(&mut self.members);
        let on =
            |axes: &[u8]| axes.iter().filter(|axes| axes.count_ones() >= u32::from(self.at_least)).count();
        members
            .sort_by_cached_key(|one| (-self.gain(on(&one.failed), on(&one.passed)), one.weight, one.atom));
        // What holds for every failure tells little by itself, and much beside others: that an axis is not
        // broadcast, say.
        let holds_always = |one: &Member| on(&one.failed) == self.failed;
        let mut always: Vec<Member> =
            members.split_off(MEMBERS_OF_MANY.min(members.len())).into_iter().filter(holds_always).collect();
        always.sort_by_key(|one| (one.weight, one.atom));
        members.extend(always.into_iter().take(ALWAYS_OF_MANY));
        (self.candidates, self.members) = (candidates, members);
    }

    /// FOIL's information gain of a condition that holds for these failures and passes, in thousandths of a
    /// bit.
    fn gain(&self, failed: usize, passed: usize) -> i64 {
        let share = |failed: usize, passed: usize| (failed as f64 + 1.0) / ((failed + passed) as f64 + 2.0);
        let bits = share(failed, passed).log2() - share(self.failed, self.passed).log2();
        (failed as f64 * bits * 1000.0) as i64
    }

    /// Rules that serve the aim, the best first. If there are none, the second part is the best that was
    /// found.
    pub(crate) fn run(&self, effort: &Effort<'_>) -> (Vec<Rule>, Option<Rule>) {
        let mut beam = vec![self.start()];
        let mut solved: Vec<State> = Vec::new();
        let mut best: Option<State> = None;
        let longest = if self.aim == Aim::All { LONGEST } else { LONGEST_OF_MANY };
        // One more level than the first solution: a longer rule may be easier to read.
        let mut last = longest;
        for length in 0..=longest {
            for state in &beam {
                if self.is_solved(state) {
                    solved.push(state.clone());
                    last = last.min(length + 1);
                }
                let is_better = |known: &State| self.rank(state) < self.rank(known);
                if best.as_ref().is_none_or(is_better) {
                    best = Some(state.clone());
                }
            }
            if length == last {
                break;
            }
            beam.retain(|state| !state.passed.is_empty());
            let grouped = beam.len().min(GROUPED) * self.members.len();
            effort.count(beam.len() * self.candidates.len() + grouped, self.failed + self.passed);
            beam = self.longer(&beam);
        }
        solved.sort_by_cached_key(|state| self.worth(state));
        let mut rules: Vec<Rule> = solved.iter().map(|state| self.rule(state)).collect();
        rules.dedup();
        rules.truncate(RULES);
        (rules, best.map(|state| self.rule(&state)))
    }

    fn start(&self) -> State {
        let (failed, passed) = (Bits::all(self.failed), Bits::all(self.passed));
        State {
            rule: Vec::new(),
            group: Vec::new(),
            failed_axes: vec![u8::MAX; self.failed],
            passed_axes: vec![u8::MAX; self.passed],
            own: (failed.clone(), passed.clone()),
            failed,
            passed,
            weight: 0,
        }
    }

    fn is_solved(&self, state: &State) -> bool {
        let (failed, passed) = (state.failed.count(), state.passed.count());
        match self.aim {
            Aim::All => passed == 0,
            Aim::Many => {
                let length = state.rule.len() + state.group.len();
                failed >= LEAST.min(self.failed) && failed + 1 >= 2 * length && passed * IMPURITY <= failed
            }
        }
    }

    /// The order of solutions: the weight, or for many failures how many hold. Each condition costs a
    /// tenth.
    fn worth(&self, state: &State) -> (i64, u32, Vec<usize>, Vec<usize>) {
        let covered = match self.aim {
            Aim::All => 0,
            Aim::Many => {
                let length = (state.rule.len() + state.group.len()) as i32;
                let pure = state.failed.count() as f64 - 10.0 * state.passed.count() as f64;
                -(pure * 0.9_f64.powi(length) * 1000.0) as i64
            }
        };
        (covered, state.weight, state.rule.clone(), state.group.clone())
    }

    /// The order of states that are not solutions.
    fn rank(&self, state: &State) -> (i64, u32) {
        let passed = state.passed.count();
        let rank = match self.aim {
            // Light conditions go first: many heavy ones exclude a few passes more by chance.
            Aim::All => (passed * (PLAIN + state.weight as usize)) as i64,
            Aim::Many => -self.gain(state.failed.count(), passed),
        };
        (rank, state.weight)
    }

    /// The best states with one condition more.
    fn longer(&self, beam: &[State]) -> Vec<State> {
        let mut found: Vec<((i64, u32), State)> = Vec::new();
        let mut worst = i64::MAX;
        for (place, state) in beam.iter().enumerate() {
            let count = state.passed.count();
            for (index, candidate) in self.candidates.iter().enumerate() {
                let left = state.passed.common(&candidate.passed);
                // Most candidates are worse than the states that are kept, which shows without making one.
                let rank = left * (PLAIN + (state.weight + candidate.weight) as usize);
                let is_worse = self.aim == Aim::All && rank as i64 > worst;
                if left < count && !is_worse && !state.rule.contains(&index) {
                    let longer = self.with_condition(state, index);
                    worst = self.keep(longer, &mut found).unwrap_or(worst);
                }
            }
            for index in 0..if place < GROUPED { self.members.len() } else { 0 } {
                if let Some(longer) = self.with_member(state, index, count) {
                    self.keep(longer, &mut found);
                }
            }
        }
        best_of(&mut found);
        found.into_iter().map(|(_, state)| state).collect()
    }

    /// Adds a state. Returns the rank of the worst state that is kept, if some were dropped.
    fn keep(&self, state: State, found: &mut Vec<((i64, u32), State)>) -> Option<i64> {
        if self.aim == Aim::Many && state.failed.count() < LEAST.min(self.failed) {
            return None;
        }
        found.push((self.rank(&state), state));
        if found.len() < 40 * WIDTH {
            return None;
        }
        best_of(found);
        found.get(WIDTH - 1).map(|((rank, _), _)| *rank)
    }

    fn with_condition(&self, state: &State, index: usize) -> State {
        let candidate = &self.candidates[index];
        let mut longer = state.clone();
        longer.rule.push(index);
        longer.rule.sort_unstable();
        longer.own = (state.own.0.and(&candidate.failed), state.own.1.and(&candidate.passed));
        longer.failed = state.failed.and(&candidate.failed);
        longer.passed = state.passed.and(&candidate.passed);
        longer.weight += candidate.weight;
        longer
    }

    /// The state with an atom more in its group; `None` if that excludes no pass or loses a failure that it
    /// must hold for. A group of one atom is a condition, so groups begin with the second.
    fn with_member(&self, state: &State, index: usize, count: usize) -> Option<State> {
        let member = &self.members[index];
        if state.group.contains(&index) {
            return None;
        }
        let enough = |axes: &u8| axes.count_ones() >= u32::from(self.at_least);
        let joined = |one: &[u8], other: &[u8]| -> Vec<u8> {
            one.iter().zip(other).map(|(one, other)| one & other).collect()
        };
        let is_lost = |(one, other): (&u8, &u8)| !enough(&(one & other));
        if self.aim == Aim::All && state.failed_axes.iter().zip(&member.failed).any(is_lost) {
            return None;
        }
        let passed_axes = joined(&state.passed_axes, &member.passed);
        let passed = state.own.1.and(&Bits::of(&passed_axes, enough));
        if passed.count() >= count && !state.group.is_empty() {
            return None;
        }
        let failed_axes = joined(&state.failed_axes, &member.failed);
        let failed = state.own.0.and(&Bits::of(&failed_axes, enough));
        let mut group = state.group.clone();
        group.push(index);
        group.sort_unstable();
        let form = if self.at_least == 1 { 2 } else { 14 };
        let weight = state.weight + member.weight + 8 + if state.group.is_empty() { form } else { 0 };
        let (rule, own) = (state.rule.clone(), state.own.clone());
        Some(State { rule, group, failed_axes, passed_axes, own, failed, passed, weight })
    }

    fn rule(&self, state: &State) -> Rule {
        let of_rule = state.rule.iter().map(|index| self.candidates[*index].condition.clone());
        let mut conditions: Vec<Condition> = of_rule.collect();
        if !state.group.is_empty() {
            let mut atoms: Vec<usize> = state.group.iter().map(|index| self.members[*index].atom).collect();
            atoms.sort_by_key(|atom| (self.atoms[*atom].weight, *atom));
            let form = if self.at_least == 1 { Form::Any } else { Form::AtLeast(self.at_least) };
            conditions.push(Condition { form, atoms });
        }
        conditions.sort();
        Rule { conditions }
    }
}

/// Keeps the best states, without those that hold for the same cases and axes as a better one.
fn best_of(found: &mut Vec<((i64, u32), State)>) {
    found.sort_by(|(one, a), (other, b)| (one, &a.rule, &a.group).cmp(&(other, &b.rule, &b.group)));
    let mut known = BTreeSet::new();
    found.retain(|(_, state)| {
        let axes = if state.group.is_empty() { Vec::new() } else { state.passed_axes.clone() };
        known.len() < WIDTH && known.insert((state.failed.clone(), state.passed.clone(), axes))
    });
}
