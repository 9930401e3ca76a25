//! Groups of valid descs that differ in one respect. Most of them have different results. A backend that
//! caches operators and compares too few values of a desc returns the result of another desc of the group.
//!
//! Each base is followed by its twins. For each mode, the search tries each kind of change, such as another
//! value in a list or another data type. Scalar members take each special value of each type.

use std::collections::HashMap;

use dmlcts_model::{Case, DataType, Side};
use dmlcts_spec::Validity;

use super::{
    SearchResult,
    driver::Driver,
    neighbour::{self, Recipe},
    random::{BaseLayout, Sampler, Shape},
};
use crate::{draw::Draws, fill};

/// The number of random descs that are tried as bases, for each mode.
const BASES: usize = 24;

/// Searches one operator for `each` twins of each mode and kind of change.
pub(crate) fn search(sampler: &Sampler<'_>, each: usize, seed: u64) -> SearchResult {
    let mut search = TwinSearch { driver: Driver::new(sampler), seed, found: SearchResult::default() };
    for setting in 0..sampler.space().settings.len() {
        search.twins(setting, each);
        search.scalars(setting);
    }
    search.found
}

struct TwinSearch<'a, 'lib> {
    driver: Driver<'a, 'lib>,
    seed: u64,
    found: SearchResult,
}

impl TwinSearch<'_, '_> {
    /// A random valid desc.
    fn base(&mut self, setting: usize, data_type: DataType, number: usize) -> Option<Case> {
        let (least, most) = self.driver.sampler.ranks;
        let rank = least + number % (most - least + 1).min(4);
        let layout = BaseLayout::ALL[number % BaseLayout::ALL.len()];
        let draws = &mut Draws::of_case(self.seed, (setting * 1024 + number) as u64);
        self.driver.draw(&Shape::new(setting, data_type, rank, layout), draws)
    }

    /// Adds bases with their twins, until each kind of change has occurred `each` times.
    fn twins(&mut self, setting: usize, each: usize) {
        let types = &self.driver.sampler.types;
        let mut counts: HashMap<Recipe, usize> = HashMap::new();
        for number in 0..BASES {
            let data_type = types[(setting + number) % types.len()];
            let Some(base) = self.base(setting, data_type, number) else { continue };
            let expected = self.output(&base);
            let (mut twins, mut of_base) = (Vec::new(), Vec::new());
            for change in neighbour::changes(&base, self.driver.space) {
                let recipe = change.recipe();
                let count = counts.entry(recipe).or_default();
                if *count >= each || of_base.contains(&recipe) {
                    continue;
                }
                if self.driver.change(setting, &base, &change).validity() != Validity::Valid {
                    continue;
                }
                let changed = self.driver.changed.clone();
                if differ(&base, &changed, || expected != self.output(&changed)) {
                    of_base.push(recipe);
                    *count += 1;
                    twins.push(changed);
                }
            }
            if !twins.is_empty() {
                self.found.add_all(std::iter::once(base).chain(twins));
            }
        }
    }

    /// For each type, adds a base with each special value of its scalars, if the result depends on them.
    fn scalars(&mut self, setting: usize) {
        for &data_type in &self.driver.sampler.types {
            for number in 0..BASES {
                let Some(mut case) = self.base(setting, data_type, number) else { continue };
                let mut outputs = Vec::new();
                let twins = fill::specials().map(|word| {
                    self.driver.space.set_scalars(&mut case.desc, data_type, word);
                    outputs.push(self.output(&case));
                    case.clone()
                });
                let twins: Vec<Case> = twins.collect();
                if outputs.iter().any(|output| *output != outputs[0]) {
                    self.found.add_all(twins);
                    break;
                }
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
        let Driver { space, scratch, .. } = &mut self.driver;
        let valid = space.operator.judge_valid(&case.desc, space.level, scratch).ok()?;
        space.operator.plan(valid, 0, scratch).ok()?.execute(&bytes, &mut packed).ok()?;
        Some(packed)
    }
}

/// Whether two descs give different elements, or write them to different places.
fn differ(base: &Case, changed: &Case, have_other_elements: impl FnOnce() -> bool) -> bool {
    let written =
        |case: &Case| case.desc.output.as_ref().map(|output| (output.sizes.clone(), output.strides.clone()));
    written(base) != written(changed) || have_other_elements()
}
