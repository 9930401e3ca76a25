//! Descs that break one clause and few others, in each [way](dmlcts_spec::Way), on every type, mode, rank and
//! axis. Each has a valid twin that differs in one respect. A backend that rejects everything fails on the
//! twins, and one that accepts everything fails on the descs. If several descs have the same twin, it occurs
//! once, after the first of them.
//!
//! The search has two steps. The first step changes one value at a time in a few valid descs. The judge and
//! the ways determine what each change breaks. This gives *recipes*, the kinds of changes that break a clause
//! in a way. For clauses on an axis, the solver adds tuples, which finds descs that need two changed values.
//! The second step applies the recipes to valid descs of every type, mode and rank, and to the first, an
//! inner and the last axis. So each of them occurs together with each way.
//!
//! Ways for which no desc is found are reported. This does not prove that there is none.

use std::collections::{BTreeMap, HashMap, HashSet};

use dmlcts_model::{Case, DataType, List, Side};
use dmlcts_spec::{IdSet, Judgement, Scope, Truth, Validity, Ways, expression::Position};

use super::{
    SearchResult, boundary,
    driver::Driver,
    neighbour::{self, Change, Field, Recipe, Span},
    random::{BaseLayout, Sampler, Shape},
};
use crate::{
    crossed::{Crossed, FIRST, INNER, LAST, width},
    draw::Draws,
    edit::{self, set_strides},
    lower::{self, INPUT, OUTPUT},
    solve::{Condition, Domains, Interval, Problem, Relation},
    space::{MOST_AXES, Setting, Space},
    suite::Cross,
};

/// The number of recipes of a way.
const RECIPES: usize = 6;
/// The number of valid descs on which a recipe is tried, for each combination.
const TRIES: usize = 3;
/// The number of choices of the other factors that are tried for a value of one factor.
const ATTEMPTS: usize = 12;

/// Searches one operator. Each way occurs with every value of the factors in `cross`.
pub(crate) fn search(sampler: &Sampler<'_>, cross: &[Cross], seed: u64) -> SearchResult {
    let space = sampler.space();
    let ways = space.operator.ways();
    let types = sampler.types.clone();
    let ranks: Vec<usize> = (sampler.ranks.0..=sampler.ranks.1).collect();
    let mut search = NegativeSearch {
        driver: Driver::new(sampler),
        space,
        ways,
        crossed: Crossed::of(space, types.clone(), ranks.clone()),
        types,
        ranks,
        seed,
        bases: HashMap::new(),
        tuples: HashMap::new(),
        products: space.settings.iter().map(|setting| products(space, setting)).collect(),
        spans: space.settings.iter().map(|setting| spans(space, setting)).collect(),
        samples: Vec::new(),
        known: vec![Known::default(); ways.all().len()],
        broken: Vec::new(),
    };
    search.scout();
    for way in 0..ways.all().len() {
        search.cross(way, cross);
    }
    search.swaps();
    search.alignments();
    search.both();
    search.sums();
    let without_question = if cross.contains(&Cross::Question) { search.questions() } else { 0 };
    search.finish(without_question)
}

/// The key of a base: the setting, the data type, the rank, the layout, and a number.
type BaseKey = (usize, usize, usize, BaseLayout, usize);

/// The results of the first step for a way.
#[derive(Clone, Default)]
struct Known {
    /// The least number of clauses that a desc breaks if it breaks the clause in this way.
    least: usize,
    violated: IdSet,
    recipes: Vec<(Recipe, BaseLayout)>,
}

/// A desc that breaks a clause in a way, and the valid desc that was changed.
struct Broken {
    clause: usize,
    case: Case,
    twin: Case,
}

struct NegativeSearch<'a, 'lib> {
    driver: Driver<'a, 'lib>,
    space: &'a Space<'lib>,
    ways: &'a Ways,
    types: Vec<DataType>,
    ranks: Vec<usize>,
    seed: u64,
    bases: HashMap<BaseKey, Option<Case>>,
    /// The solver's tuples that break a clause in a way, by way and setting.
    tuples: HashMap<(usize, usize), Vec<Vec<i64>>>,
    /// For each setting, tuples whose sizes have a product of 2^32 or more.
    products: Vec<Vec<Vec<Vec<i64>>>>,
    /// For each setting, the tuples of a long axis.
    spans: Vec<Vec<Span>>,
    /// Changes that break exactly one clause, a few of each recipe. One change may break nothing with another
    /// type.
    samples: Vec<Change>,
    known: Vec<Known>,
    /// For each way, the values of each factor that descs have met.
    crossed: Crossed<'lib>,
    broken: Vec<Broken>,
}

