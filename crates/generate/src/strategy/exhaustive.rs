//! Every valid desc within given bounds, once, by ranking and unranking.
//!
//! The solver lists all tuples of one axis for each setting. A desc of rank r is then a number with r digits
//! in the base of that list's length, and further digits for type and fill. The number of descs is known
//! before anything runs, and every index is addressable. Open descs are included.

use std::sync::{Arc, OnceLock};

use dmlcts_model::{Case, DataType, Fill};
use dmlcts_spec::{Scratch, Validity};

use super::{Generator, Omitted, Row, fill_variants};
use crate::{
    Length,
    draw::mix,
    lower::INPUT,
    pool::Tuples,
    radix::{self, Digits},
    solve::{Condition, Interval, Problem},
    space::{MOST_AXES, Space},
    suite::FillForm,
};

/// The largest number of tuples of one axis in a setting. They are in memory before the first case.
pub(crate) const MOST_TUPLES: usize = 1 << 20;

/// The bounds of one operator.
pub(crate) struct Bounded<'lib> {
    pub(crate) space: Arc<Space<'lib>>,
    /// For each setting of the space, the conditions on every axis in addition to the clauses.
    bounds: Vec<Vec<Condition>>,
    /// For each setting, the tuples within these bounds, listed on first use.
    listings: Vec<OnceLock<Listing>>,
}

/// The tuples of one setting.
#[derive(Default)]
struct Listing {
    tuples: Tuples,
    /// Whether a variable has too many values to enumerate, so that some tuples are not listed.
    is_unbounded: bool,
    /// Whether the setting has more than [`MOST_TUPLES`] tuples. They are then not listed.
    is_cut: bool,
}

/// The strategy, within the bounds of one part of a suite.
pub(crate) struct Exhaustive<'lib> {
    boxes: Vec<Bounded<'lib>>,
    ranks: (usize, usize),
    types: Vec<DataType>,
    fills: Vec<FillForm>,
    seed: u64,
    listed: OnceLock<Listed>,
}

/// The blocks of cases that the tuples span.
#[derive(Default)]
struct Listed {
    blocks: Vec<Block>,
    ends: Vec<u128>,
    is_cut: bool,
}

/// The cases of one operator, setting, rank and type.
struct Block {
    place: usize,
    setting: usize,
    rank: usize,
    data_type: DataType,
    fills: Vec<Fill>,
}

impl<'lib> Exhaustive<'lib> {
    pub(crate) fn new(
        boxes: Vec<Bounded<'lib>>,
        ranks: (usize, usize),
        types: Vec<DataType>,
        fills: Vec<FillForm>,
        seed: u64,
    ) -> Self {
        Self { boxes, ranks, types, fills, seed, listed: OnceLock::new() }
    }

    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| {
            let mut listed = Listed::default();
            for (place, bounded) in self.boxes.iter().enumerate() {
                let space = &bounded.space;
                for setting in 0..space.settings.len() {
                    let listing = bounded.listing(setting);
                    listed.is_cut |= listing.is_cut || listing.is_unbounded;
                    self.add_blocks(&mut listed, place, setting);
                }
            }
            listed
        })
    }

    fn add_blocks(&self, listed: &mut Listed, place: usize, setting: usize) {
        let space = &self.boxes[place].space;
        let tuples = self.boxes[place].tuples(setting);
        let count = tuples.len() as u128;
        let widest = tuples.iter().map(|tuple| tuple[INPUT].unsigned_abs()).max().unwrap_or(0);
        let Some((types, ranks)) = space.supported(&self.types, self.ranks) else { return };
        for rank in ranks.0..=ranks.1 {
            let elements = widest.saturating_pow(rank as u32);
            for &data_type in &types {
                let fills: Vec<Fill> = self
                    .fills
                    .iter()
                    .flat_map(|&fill| fill_variants(fill, data_type, elements, self.seed))
                    .collect();
                let cases = count.saturating_pow(rank as u32).saturating_mul(fills.len() as u128);
                let start = listed.ends.last().copied().unwrap_or(0);
                listed.ends.push(start.saturating_add(cases));
                listed.blocks.push(Block { place, setting, rank, data_type, fills });
            }
        }
    }
}

impl<'lib> Bounded<'lib> {
    /// A space, and for each of its settings the conditions on every axis in addition to the clauses.
    pub(crate) fn new(space: Arc<Space<'lib>>, bounds: Vec<Vec<Condition>>) -> Self {
        let listings = bounds.iter().map(|_| OnceLock::new()).collect();
        Self { space, bounds, listings }
    }

