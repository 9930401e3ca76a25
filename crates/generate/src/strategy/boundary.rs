//! Cases in which a comparison is exactly at its boundary, and one step to each side of it.
//!
//! The strategy takes each comparison in the clauses, questions and semantics of an axis. The solver looks
//! for tuples in which the two sides are equal or differ by one. It also looks for tuples in which they do so
//! modulo 2^32: 32-bit arithmetic takes those for equal, and no small value has them as a neighbour. For
//! clauses on the whole desc, the strategy searches the neighbours of valid descs for those that keep a
//! clause on its boundary. It adds one layout of the output whose overlap is as hard as possible to decide.
//! The judge determines the expectation of each case.

use std::collections::HashMap;

use dmlcts_model::{Case, Fill, List};
use dmlcts_spec::{IdSet, Scope, Scratch, Validity};

use super::{
    SearchResult,
    driver::Driver,
    neighbour::{self, Change, Kind},
    random::Sampler,
};
use crate::{
    draw::Draws,
    edit::set_strides,
    lower::{INPUT, OUTPUT},
    solve::{Comparison, Condition, Domains, Interval, Problem, Relation, Term},
    space::{MOST_AXES, Setting, Space},
};

/// 2^32, which 32-bit arithmetic takes for 0.
const WRAP: i64 = 1 << 32;
/// The right side minus the left side, in the order of the search.
const DISTANCES: [i64; 9] = [0, 1, -1, WRAP, -WRAP, WRAP + 1, WRAP - 1, 1 - WRAP, -1 - WRAP];
/// The sizes of solved tuples. Small tensors find the same failures as large ones, and every backend can run
/// them.
const SIZES: Interval = Interval::new(0, 12);
/// The number of valid descs whose neighbours are searched.
const BASES: u64 = 16;
/// Strides that are close to each other and have no common divisor. Whether sums of their multiples coincide
/// is a subset-sum problem, which takes about as long as listing all sums.
const SUBSET_SUM_STRIDES: [i64; MOST_AXES] =
    [1, 88_990_951, 101_262_343, 97_346_693, 82_340_921, 91_099_003, 95_672_491, 100_003_793];

/// Searches one operator.
pub(crate) fn search(sampler: &Sampler<'_>, each: usize, seed: u64) -> SearchResult {
    let space = sampler.space();
    let mut search = BoundarySearch { space, draws: Draws::new(seed), found: SearchResult::default(), each };
    for setting in &space.settings {
        search.clauses(setting);
        search.reads(setting);
    }
    search.neighbours(sampler, seed);
    search.found.cases.extend(tangled(space, search.draws.word()));
    search.found
}

struct BoundarySearch<'a, 'lib> {
    space: &'a Space<'lib>,
    draws: Draws,
    found: SearchResult,
    each: usize,
}

impl BoundarySearch<'_, '_> {
    /// Searches the comparisons of clauses and questions on each axis. All clauses are enforced except the
    /// one with the comparison.
    fn clauses(&mut self, setting: &Setting) {
        for rule in setting.rules.iter().chain(&setting.questions) {
            for comparison in rule.that.comparisons() {
                let others = setting.rules_beside(IdSet::of(rule.clause), self.space.operator);
                let others = others.map(|other| &other.that);
                let is_question = setting.questions.iter().any(|question| question.clause == rule.clause);
                let closed: &[Condition] = if is_question { &[] } else { &setting.closed };
                let conditions: Vec<&Condition> = others.chain(closed).collect();
                self.around(setting, comparison, &conditions, &self.space.domains_of_sizes(SIZES));
            }
        }
    }

    /// Searches the comparisons of the semantics: at any output coordinate, at the first and at the last.
    fn reads(&mut self, setting: &Setting) {
        let coordinate = self.space.width();
        let unknown = Term::Unknown(coordinate);
        let last = Term::Unknown(OUTPUT).add(Term::Number(-1));
        let within = Condition::Compare(Comparison::new(Relation::AtMost, unknown.clone(), last.clone()));
        let at_end = Condition::Compare(Comparison::new(Relation::Equal, unknown.clone(), last));
        let at_start = Condition::Compare(Comparison::new(Relation::Equal, unknown, Term::Number(0)));
        let mut domains = self.space.domains_of_sizes(SIZES);
        domains.push(Interval::new(0, WRAP));
        for read in &setting.reads {
            for comparison in read.comparisons() {
                for place in [&at_start, &at_end, &within] {
                    let mut conditions: Vec<&Condition> = setting.conditions(false).collect();
                    conditions.push(&within);
                    conditions.push(place);
                    self.around(setting, comparison, &conditions, &domains);
                }
            }
        }
    }