/// The values of the factors for which a case is wanted.
#[derive(Clone, Copy, Debug)]
struct Combination {
    setting: usize,
    data_type: usize,
    rank: usize,
    axis: usize,
}

impl NegativeSearch<'_, '_> {
    /// A valid desc that raises no question. Each key is drawn once.
    fn base(&mut self, key: BaseKey) -> Option<Case> {
        if let Some(known) = self.bases.get(&key) {
            return known.clone();
        }
        let (setting, data_type, rank, layout, number) = key;
        let stream = (((setting * 64 + data_type) * 16 + rank) * 4 + layout as usize) * 8 + number;
        let draws = &mut Draws::of_case(self.seed, stream as u64);
        let shape = Shape::new(setting, self.types[data_type], self.ranks[rank], layout);
        let found = (0..16).find_map(|_| self.driver.draw(&shape, draws));
        self.bases.insert(key, found.clone());
        found
    }

    /// Changes a base. Returns the clauses that the changed desc breaks, and the ways in which it does.
    fn change(&mut self, setting: usize, base: &Case, change: &Change) -> (IdSet, Vec<(usize, Truth)>) {
        let violated = self.driver.change(setting, base, change).violated;
        let Driver { changed, scratch, .. } = &mut self.driver;
        (violated, self.crossed.taken(changed, violated, self.space.level, scratch))
    }

    /// Adds a desc if it breaks exactly one clause. Returns whether it does.
    fn add_alone(&mut self, case: Case, violated: IdSet, twin: &Case) -> bool {
        let clause = violated.iter().next().filter(|_| violated.len() == 1);
        self.broken.extend(clause.map(|clause| Broken { clause, case, twin: twin.clone() }));
        clause.is_some()
    }

    /// Changes a base, and adds the changed desc if it breaks exactly one clause. Returns whether it does.
    fn change_alone(&mut self, setting: usize, base: &Case, change: &Change) -> bool {
        let violated = self.driver.change(setting, base, change).violated;
        self.add_alone(self.driver.changed.clone(), violated, base)
    }

    /// Finds the recipes of each way.
    fn scout(&mut self) {
        let settings = self.space.settings.len();
        let middle = self.ranks.iter().position(|&rank| rank >= 3).unwrap_or(self.ranks.len() - 1);
        for (place, layout) in BaseLayout::ALL.into_iter().enumerate() {
            for (number, rank) in [middle, self.ranks.len() - 1].into_iter().enumerate() {
                let types = self.types.len();
                let key = ((place + number) % settings, (place * 5 + number * 2) % types, rank, layout, 0);
                let Some(base) = self.base(key) else { continue };
                for change in neighbour::changes(&base, self.space) {
                    self.learn(change.recipe(), key.0, &base, layout, &change);
                }
            }
        }
        self.solve();
        self.large();
    }

    /// Applies a change, and adds its recipe to each way in which it breaks a clause.
    fn learn(&mut self, recipe: Recipe, setting: usize, base: &Case, layout: BaseLayout, change: &Change) {
        let (violated, taken) = self.change(setting, base, change);
        let is_alone = violated.len() == 1;
        if is_alone && self.samples.iter().filter(|sample| sample.recipe() == recipe).count() < 4 {
            self.samples.push(change.clone());
        }
        for (way, _) in taken {
            self.note(way, violated, recipe, layout);
        }
    }

    fn note(&mut self, way: usize, violated: IdSet, recipe: Recipe, layout: BaseLayout) {
        let known = &mut self.known[way];
        if known.recipes.is_empty() || violated.len() < known.least {
            *known = Known { least: violated.len(), violated, recipes: Vec::new() };
        }
        let recipe = (recipe, layout);
        if violated.len() == known.least && known.recipes.len() < RECIPES && !known.recipes.contains(&recipe)
        {
            known.recipes.push(recipe);
        }
    }

