//! Descs that violate one clause and few others. Each has a valid twin that differs in one respect. A backend
//! that rejects everything fails on the twins, and one that accepts everything fails on the descs. If several
//! descs have the same twin, it occurs once, after the first of them.
//!
//! The search changes one value of valid descs at a time, and the judge determines the violated clauses. For
//! clauses on an axis, the solver adds tuples that violate the clause and satisfy all others. This finds
//! descs that need two changed values. Clauses without a desc within these bounds are reported, which does
//! not prove that there is none.

use std::collections::{BTreeMap, HashSet};

use dmlcts_model::{Case, Fill};
use dmlcts_spec::{IdSet, Scratch, Validity};

use super::{
    SearchResult,
    neighbour::{self, Change, Kind, is_plain},
    random::Sampler,
};
use crate::{
    draw::Draws,
    lower::{INPUT, OUTPUT},
    solve::{Interval, Problem},
    space::{Setting, Space},
};

/// The number of valid descs from which the search starts.
const BASES: u64 = 24;

/// A desc that violates a clause, and the valid desc that was changed.
struct Broken {
    violated: IdSet,
    kind: Kind,
    case: Case,
    twin: Case,
}

/// Searches one operator.
pub(crate) fn search(sampler: &Sampler<'_>, each: usize, seed: u64) -> SearchResult {
    let space = sampler.space();
    let mut search =
        Search { space, scratch: Scratch::default(), changed: space.blank(), best: BTreeMap::new(), each };
    let bases = search.bases(sampler, seed);
    let mut draws = Draws::new(seed);
    for base in &bases {
        search.around(base);
    }
    for setting in 0..space.settings.len() {
        // The solver's tuples depend on the setting alone, so two bases of each are enough.
        bases
            .iter()
            .filter(|base| base.setting == setting)
            .take(2)
            .for_each(|base| search.solved(base, &mut draws));
        let fit =
            |base: &&Base| base.setting == setting && base.case.desc.rank() > 1 && is_plain(&base.case.desc);
        if let Some(base) = bases.iter().find(fit) {
            search.wide(base);
        }
    }
    search.finish()
}

struct Search<'a, 'lib> {
    space: &'a Space<'lib>,
    scratch: Scratch,
    changed: Case,
    /// For each clause, the descs with the fewest violated clauses.
    best: BTreeMap<usize, Vec<Broken>>,
    each: usize,
}

/// A valid desc and its setting.
struct Base {
    case: Case,
    setting: usize,
}

impl Search<'_, '_> {
    /// Valid descs to start from. Open descs are skipped, because they would blur the effect of a change.
    fn bases(&mut self, sampler: &Sampler<'_>, seed: u64) -> Vec<Base> {
        let mut bases = Vec::new();
        for index in 0..BASES * 4 {
            let mut case = self.space.blank();
            let draws = &mut Draws::of_case(seed, index);
            sampler.draw(&sampler.shape(draws), draws, &mut case);
            case.fill = Fill::Iota;
            let judgement = self.space.operator.judge(&case.desc, self.space.level, &mut self.scratch);
            let setting = self.space.setting_of(&case.desc);
            if let (Validity::Valid, Some(setting)) = (judgement.validity(), setting) {
                bases.push(Base { case, setting });
            }
            if bases.len() == BASES as usize {
                break;
            }
        }
        bases
    }

    fn setting(&self, base: &Base) -> &Setting {
        &self.space.settings[base.setting]
    }

    /// Judges one change, and keeps it if it is among the best of a clause.
    fn consider(&mut self, base: &Base, change: &Change) {
        let unit = &self.space.settings[base.setting].unit;
        change.apply(&base.case, self.space, unit, &mut self.changed);
        let judgement = self.space.operator.judge(&self.changed.desc, self.space.level, &mut self.scratch);
        self.keep(judgement.violated, change.kind(), &base.case);
    }

