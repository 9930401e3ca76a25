//! The classes of an axis: the kinds of its sizes and list values, and the clauses that it keeps on their
//! boundary.
//!
//! Every tuple in a small box is judged once for each setting. Classes can occur together if and only if some
//! tuple in the box has them.

use dmlcts_spec::{IdSet, Scope, Scratch, Validity};

use crate::{
    lower::{INPUT, OUTPUT},
    solve::{Condition, Interval, Problem},
    space::{Setting, Space},
};

/// The greatest value in the box.
const HIGHEST: i64 = 8;
/// The least value in the box.
const LOWEST: i64 = -3;
/// The greatest input size in the box.
const LONGEST_INPUT: i64 = 4;
/// The largest number of tuples of a setting that are searched, which bounds the time for operators with many
/// lists.
const MOST_TUPLES: usize = 40_000;
/// The largest number of tuples that are kept for each combination of classes.
const ALIKE: usize = 3;

/// The class of a value.
fn class(value: i64) -> u8 {
    match value {
        i64::MIN..=-2 => 0,
        -1 => 1,
        0 => 2,
        1 => 3,
        _ => 4,
    }
}

/// A property by which tuples are classified.
pub(super) enum Feature {
    /// The class of the value at this index of a tuple.
    Value(usize),
    /// Whether this clause is on its boundary: 0 is no, 1 is yes.
    Exact(usize),
}

/// Tuples with the same classes.
pub(super) struct Kind {
    /// The code of each feature.
    pub(super) codes: Vec<u8>,
    /// Some of these tuples.
    pub(super) tuples: Vec<Vec<i64>>,
}

/// The axes in the box.
pub(super) struct Axes {
    pub(super) features: Vec<Feature>,
    /// Valid axes, by setting.
    pub(super) valid: Vec<Vec<Kind>>,
    /// Axes that violate exactly one clause: the clause, and the kinds by setting.
    pub(super) broken: Vec<(usize, Vec<Vec<Kind>>)>,
    /// Whether some setting has more tuples than were searched.
    pub(super) is_cut: bool,
}

impl Axes {
    pub(super) fn new(space: &Space<'_>) -> Self {
        let clauses = space.operator.clauses();
        let mut features: Vec<Feature> = (0..space.width()).map(Feature::Value).collect();
        let exact = (0..clauses.len()).filter(|&place| clauses[place].scope == Scope::Axis);
        features.extend(exact.map(Feature::Exact));
        let mut axes = Self { features, valid: Vec::new(), broken: Vec::new(), is_cut: false };
        for setting in &space.settings {
            axes.add(space, setting);
        }
        axes.drop_what_follows();
        axes
    }

    /// Searches the tuples of one setting: those that violate no clause, and those that violate exactly one.
    fn add(&mut self, space: &Space<'_>, setting: &Setting) {
        let mut domains = space.domains();
        for (place, domain) in domains.iter_mut().enumerate() {
            let high = if place == INPUT { LONGEST_INPUT } else { HIGHEST };
            // Sizes of 0 are included because a clause forbids them.
            let low = if place == INPUT || place == OUTPUT { 0 } else { LOWEST };
            *domain = Interval::new(domain.low.max(low), domain.high.min(high));
        }
        let (mut case, mut scratch) = (space.blank(), Scratch::default());
        let mut valid = Vec::new();
        let number = self.valid.len();
        let mut look = |axes: &mut Self, conditions: &[&Condition]| {
            let Some(problem) = Problem::new(domains.clone(), conditions.iter().copied()) else { return };
            let mut looked = 0;
            // The domains of a box are small enough to enumerate.
            let _ = problem.enumerate(&mut |tuple| {
                let judgement = space.judge_tuple(setting, tuple, &mut case, &mut scratch);
                let codes = axes.codes(tuple, judgement.boundary);
                match judgement.validity() {
                    Validity::Valid => keep(&mut valid, codes, tuple),
                    Validity::Open => {}
                    Validity::Invalid => {
                        let mut violated = judgement.violated.iter();
                        if let (Some(clause), None) = (violated.next(), violated.next()) {
                            keep(axes.broken_by(clause, number), codes, tuple);
                        }
                    }
                }
                looked += 1;
                looked < MOST_TUPLES
            });
            axes.is_cut |= looked >= MOST_TUPLES;
        };
        let kept: Vec<&Condition> = setting.conditions(true).collect();
        look(self, &kept);
        for rule in &setting.rules {
            let negated = rule.that.clone().negated();
            let others = setting.rules.iter().filter(|other| other.clause != rule.clause);
            let conditions: Vec<&Condition> =
                others.map(|other| &other.that).chain(std::iter::once(&negated)).collect();
            look(self, &conditions);
        }
        self.valid.push(valid);
    }