    /// Finds tuples that break a clause on an axis in a way, and satisfy the other clauses. The search is for
    /// ways that no single change takes without breaking other clauses.
    fn solve(&mut self) {
        let space = self.space;
        let mut draws = Draws::new(self.seed);
        for (way, of) in self.ways.all().iter().enumerate() {
            let known = &self.known[way];
            let is_found = known.least == 1;
            if is_found || space.operator.clauses()[of.clause].scope != Scope::Axis {
                continue;
            }
            let Ok(term) = space.operator.scope().condition(&of.condition, Position::EachAxis) else {
                continue;
            };
            for setting in 0..space.settings.len() {
                let values = &space.settings[setting];
                let condition = lower::bound(space.operator, &values.values, &term);
                let rules = values.rules_beside(IdSet::of(of.clause), space.operator);
                let conditions: Vec<_> = rules.map(|rule| &rule.that).chain([&condition]).collect();
                let mut found: Vec<Vec<i64>> = Vec::new();
                for most in [16, (1 << 32) - 1] {
                    let domains = space.domains_of_sizes(Interval::new(0, most));
                    let Some(problem) = problem(&domains, &conditions, None) else { continue };
                    for _ in 0..8 {
                        if let Some(values) = problem.sample(&mut draws)
                            && !found.iter().any(|known| **known == *values)
                        {
                            found.push(values.to_vec());
                        }
                    }
                    if found.len() >= 4 {
                        break;
                    }
                }
                found.truncate(6);
                let key = (setting, 0, self.ranks.len() - 1, BaseLayout::Packed, 0);
                if let Some(base) = self.base(key) {
                    for tuple in &found {
                        for change in self.tuple(setting, &base, 0, tuple) {
                            self.learn(Recipe::Tuple, setting, &base, BaseLayout::Packed, &change);
                        }
                    }
                }
                self.tuples.insert((way, setting), found);
            }
        }
    }

    /// Tries axes whose product needs more than 32 bits, and long axes.
    fn large(&mut self) {
        let last = self.ranks.len() - 1;
        for setting in 0..self.space.settings.len() {
            // Each type, because some total sizes are too small only for some sizes of elements.
            for data_type in 0..self.types.len() {
                let key = (setting, data_type, last, BaseLayout::Packed, 0);
                let Some(base) = self.base(key) else { continue };
                let mut changes = self.long(setting, &base, 0);
                if data_type == 0 {
                    changes.extend(self.wide(setting, &base));
                }
                for change in changes {
                    self.learn(change.recipe(), setting, &base, BaseLayout::Packed, &change);
                }
            }
        }
    }

    /// Changes of several axes, whose product is 2^32, a multiple of it, or slightly above.
    fn wide(&self, setting: usize, base: &Case) -> Vec<Change> {
        let rank = base.desc.rank();
        if !neighbour::is_plain(&base.desc) {
            return Vec::new();
        }
        let unit = &self.space.settings[setting].unit;
        let products = self.products[setting].iter().filter(|product| product.len() <= rank);
        products.map(|product| Change::product(rank, unit, product)).collect()
    }

    /// Changes that make one axis long and the total size too small.
    fn long(&self, setting: usize, base: &Case, axis: usize) -> Vec<Change> {
        if !neighbour::is_plain(&base.desc) {
            return Vec::new();
        }
        self.spans[setting].iter().map(|span| Change::Span(Span { axis, ..span.clone() })).collect()
    }

    /// The changes of a recipe, on a base and an axis.
    fn changes(&self, way: usize, recipe: Recipe, setting: usize, base: &Case, axis: usize) -> Vec<Change> {
        match recipe {
            Recipe::Tuple => {
                let tuples = self.tuples.get(&(way, setting)).into_iter().flatten();
                tuples.flat_map(|tuple| self.tuple(setting, base, axis, tuple)).collect()
            }
            Recipe::Tuples => self.wide(setting, base),
            Recipe::Span => self.long(setting, base, axis),
            _ => neighbour::changes_of(base, self.space, recipe, axis),
        }
    }