    /// Whether a setting with this problem has more tuples than can be listed. Counts them only if the
    /// problem's domains do not rule it out.
    pub(crate) fn is_too_large(&self, setting: usize, problem: &Problem<'_>) -> bool {
        let sizes = problem.domains().iter().map(|domain| domain.len());
        let most = sizes.fold(1_u64, u64::saturating_mul);
        most > MOST_TUPLES as u64 && self.listing(setting).is_cut
    }

    fn tuples(&self, setting: usize) -> &Tuples {
        &self.listing(setting).tuples
    }

    fn listing(&self, setting: usize) -> &Listing {
        self.listings[setting].get_or_init(|| self.list(setting))
    }

    /// The conditions on every axis in a setting, tightened; `None` if no tuple satisfies them.
    pub(crate) fn problem(&self, setting: usize) -> Option<Problem<'_>> {
        let conditions = self.space.settings[setting].conditions(true).chain(&self.bounds[setting]);
        Problem::new(self.space.domains(), conditions).and_then(Problem::tightened)
    }

    /// Every tuple that no clause and no bound excludes, in ascending order.
    fn list(&self, setting: usize) -> Listing {
        let space = &self.space;
        let mut tuples = Tuples::new(space.width());
        let Some(problem) = self.problem(setting) else { return Listing { tuples, ..Listing::default() } };
        let bounds = &self.bounds[setting];
        let setting = &space.settings[setting];
        let (mut case, mut scratch) = (space.blank(), Scratch::default());
        let mut found: Vec<Vec<i64>> = Vec::new();
        let searched = problem.enumerate(&mut |values| {
            let singles: Vec<Interval> = values.iter().map(|&value| Interval::single(value)).collect();
            if bounds.iter().any(|bound| bound.truth(&singles) != Some(true)) {
                return true;
            }
            found.push(values.to_vec());
            found.len() <= MOST_TUPLES
        });
        let is_cut = found.len() > MOST_TUPLES;
        if is_cut {
            found.clear();
        }
        found.retain(|tuple| {
            let judgement = space.judge_tuple(setting, tuple, &mut case, &mut scratch);
            judgement.validity() != Validity::Invalid
        });
        found.sort_unstable();
        for tuple in &found {
            tuples.push(tuple);
        }
        // Suites with unbounded boxes are refused earlier. Such a part would never count as complete.
        Listing { tuples, is_unbounded: searched.is_err(), is_cut }
    }
}

impl Generator for Exhaustive<'_> {
    fn length(&self) -> Length {
        Length::Finite(self.listed().ends.last().copied().unwrap_or(0))
    }

    fn case(&self, index: u128, case: &mut Case) {
        let listed = self.listed();
        let Some((place, within)) = radix::locate(&listed.ends, index) else { return };
        let block = &listed.blocks[place];
        let tuples = self.boxes[block.place].tuples(block.setting);
        let space = &self.boxes[block.place].space;
        let mut digits = Digits::new(within);
        let fill = digits.take(block.fills.len() as u64) as usize;
        let mut chosen: [&[i64]; MOST_AXES] = [&[]; MOST_AXES];
        // The last axis changes fastest, as in the memory of a packed tensor.
        for axis in (0..block.rank).rev() {
            let tuple = digits.take(tuples.len() as u64) as usize;
            chosen[axis] = tuples.get(tuple).unwrap_or_default();
        }
        space.assemble(case, &space.settings[block.setting], block.data_type, &chosen[..block.rank]);
        space.set_scalars(&mut case.desc, block.data_type, mix(self.seed ^ index as u64));
        case.fill = block.fills[fill].clone();
    }

    fn omitted(&self) -> Omitted {
        Omitted { is_cut: self.listed().is_cut, combinations: 0 }
    }

    fn rows(&self) -> Vec<Row> {
        let listed = self.listed();
        let mut start = 0;
        let mut rows: Vec<Row> = Vec::new();
        for (block, &end) in listed.blocks.iter().zip(&listed.ends) {
            let space = &self.boxes[block.place].space;
            let (operator, setting) = (space.operator.name(), &space.settings[block.setting].name);
            let cases = end - start;
            start = end;
            match rows.last_mut() {
                Some(row)
                    if row.rank == block.rank && row.operator == operator && row.setting == *setting =>
                {
                    row.cases += cases;
                }
                _ => rows.push(Row {
                    operator: operator.to_owned(),
                    setting: setting.clone(),
                    rank: block.rank,
                    tuples: self.boxes[block.place].tuples(block.setting).len(),
                    cases,
                }),
            }
        }
        rows
    }
}