    /// Solves for each distance between the two sides of a comparison.
    fn around(
        &mut self,
        setting: &Setting,
        comparison: &Comparison,
        conditions: &[&Condition],
        domains: &Domains,
    ) {
        for distance in DISTANCES {
            let apart = comparison.apart(distance);
            let all = conditions.iter().copied().chain(std::iter::once(&apart));
            let problem = Problem::new(domains.clone(), all).and_then(Problem::tightened);
            let Some(problem) = problem else { continue };
            let mut tuples: Vec<Vec<i64>> = Vec::new();
            for _ in 0..self.each * 4 {
                let Some(values) = problem.sample(&mut self.draws) else { continue };
                let tuple = values[..self.space.width()].to_vec();
                if !tuples.contains(&tuple) {
                    self.push(setting, &tuple);
                    tuples.push(tuple);
                }
                if tuples.len() >= self.each {
                    break;
                }
            }
        }
    }

    /// Adds a case with a tuple on one of a few axes.
    fn push(&mut self, setting: &Setting, tuple: &[i64]) {
        let (least, most) = self.space.ranks;
        let rank = self.draws.between(least as i64, most.min(least + 3) as i64) as usize;
        let data_type = self.space.types[self.draws.place(self.space.types.len())];
        let mut tuples = [setting.unit.as_slice(); MOST_AXES];
        tuples[self.draws.place(rank)] = tuple;
        let mut case = self.space.blank();
        self.space.assemble(&mut case, setting, data_type, &tuples[..rank]);
        self.space.set_scalars(&mut case.desc, data_type, self.draws.word());
        case.fill = Fill::Coordinates { pass: 0 };
        self.found.add(case);
    }

    /// Searches neighbours of valid descs that keep a clause on the whole desc on its boundary, or that raise
    /// a question: an open answer is a boundary, too.
    fn neighbours(&mut self, sampler: &Sampler<'_>, seed: u64) {
        let space = self.space;
        let clauses = space.operator.clauses();
        let mut kept: HashMap<(usize, Kind), usize> = HashMap::new();
        let mut driver = Driver::new(sampler);
        let mut base = space.blank();
        let mut multiplied = vec![false; space.settings.len()];
        for index in 0..BASES {
            let draws = &mut Draws::of_case(seed, index);
            sampler.draw(&sampler.shape(draws), draws, &mut base);
            let Some(setting) = space.setting_of(&base.desc) else { continue };
            let mut all = neighbour::changes(&base, space);
            // Strides and total sizes of the small desc would not fit the large one.
            let fit = base.desc.rank() > 1 && neighbour::is_plain(&base.desc);
            if fit && !std::mem::replace(&mut multiplied[setting], true) {
                all.extend(products(space, setting, &base));
            }
            for change in all {
                let judgement = driver.change(setting, &base, &change);
                if judgement.validity() == Validity::Invalid {
                    continue;
                }
                let exact = judgement.boundary.iter().filter(|&clause| clauses[clause].scope == Scope::Desc);
                let raised = judgement.questions.iter().map(|question| clauses.len() + question);
                let mut fresh = false;
                for place in exact.chain(raised) {
                    let count = kept.entry((place, change.kind())).or_default();
                    if *count < self.each.div_ceil(4) {
                        *count += 1;
                        fresh = true;
                    }
                }
                if fresh {
                    self.found.add(driver.changed.clone());
                }
            }
        }
    }
}

/// The smallest cube with tangled strides that raises a question. Random layouts never raise it.
pub(super) fn tangled(space: &Space<'_>, word: u64) -> Option<Case> {
    let rank = space.ranks.1.min(MOST_AXES);
    let &data_type = space.types.iter().min_by_key(|data_type| data_type.bits())?;
    let mut scratch = Scratch::default();
    for setting in &space.settings {
        for size in 2..=6 {
            let Some(tuple) = space.tuples_of_size(setting, OUTPUT, size, false).into_iter().next() else {
                continue;
            };
            let mut case = space.blank();
            space.assemble(&mut case, setting, data_type, &[tuple.as_slice(); MOST_AXES][..rank]);
            space.set_scalars(&mut case.desc, data_type, word);
            let output = case.desc.output.as_mut()?;
            set_strides(output, Some(List::from_slice(&SUBSET_SUM_STRIDES[..rank])));
            if !space.judge(&case.desc, &mut scratch).questions.is_empty() {
                return Some(case);
            }
        }
    }
    None
}

/// Changes that make the product of sizes just below, at and just above 2^32.
fn products(space: &Space<'_>, setting: usize, base: &Case) -> Vec<Change> {
    let setting = &space.settings[setting];
    let mut changes = Vec::new();
    // 65535 * 65537 is 2^32 - 1.
    for sizes in [[65_535, 65_537], [65_536, 65_535], [65_536, 65_536]] {
        for side in [INPUT, OUTPUT] {
            // All other axes are units, so that the product is exact.
            let product = space.tuples_of_sizes(setting, side, &sizes, false).into_iter().next();
            let change = |product: Vec<_>| Change::product(base.desc.rank(), &setting.unit, &product);
            changes.extend(product.map(change));
        }
    }
    changes
}