    /// Changes that give an axis a tuple: one leaves the other axes, and one makes them units. Two large axes
    /// would make the tensor too large.
    fn tuple(&self, setting: usize, base: &Case, axis: usize, tuple: &[i64]) -> Vec<Change> {
        let mut changes = vec![Change::Tuples(vec![(axis, tuple.to_vec())])];
        if neighbour::is_plain(&base.desc) {
            changes.push(self.alone(setting, base, axis, tuple));
        }
        changes
    }

    /// A tuple on an axis, and units on the others.
    fn alone(&self, setting: usize, base: &Case, axis: usize, tuple: &[i64]) -> Change {
        let unit = &self.space.settings[setting].unit;
        let tuples =
            (0..base.desc.rank()).map(|other| (other, if other == axis { tuple } else { unit }.to_vec()));
        Change::Tuples(tuples.collect())
    }

    /// The valid desc beside a changed one: the base, with units on the axes where the changed desc has them
    /// or has large sizes.
    fn twin(&self, setting: usize, base: Case, change: &Change) -> Case {
        let unit = &self.space.settings[setting].unit;
        let units = match change {
            Change::Tuples(tuples) if tuples.len() > 1 => {
                Change::Tuples(tuples.iter().map(|(axis, _)| (*axis, unit.clone())).collect())
            }
            Change::Span(span) => Change::Span(Span { tuple: unit.clone(), bits: 64, ..span.clone() }),
            _ => return base,
        };
        let mut twin = base.clone();
        units.apply(&base, unit, &mut twin);
        twin
    }

    /// Looks for a desc that breaks a clause in a way, among the changes of valid descs with the wanted
    /// values. The desc has the given value of a factor, unless the clause decides that factor.
    fn attempt(
        &mut self,
        way: usize,
        wanted: Combination,
        (factor, value): (Cross, usize),
        turn: usize,
    ) -> bool {
        let known = self.known[way].clone();
        let rank = self.ranks[wanted.rank];
        let axis = match wanted.axis {
            FIRST => 0,
            INNER => rank / 2,
            _ => rank - 1,
        };
        let is_on_axis = self.crossed.clause(way).scope == Scope::Axis;
        let is_decided = self.crossed.is_decided(way, factor);
        for number in 0..TRIES {
            for step in 0..known.recipes.len() {
                let (recipe, layout) = known.recipes[(turn + step) % known.recipes.len()];
                let key = (wanted.setting, wanted.data_type, wanted.rank, layout, number);
                let Some(base) = self.base(key) else { continue };
                let changes = self.changes(way, recipe, wanted.setting, &base, axis);
                for change in 0..changes.len() {
                    // Each case starts with another change, so that values vary.
                    let change = &changes[(change + turn) % changes.len()];
                    let (violated, taken) = self.change(wanted.setting, &base, change);
                    let is_right = |&(other, truth): &(usize, Truth)| {
                        other == way
                            && (!is_on_axis || truth.on >> axis & 1 == 1)
                            && (is_decided || self.crossed.shows(truth, &self.driver.changed, factor, value))
                    };
                    if violated.len() > known.least || !taken.iter().any(is_right) {
                        continue;
                    }
                    let clause = self.ways.all()[way].clause;
                    for (other, truth) in taken {
                        // The desc counts for the ways that no desc takes with fewer broken clauses.
                        if violated.len() <= self.known[other].least {
                            self.crossed.mark(other, truth, &self.driver.changed);
                        }
                    }
                    let case = self.driver.changed.clone();
                    let twin = self.twin(wanted.setting, base, change);
                    self.broken.push(Broken { clause, case, twin });
                    return true;
                }
            }
        }
        false
    }

    /// Makes each value of each factor occur with a way.
    fn cross(&mut self, way: usize, cross: &[Cross]) {
        if self.known[way].recipes.is_empty() {
            return;
        }
        let is_on_axis = self.crossed.clause(way).scope == Scope::Axis;
        let mut turn = way;
        for &factor in cross {
            if factor == Cross::Question || factor == Cross::Axis && !is_on_axis {
                continue;
            }
            for value in 0..self.crossed.values(factor) {
                if self.crossed.has(way, factor, value)
                    || self.crossed.impossible(way, factor, value).is_some()
                {
                    continue;
                }
                for attempt in 0..ATTEMPTS {
                    turn += 1;
                    let wanted = self.wanted(way, cross, (factor, value), attempt, turn);
                    if wanted.is_some_and(|wanted| self.attempt(way, wanted, (factor, value), turn)) {
                        break;
                    }
                }
            }
        }
    }

