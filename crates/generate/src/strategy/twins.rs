//! Groups of valid descs that differ in one respect. Most of them have different results. A backend that
//! caches operators and compares too few values of a desc returns the result of another desc of the group.
//!
//! Each base is followed by its twins. For each mode, the search tries each kind of change, such as another
//! value in a list or another data type. Scalar members take each special value of each type.

use dmlcts_model::{Case, DataType, Fill, Side};
use dmlcts_spec::{Scratch, Validity};

use super::{
    SearchResult,
    neighbour::{self, Recipe},
    random::{BaseLayout, Sampler, Shape},
};
use crate::{draw::Draws, fill, space::Space};

/// The number of random descs that are tried as bases, for each mode.
const BASES: usize = 24;

/// Searches one operator for `each` twins of each mode and kind of change.
pub(crate) fn search(
    sampler: &Sampler<'_>,
    types: &[DataType],
    ranks: (usize, usize),
    each: usize,
    seed: u64,
) -> SearchResult {
    let space = sampler.space();
    let types = types.iter().copied().filter(|known| space.types.contains(known)).collect();
    let ranks = (ranks.0.max(space.ranks.0), ranks.1.min(space.ranks.1));
    let mut search =
        Search { sampler, space, types, ranks, seed, scratch: Scratch::default(), found: Vec::new() };
    if !search.types.is_empty() && ranks.0 <= ranks.1 {
        for setting in 0..space.settings.len() {
            search.twins(setting, each);
            search.scalars(setting);
        }
    }
    SearchResult { cases: search.found, ..SearchResult::default() }
}

struct Search<'a, 'lib> {
    sampler: &'a Sampler<'lib>,
    space: &'a Space<'lib>,
    types: Vec<DataType>,
    ranks: (usize, usize),
    seed: u64,
    scratch: Scratch,
    found: Vec<Case>,
}

impl Search<'_, '_> {
    /// A random valid desc.
    fn base(&mut self, setting: usize, data_type: DataType, number: usize) -> Option<Case> {
        let rank = self.ranks.0 + number % (self.ranks.1 - self.ranks.0 + 1).min(4);
        let layout = BaseLayout::ALL[number % BaseLayout::ALL.len()];
        let draws = &mut Draws::of_case(self.seed, (setting * 1024 + number) as u64);
        let mut case = self.space.blank();
        self.sampler.draw(&Shape::new(setting, data_type, rank, layout), draws, &mut case);
        case.fill = Fill::Iota;
        self.is_valid(&case).then_some(case)
    }

    fn is_valid(&mut self, case: &Case) -> bool {
        let judgement = self.space.operator.judge(&case.desc, self.space.level, &mut self.scratch);
        judgement.validity() == Validity::Valid
    }

    /// Adds bases with their twins, until each kind of change has occurred `each` times.
    fn twins(&mut self, setting: usize, each: usize) {
        let space = self.space;
        let mut counts: Vec<(Recipe, usize)> = Vec::new();
        let mut changed = space.blank();
        for number in 0..BASES {
            let data_type = self.types[(setting + number) % self.types.len()];
            let Some(base) = self.base(setting, data_type, number) else { continue };
            let expected = self.output(&base);
            let (mut twins, mut of_base) = (Vec::new(), Vec::new());
            for change in neighbour::changes(&base, space) {
                let recipe = change.recipe();
                let count = counts.iter().find(|(known, _)| *known == recipe).map_or(0, |(_, count)| *count);
                if count >= each || of_base.contains(&recipe) {
                    continue;
                }
                change.apply(&base, &space.settings[setting].unit, &mut changed);
                if self.is_valid(&changed) && differ(&base, &changed, || expected != self.output(&changed)) {
                    of_base.push(recipe);
                    match counts.iter_mut().find(|(known, _)| *known == recipe) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((recipe, 1)),
                    }
                    twins.push(changed.clone());
                }
            }
            if !twins.is_empty() {
                self.add(std::iter::once(base).chain(twins));
            }
        }
    }

    /// For each type, adds a base with each special value of its scalars, if the result depends on them.
    fn scalars(&mut self, setting: usize) {
        for data_type in self.types.clone() {
            for number in 0..BASES {
                let Some(mut case) = self.base(setting, data_type, number) else { continue };
                let mut outputs = Vec::new();
                let twins = fill::specials().map(|word| {
                    self.space.set_scalars(&mut case.desc, data_type, word);
                    outputs.push(self.output(&case));
                    case.clone()
                });
                let twins: Vec<Case> = twins.collect();
                if outputs.iter().any(|output| *output != outputs[0]) {
                    self.add(twins);
                    break;
                }
            }
        }
    }

    fn add(&mut self, cases: impl IntoIterator<Item = Case>) {
        for case in cases {
            if !self.found.contains(&case) {
                self.found.push(case);
            }
        }
    }

    /// The packed output of the oracle; `None` if a tensor is large.
    fn output(&mut self, case: &Case) -> Option<Vec<u8>> {
        const MOST: u64 = 1 << 16;
        let [input, output] = Side::BOTH.map(|side| case.desc.tensor(side));
        let (input, output) = (input?, output?);
        let elements: u64 = output.sizes.as_ref()?.iter().map(|size| size.unsigned_abs()).product();
        if input.total_size > MOST || elements > MOST {
            return None;
        }
        let mut bytes = vec![0; input.total_size as usize];
        fill::write(&case.fill, input.data_type, &mut bytes);
        let mut packed = vec![0; elements as usize * output.data_type.element_size()?];
        let operator = self.space.operator;
        let valid = operator.judge_valid(&case.desc, self.space.level, &mut self.scratch).ok()?;
        operator.plan(valid, 0, &mut self.scratch).ok()?.execute(&bytes, &mut packed).ok()?;
        Some(packed)
    }
}

/// Whether two descs give different elements, or write them to different places.
fn differ(base: &Case, changed: &Case, have_other_elements: impl FnOnce() -> bool) -> bool {
    let written =
        |case: &Case| case.desc.output.as_ref().map(|output| (output.sizes.clone(), output.strides.clone()));
    written(base) != written(changed) || have_other_elements()
}