    /// The kinds that violate a clause in a setting.
    fn broken_by(&mut self, clause: usize, setting: usize) -> &mut Vec<Kind> {
        let place = self.broken.iter().position(|(known, _)| *known == clause).unwrap_or_else(|| {
            self.broken.push((clause, Vec::new()));
            self.broken.len() - 1
        });
        let settings = &mut self.broken[place].1;
        if settings.len() <= setting {
            settings.resize_with(setting + 1, Vec::new);
        }
        &mut settings[setting]
    }

    fn codes(&self, tuple: &[i64], exact: IdSet) -> Vec<u8> {
        let code = |feature: &Feature| match *feature {
            Feature::Value(place) => class(tuple[place]),
            Feature::Exact(clause) => u8::from(exact.contains(clause)),
        };
        self.features.iter().map(code).collect()
    }

    /// Whether the code of one feature determines that of another, among valid axes.
    fn follows(&self, feature: usize, other: usize) -> bool {
        let codes = |kind: &Kind| (kind.codes[other], kind.codes[feature]);
        let mut pairs: Vec<(u8, u8)> = self.valid.iter().flatten().map(codes).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.windows(2).all(|pair| pair[0].0 != pair[1].0)
    }

    /// Drops the features that others determine. A combination with the other feature then covers the dropped
    /// one as well.
    fn drop_what_follows(&mut self) {
        let mut differs: Vec<bool> =
            (0..self.features.len()).map(|feature| self.values(feature).len() > 1).collect();
        for feature in (0..differs.len()).rev() {
            let follows = |other: usize| other != feature && differs[other] && self.follows(feature, other);
            differs[feature] = differs[feature] && !(0..differs.len()).any(follows);
        }
        let thin = |codes: &mut Vec<u8>| {
            let mut kept = differs.iter();
            codes.retain(|_| kept.next().copied().unwrap_or(false));
        };
        let thin_kinds = |kinds: &mut Vec<Kind>| {
            let mut merged: Vec<Kind> = Vec::new();
            for mut kind in std::mem::take(kinds) {
                thin(&mut kind.codes);
                for tuple in kind.tuples {
                    keep(&mut merged, kind.codes.clone(), &tuple);
                }
            }
            *kinds = merged;
        };
        self.valid.iter_mut().for_each(thin_kinds);
        self.broken.iter_mut().flat_map(|(_, settings)| settings).for_each(thin_kinds);
        let mut kept = differs.iter();
        self.features.retain(|_| kept.next().copied().unwrap_or(false));
        self.broken.sort_by_key(|(clause, _)| *clause);
    }

    /// The codes of a feature among valid axes, in ascending order.
    pub(super) fn values(&self, feature: usize) -> Vec<u8> {
        let mut values: Vec<u8> = self.valid.iter().flatten().map(|kind| kind.codes[feature]).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// Adds a tuple to those of its kind, unless there are enough.
fn keep(kinds: &mut Vec<Kind>, codes: Vec<u8>, tuple: &[i64]) {
    match kinds.iter_mut().find(|kind| kind.codes == codes) {
        Some(kind) if kind.tuples.len() >= ALIKE => {}
        Some(kind) => kind.tuples.push(tuple.to_vec()),
        None => kinds.push(Kind { codes, tuples: vec![tuple.to_vec()] }),
    }
}