    /// The values of the valid desc for an attempt to show a way with a value of a factor. For the other
    /// factors, the first two attempts take values that the way has not met, which may be impossible. The
    /// next two take any values, and later attempts take values that it has met.
    fn wanted(
        &self,
        way: usize,
        cross: &[Cross],
        (factor, value): (Cross, usize),
        attempt: usize,
        turn: usize,
    ) -> Option<Combination> {
        let ranks = self.ranks.len();
        let pick = |of: Cross, size: usize| {
            let met = |place: &usize| self.crossed.has(way, of, *place);
            let mut turned = (0..size).map(|place| (place + turn) % size);
            let found = match attempt {
                0 | 1 if cross.contains(&of) => turned.find(|place| !met(place)),
                0..=3 => None,
                _ => turned.find(met),
            };
            found.unwrap_or((turn * 7 + of as usize * 3) % size)
        };
        let mut wanted = Combination {
            setting: pick(Cross::Mode, self.space.settings.len()),
            data_type: pick(Cross::Type, self.types.len()),
            rank: pick(Cross::Rank, ranks),
            axis: pick(Cross::Axis, 3),
        };
        match factor {
            Cross::Mode => wanted.setting = value,
            Cross::Type => wanted.data_type = value,
            Cross::Width => {
                let places = 0..self.types.len();
                let of_width: Vec<usize> =
                    places.filter(|&place| width(self.types[place]) == Some(value)).collect();
                wanted.data_type = *of_width.get(turn % of_width.len().max(1))?;
            }
            // A change of the rank itself needs a base of another rank.
            Cross::Rank if attempt == 3 => wanted.rank = (value + 1) % ranks,
            Cross::Rank if attempt == 5 => wanted.rank = (value + ranks - 1) % ranks,
            Cross::Rank => wanted.rank = value,
            Cross::Axis => wanted.axis = value,
            Cross::Question => {}
        }
        // An inner axis needs three axes, and a first one that is not the last needs two.
        let least = [2, 3, 1][wanted.axis];
        if self.ranks[wanted.rank] < least {
            if factor == Cross::Axis {
                let rank = self.ranks.iter().rposition(|&rank| rank >= least)?;
                let other = rank - turn % (rank + 1).min(4);
                wanted.rank = if self.ranks[other] < least { rank } else { other };
            } else {
                wanted.axis = LAST;
            }
        }
        Some(wanted)
    }

    /// For each setting and list, adds a desc in which two neighbouring values of the list are swapped. The
    /// list's sum and product over all axes stay the same.
    fn swaps(&mut self) {
        let space = self.space;
        for setting in 0..space.settings.len() {
            for place in edit::places(space.operator.signature()) {
                let tries = (0..8).map(|number| {
                    let layout = BaseLayout::ALL[number % 2];
                    (setting, (setting + number) % self.types.len(), self.ranks.len() / 3, layout, number / 2)
                });
                for key in tries.collect::<Vec<BaseKey>>() {
                    let Some(base) = self.base(key) else { continue };
                    let recipe = Recipe::Swap(place);
                    let rank = base.desc.rank();
                    let changes =
                        (0..rank).flat_map(|axis| neighbour::changes_of(&base, space, recipe, axis));
                    let Some(change) = changes.into_iter().next() else { continue };
                    if self.change_alone(setting, &base, &change) {
                        break;
                    }
                }
            }
        }
    }

