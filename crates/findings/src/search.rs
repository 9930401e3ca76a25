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
/// The longer states that are compared at a time.
const NEW: usize = 1600;
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
struct BeamState {
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
        let mut solved: Vec<BeamState> = Vec::new();
        let mut best: Option<BeamState> = None;
        let longest = if self.aim == Aim::All { LONGEST } else { LONGEST_OF_MANY };
        // One more level than the first solution: a longer rule may be easier to read.
        let mut last = longest;
        for length in 0..=longest {
            for state in &beam {
                if self.is_solved(state) {
                    solved.push(state.clone());
                    last = last.min(length + 1);
                }
                let rank = |of: &BeamState| self.rank((of.failed.count(), of.passed.count()), of.weight);
                let is_better = |known: &BeamState| rank(state) < rank(known);
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

    fn start(&self) -> BeamState {
        let (failed, passed) = (Bits::all(self.failed), Bits::all(self.passed));
        BeamState {
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

    fn is_solved(&self, state: &BeamState) -> bool {
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
    fn worth(&self, state: &BeamState) -> (i64, u32, Vec<usize>, Vec<usize>) {
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

    /// The order of states that are not solutions, by the numbers of cases for which they hold.
    fn rank(&self, (failed, passed): (usize, usize), weight: u32) -> (i64, u32) {
        let rank = match self.aim {
            // Light conditions go first: many heavy ones exclude a few passes more by chance.
            Aim::All => (passed * (PLAIN + weight as usize)) as i64,
            Aim::Many => -self.gain(failed, passed),
        };
        (rank, weight)
    }

    /// The best states with one condition more.
    fn longer(&self, beam: &[BeamState]) -> Vec<BeamState> {
        let mut best = Best::default();
        for (place, state) in beam.iter().enumerate() {
            let count = state.passed.count();
            for (index, candidate) in self.candidates.iter().enumerate() {
                let passed = state.passed.common(&candidate.passed);
                if passed < count && !state.rule.contains(&index) {
                    let weight = state.weight + candidate.weight;
                    let counts = (|| state.failed.common(&candidate.failed), passed);
                    self.offer(&mut best, beam, (place, Extension::Condition(index)), counts, weight);
                }
            }
            let failed_axes = open(&state.failed_axes, &state.own.0);
            let passed_axes = open(&state.passed_axes, &state.own.1);
            for index in 0..if place < GROUPED { self.members.len() } else { 0 } {
                let member = &self.members[index];
                let is_lost =
                    |(one, other): (&u8, &u8)| (one & other).count_ones() < u32::from(self.at_least);
                let loses_one = || failed_axes.iter().zip(&member.failed).any(is_lost);
                if state.group.contains(&index) || self.aim == Aim::All && loses_one() {
                    continue;
                }
                let passed = in_common(&passed_axes, &member.passed, self.at_least);
                // A group of one atom is a condition, so groups begin with the second.
                if passed < count || state.group.is_empty() {
                    let counts = (|| in_common(&failed_axes, &member.failed, self.at_least), passed);
                    let weight = self.weight_with(state, member);
                    self.offer(&mut best, beam, (place, Extension::Member(index)), counts, weight);
                }
            }
        }
        self.settle(&mut best, beam);
        best.states.into_iter().map(|(_, state)| state).collect()
    }

    /// Takes note of a longer state, unless it is worse than all that are kept. Most are, so that a state is
    /// made only if it may be kept.
    fn offer(
        &self,
        best: &mut Best,
        beam: &[BeamState],
        (place, part): (usize, Extension),
        (failed, passed): (impl Fn() -> usize, usize),
        weight: u32,
    ) {
        let failed = if self.aim == Aim::All { self.failed } else { failed() };
        if self.aim == Aim::Many && failed < LEAST.min(self.failed) {
            return;
        }
        let rank = self.rank((failed, passed), weight);
        let worst = best.states.get(WIDTH - 1).map(|((rank, ..), _)| *rank);
        if worst.is_none_or(|worst| rank <= worst) {
            best.new.push((rank, place, part));
        }
        if best.new.len() >= NEW {
            self.settle(best, beam);
        }
    }

    /// Keeps the best states, without those that hold for the same cases and axes as a better one.
    fn settle(&self, best: &mut Best, beam: &[BeamState]) {
        let new = std::mem::take(&mut best.new).into_iter().map(|(rank, place, part)| {
            let (mut rule, mut group) = (beam[place].rule.clone(), beam[place].group.clone());
            let (list, index) = match part {
                Extension::Condition(index) => (&mut rule, index),
                Extension::Member(index) => (&mut group, index),
            };
            list.push(index);
            list.sort_unstable();
            ((rank, rule, group), Err((place, part)))
        });
        let made = std::mem::take(&mut best.states).into_iter();
        let mut all: Vec<_> = made.map(|(order, state)| (order, Ok(state))).chain(new).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut known = BTreeSet::new();
        for (order, state) in all {
            let state = state.unwrap_or_else(|(place, part)| match part {
                Extension::Condition(index) => self.with_condition(&beam[place], index),
                Extension::Member(index) => self.with_member(&beam[place], index),
            });
            let axes = if state.group.is_empty() { Vec::new() } else { state.passed_axes.clone() };
            if known.insert((state.failed.clone(), state.passed.clone(), axes)) {
                best.states.push((order, state));
            }
            if best.states.len() == WIDTH {
                break;
            }
        }
    }

    fn with_condition(&self, state: &BeamState, index: usize) -> BeamState {
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

    /// The state with an atom more in its group.
    fn with_member(&self, state: &BeamState, index: usize) -> BeamState {
        let member = &self.members[index];
        let joined = |one: &[u8], other: &[u8]| -> Vec<u8> {
            one.iter().zip(other).map(|(one, other)| one & other).collect()
        };
        let enough = |axes: &u8| axes.count_ones() >= u32::from(self.at_least);
        let failed_axes = joined(&state.failed_axes, &member.failed);
        let passed_axes = joined(&state.passed_axes, &member.passed);
        let failed = state.own.0.and(&Bits::of(&failed_axes, enough));
        let passed = state.own.1.and(&Bits::of(&passed_axes, enough));
        let mut group = state.group.clone();
        group.push(index);
        group.sort_unstable();
        let weight = self.weight_with(state, member);
        let (rule, own) = (state.rule.clone(), state.own.clone());
        BeamState { rule, group, failed_axes, passed_axes, own, failed, passed, weight }
    }

    /// The weight of a state with an atom more in its group.
    fn weight_with(&self, state: &BeamState, member: &Member) -> u32 {
        let form = if self.at_least == 1 { 2 } else { 14 };
        state.weight + member.weight + 8 + if state.group.is_empty() { form } else { 0 }
    }

    fn rule(&self, state: &BeamState) -> Rule {
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

/// A part that a state may get: a condition or an atom of its group, by its index.
#[derive(Clone, Copy)]
enum Extension {
    Condition(usize),
    Member(usize),
}

/// The order of states: the rank, then the conditions and the group.
type Order = ((i64, u32), Vec<usize>, Vec<usize>);

/// The best states so far, and those that are not made yet: the rank, the place in the beam and the part.
#[derive(Default)]
struct Best {
    states: Vec<(Order, BeamState)>,
    new: Vec<((i64, u32), usize, Extension)>,
}

/// The axes of a state's group, without those of cases for which its conditions do not hold.
fn open(axes: &[u8], own: &Bits) -> Vec<u8> {
    let axes = axes.iter().enumerate();
    axes.map(|(case, axes)| if own.contains(case) { *axes } else { 0 }).collect()
}

/// The number of cases that have `at_least` axes in both lists.
fn in_common(one: &[u8], other: &[u8], at_least: u8) -> usize {
    let pairs = one.iter().zip(other);
    match at_least {
        // The compiler asks many cases at once.
        1 => pairs.filter(|(one, other)| *one & *other != 0).count(),
        _ => pairs.filter(|(one, other)| (*one & *other).count_ones() >= u32::from(at_least)).count(),
    }
}