    /// Keeps `changed` for each clause for which no known desc violates fewer clauses, a few of each kind.
    fn keep(&mut self, violated: IdSet, kind: Kind, twin: &Case) {
        for clause in violated.iter() {
            let best = self.best.entry(clause).or_default();
            let least = best.first().map_or(usize::MAX, |broken| broken.violated.len());
            if violated.len() > least {
                continue;
            }
            if violated.len() < least {
                best.clear();
            }
            let same_kind = best.iter().filter(|broken| broken.kind == kind).count();
            if same_kind < 2 && best.len() < 8 * self.each {
                best.push(Broken { violated, kind, case: self.changed.clone(), twin: twin.clone() });
            }
        }
    }

    /// Tries every single change.
    fn around(&mut self, base: &Base) {
        for change in neighbour::changes(&base.case, self.space) {
            self.consider(base, &change);
        }
    }

    /// Tries tuples that violate one rule of an axis and satisfy the others.
    fn solved(&mut self, base: &Base, draws: &mut Draws) {
        let space = self.space;
        let rank = base.case.desc.rank();
        for broken in 0..self.setting(base).rules.len() {
            let rules = &space.settings[base.setting].rules;
            let negated = rules[broken].that.clone().negated();
            let enforced = rules
                .iter()
                .enumerate()
                .filter(|(place, rule)| *place != broken && rule.clause != rules[broken].clause);
            let conditions = enforced.map(|(_, rule)| &rule.that).chain(std::iter::once(&negated));
            let mut domains = space.domains();
            for place in [INPUT, OUTPUT] {
                domains[place] = Interval::new(0, 16);
            }
            let Some(problem) = Problem::new(domains, conditions) else { continue };
            for _ in 0..4 {
                if let Some(values) = problem.sample(draws) {
                    let axis = draws.place(rank);
                    self.consider(base, &Change::Tuples(vec![(axis, values.to_vec())]));
                }
            }
        }
    }

    /// Tries two axes whose product exceeds 32 bits.
    fn wide(&mut self, base: &Base) {
        let space = self.space;
        let rank = base.case.desc.rank();
        for side in [INPUT, OUTPUT] {
            for tuple in space.tuples_of_size(&space.settings[base.setting], side, 1 << 16, true) {
                let change = Change::Tuples(vec![(0, tuple.clone()), (rank - 1, tuple)]);
                self.consider(base, &change);
            }
        }
    }

    /// A selection of each kind for each clause, in the order of the clauses. Each desc is followed by its
    /// twin, unless the twin occurred before.
    fn finish(self) -> SearchResult {
        let mut found = SearchResult::default();
        // `each` bounds the number of lines for every clause.
        let mut lines: HashSet<String> = HashSet::new();
        let clauses = self.space.operator.clauses();
        for (place, clause) in clauses.iter().enumerate() {
            let Some(best) = self.best.get(&place) else {
                let why = if clause.expression.names().iter().all(|&name| name == "level") {
                    "it depends on the feature level alone: at the newest, no desc breaks it or meets it exactly"
                } else {
                    "no desc that breaks it was found within these bounds"
                };
                found.remarks.push(format!("{}: {why}", clause.id));
                continue;
            };
            let violated = best.first().map(|broken| broken.violated).unwrap_or_default();
            if violated.len() > 1 {
                let others = violated.iter().filter(|&other| other != place);
                let others: Vec<_> = others.map(|other| clauses[other].id.as_str()).collect();
                found.remarks.push(format!(
                    "{}: no desc that breaks it alone was found within these bounds, only together with {}",
                    clause.id,
                    others.join(", ")
                ));
            }
            for broken in spread(best, self.each) {
                for case in [&broken.case, &broken.twin] {
                    if lines.insert(case.to_string()) {
                        found.cases.push(case.clone());
                    }
                }
            }
        }
        found
    }
}

/// At most `count` descs: one of each kind before a second of any kind.
fn spread(best: &[Broken], count: usize) -> Vec<&Broken> {
    let mut seen: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut ordered: Vec<(usize, usize, &Broken)> = Vec::new();
    for (place, broken) in best.iter().enumerate() {
        let turn = seen.entry(broken.kind).or_default();
        ordered.push((*turn, place, broken));
        *turn += 1;
    }
    ordered.sort_by_key(|&(turn, place, _)| (turn, place));
    ordered.into_iter().take(count).map(|(_, _, broken)| broken).collect()
}