    /// For each width of elements and each tensor, adds a desc with each alignment that is a power of two and
    /// less than the width. A check with another width than that of the element accepts some of them.
    fn alignments(&mut self) {
        let space = self.space;
        for (place, width) in [2, 4, 8].into_iter().enumerate() {
            let is_wide = |data_type: &DataType| data_type.element_size() == Some(width);
            let Some(data_type) = self.types.iter().position(is_wide) else { continue };
            let setting = place % space.settings.len();
            let key = (setting, data_type, place % self.ranks.len(), BaseLayout::ALL[place % 2], 0);
            let Some(base) = self.base(key) else { continue };
            let pairs = Side::BOTH.map(|side| [1, 2, 4].map(|value| (side, value)));
            for (side, value) in pairs.into_iter().flatten().filter(|(_, value)| *value < width as u64) {
                let change = Change::Field { side, field: Field::Alignment, value };
                self.change_alone(setting, &base, &change);
            }
        }
    }

    /// For each setting and pair of clauses on axes, adds descs that break the first clause and meet the
    /// second one exactly. In other descs, a check of the second clause can hide a missing check of the
    /// first.
    fn both(&mut self) {
        let space = self.space;
        let mut draws = Draws::new(self.seed);
        let least = self.least();
        for (place, setting) in space.settings.iter().enumerate() {
            for broken in &setting.rules {
                let Some(&violated) = least.get(&broken.clause) else { continue };
                let negated = broken.that.clone().negated();
                for exact in setting.rules_beside(violated, space.operator) {
                    let Some(&comparison) = exact.that.comparisons().first() else { continue };
                    let met = comparison.apart(i64::from(comparison.relation == Relation::Less));
                    let others = setting.rules_beside(violated, space.operator);
                    let conditions: Vec<&Condition> =
                        others.map(|rule| &rule.that).chain([&negated, &met]).collect();
                    // Break the clause by one if possible: a faulty check is more likely to accept this.
                    let comparison = broken.that.comparisons().into_iter().next();
                    let by_one = [1, -1].map(|by| comparison.map(|comparison| comparison.apart(by)));
                    for domains in small_domains(space) {
                        let mut close =
                            by_one.iter().flatten().filter_map(|by| problem(&domains, &conditions, Some(by)));
                        let found = close.next().or_else(|| problem(&domains, &conditions, None));
                        let Some(problem) = found else { continue };
                        // The least rank, so that nothing else of the desc matters.
                        let solved = self.solved(place, 0, &problem, &mut draws, |judgement| {
                            judgement.violated == violated && judgement.boundary.contains(exact.clause)
                        });
                        if let Some((base, change)) = solved {
                            let twin = self.twin(place, base, &change);
                            let case = self.driver.changed.clone();
                            self.broken.push(Broken { clause: broken.clause, case, twin });
                        }
                    }
                }
            }
        }
    }

    /// Looks for a tuple of the problem that makes a packed desc right, with units on the other axes. Returns
    /// the base and the change.
    fn solved(
        &mut self,
        setting: usize,
        rank: usize,
        problem: &Problem,
        draws: &mut Draws,
        is_right: impl Fn(Judgement) -> bool,
    ) -> Option<(Case, Change)> {
        for _ in 0..4 {
            let Some(tuple) = problem.sample(draws) else { continue };
            let types = draws.place(self.types.len());
            let Some(base) = self.base((setting, types, rank, BaseLayout::Packed, 0)) else { continue };
            let change = self.alone(setting, &base, 0, &tuple);
            if is_right(self.driver.change(setting, &base, &change)) {
                return Some((base, change));
            }
        }
        None
    }

    /// Adds outputs of three axes in which one stride is the sum of the two others. No two axes overlap, but
    /// the three together do.
    fn sums(&mut self) {
        let space = self.space;
        let setting = &space.settings[0];
        let Some(rank) = self.ranks.iter().position(|&rank| rank == 3) else { return };
        let tuples = space.tuples_of_size(setting, OUTPUT, 2, false);
        let (Some(tuple), Some(base)) = (tuples.first(), self.base((0, 0, rank, BaseLayout::Packed, 0)))
        else {
            return;
        };
        let mut twin = base.clone();
        let tuples = (0..3).map(|axis| (axis, tuple.clone())).collect();
        Change::Tuples(tuples).apply(&base, &setting.unit, &mut twin);
        let with_strides = |strides: [i64; 3]| {
            let mut case = twin.clone();
            if let Some(output) = &mut case.desc.output {
                set_strides(output, Some(List::from_slice(&strides)));
            }
            case
        };
        for (strides, clear) in [([3, 2, 1], [4, 2, 1]), ([2, 5, 3], [2, 6, 3])] {
            let case = with_strides(strides);
            let violated = self.driver.judge(&case).violated;
            self.add_alone(case, violated, &with_strides(clear));
        }
    }

    /// For each pair of a clause and a question, looks for a desc that breaks the clause and raises the
    /// question. The base raises the question, too, and is the twin. Returns the number of pairs that no
    /// desc shows.
    fn questions(&mut self) -> usize {
        let space = self.space;
        let (clauses, questions) = (space.operator.clauses(), space.operator.questions());
        let least = self.least();
        let mut found: BTreeMap<(usize, usize), (usize, Broken)> = BTreeMap::new();
        for (place, (setting, base)) in self.open_bases() {
            // A question about this many axes can take long to decide, so few changes are tried.
            let is_slow = base.desc.rank() == MOST_AXES;
            let changes = if is_slow { self.samples.clone() } else { neighbour::changes(&base, space) };
            for change in changes {
                let judgement = self.driver.change(setting, &base, &change);
                if !judgement.questions.contains(place) {
                    continue;
                }
                for clause in judgement.violated.iter() {
                    let count = judgement.violated.len();
                    let known = found.get(&(clause, place)).map_or(usize::MAX, |known| known.0);
                    if count < known {
                        let case = self.driver.changed.clone();
                        let broken = Broken { clause, case, twin: base.clone() };
                        found.insert((clause, place), (count, broken));
                    }
                }
            }
        }
        let mut unmet = 0;
        for clause in least.keys() {
            let is_raised_only_if_kept = |place: usize| {
                let mut given = questions[place].given;
                // Adds the clauses that these clauses need, and so on.
                for _ in clauses {
                    given = given.iter().fold(given, |all, of| all.union(clauses[of].given));
                }
                given.contains(*clause)
            };
            unmet += (0..questions.len())
                .filter(|&place| !found.contains_key(&(*clause, place)) && !is_raised_only_if_kept(place))
                .count();
        }
        self.broken.extend(found.into_values().map(|(_, broken)| broken));
        unmet
    }

    /// For each question, valid descs that raise it: the question, the setting and the desc.
    fn open_bases(&mut self) -> Vec<(usize, (usize, Case))> {
        let space = self.space;
        let mut found: Vec<(usize, (usize, Case))> = Vec::new();
        let mut seen = HashSet::new();
        for setting in 0..space.settings.len() {
            for layout in BaseLayout::ALL {
                let key = (setting, setting % self.types.len(), self.ranks.len() / 3, layout, 0);
                let Some(base) = self.base(key) else { continue };
                for change in neighbour::changes(&base, space) {
                    let judgement = self.driver.change(setting, &base, &change);
                    if judgement.validity() != Validity::Open {
                        continue;
                    }
                    for question in judgement.questions.iter() {
                        if seen.insert((question, layout)) {
                            found.push((question, (setting, self.driver.changed.clone())));
                        }
                    }
                }
            }
        }
        found.extend(self.solved_bases());
        if let Some(case) = boundary::tangled(space, self.seed) {
            let questions = self.driver.judge(&case).questions;
            let setting = space.setting_of(&case.desc).unwrap_or_default();
            found.extend(questions.iter().map(|question| (question, (setting, case.clone()))));
        }
        found
    }

    /// For each setting and question on an axis, a valid desc with a tuple that raises it. Single changes
    /// miss the questions that need two values, such as a sum that wraps around.
    fn solved_bases(&mut self) -> Vec<(usize, (usize, Case))> {
        let space = self.space;
        let mut draws = Draws::new(self.seed);
        let mut found = Vec::new();
        for (setting, values) in space.settings.iter().enumerate() {
            let rank = self.ranks.len() / 3;
            for asked in &values.questions {
                let conditions: Vec<&Condition> =
                    values.rules.iter().map(|rule| &rule.that).chain([&asked.that]).collect();
                let domains = space.domains_of_sizes(Interval::new(1, 16));
                let Some(problem) = problem(&domains, &conditions, None) else { continue };
                let question = asked.clause - space.operator.clauses().len();
                let solved = self.solved(setting, rank, &problem, &mut draws, |judgement| {
                    judgement.validity() == Validity::Open && judgement.questions.contains(question)
                });
                let case = solved.map(|_| self.driver.changed.clone());
                found.extend(case.map(|case| (question, (setting, case))));
            }
        }
        found
    }

    /// For each clause, the smallest set of clauses that a desc breaks if it breaks this clause.
    fn least(&self) -> BTreeMap<usize, IdSet> {
        let mut least: BTreeMap<usize, IdSet> = BTreeMap::new();
        for (known, way) in self.known.iter().zip(self.ways.all()) {
            if known.recipes.is_empty() {
                continue;
            }
            let best = least.entry(way.clause).or_insert(known.violated);
            if known.least < best.len() {
                *best = known.violated;
            }
        }
        least
    }

    /// The descs in the order of the clauses. Each is followed by its twin, unless the twin occurred before.
    fn finish(mut self, without_question: usize) -> SearchResult {
        let mut found = SearchResult::default();
        let never_taken = self.known.iter().filter(|known| known.recipes.is_empty()).count();
        found.omitted.combinations = never_taken + without_question;
        self.broken.sort_by_key(|broken| broken.clause);
        found.add_all(self.broken.into_iter().flat_map(|broken| [broken.case, broken.twin]));
        found
    }
}

/// The problem of these conditions and perhaps one more; `None` if it turns out to have no solution.
fn problem<'a>(
    domains: &Domains,
    conditions: &[&'a Condition],
    more: Option<&'a Condition>,
) -> Option<Problem<'a>> {
    Problem::new(domains.clone(), conditions.iter().copied().chain(more)).and_then(Problem::tightened)
}

/// The domains of small tensors. If a list has signed values, each sign has its own domains.
fn small_domains(space: &Space<'_>) -> Vec<Domains> {
    let mut domains = space.domains_of_sizes(Interval::new(0, 16));
    let signed: Vec<usize> =
        (0..space.width()).filter(|&place| space.variables[place].range.low < 0).collect();
    if signed.is_empty() {
        return vec![domains];
    }
    // Positive values are small, so that some reads stay within the input.
    let mut positive = domains.clone();
    positive[2..].fill(Interval::new(0, 16));
    for place in signed {
        domains[place] = Interval::new(space.variables[place].range.low, -1);
    }
    vec![positive, domains]
}

/// Tuples of one setting whose sizes have a product of 2^32, of a multiple of it, or slightly above. A
/// product of 2^64 is 0 in 64 bits.
fn products(space: &Space<'_>, setting: &Setting) -> Vec<Vec<Vec<i64>>> {
    let mut found = Vec::new();
    for side in [INPUT, OUTPUT] {
        let sizes: [&[i64]; 5] = [
            &[1 << 16, 1 << 16],
            &[1 << 16, (1 << 16) + 1],
            &[1 << 17, 1 << 16],
            &[3, 1_431_655_766],
            &[1 << 22, 1 << 21, 1 << 21],
        ];
        found.extend(sizes.iter().flat_map(|sizes| space.tuples_of_sizes(setting, side, sizes, true)));
    }
    found
}

/// Long axes of one setting whose tensors need more than 2^16, 2^32 and 2^64 bytes. Elements of one byte need
/// slightly less than 2^64.
fn spans(space: &Space<'_>, setting: &Setting) -> Vec<Span> {
    let mut found = Vec::new();
    for (side, place) in [(Side::Input, INPUT), (Side::Output, OUTPUT)] {
        for (size, stride, bits) in
            [((1 << 16) + 1, 1, 16), ((1 << 16) + 1, 1 << 16, 32), ((1 << 32) - 1, (1 << 32) - 1, 64)]
        {
            let tuples = space.tuples_of_size(setting, place, size, false);
            found.extend(tuples.into_iter().map(|tuple| Span { side, axis: 0, tuple, stride, bits }));
        }
    }
    found
}

impl Cross {
    /// The factors of a part that names none.
    pub(crate) const USUAL: [Self; 5] = [Self::Type, Self::Mode, Self::Rank, Self::Axis, Self::Question];
}
