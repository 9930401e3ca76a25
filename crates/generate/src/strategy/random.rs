//! Seeded draws, valid by construction: sizes first, then for each axis a tuple from the pool of those sizes.
//!
//! Nothing is drawn and thrown away, so that a case costs about as much as writing it down, and case `i`
//! is a function of the seed and `i` alone.

use std::sync::{Arc, LazyLock};

use dmlcts_model::{Case, DataType, Fill};

use super::{
    Generator,
    layout::{self, Layouts},
};
use crate::{
    Length,
    draw::Draws,
    fill,
    pool::Pools,
    space::{INPUT, MOST_AXES, OUTPUT, Space},
    suite::FillForm,
};

/// No axis is longer than this, however many elements a tensor may have.
pub(crate) const LONGEST_AXIS: usize = 128;

/// How many cases in a row are of one operator.
const TURN: u64 = 16;

/// The strategy, for the operators of one part of a suite in turn.
pub(crate) struct Random<'lib> {
    pub(crate) drawers: Vec<Drawer<'lib>>,
    pub(crate) seed: u64,
    pub(crate) length: Length,
}

impl Generator for Random<'_> {
    fn length(&self) -> Length {
        if self.drawers.is_empty() { Length::Finite(0) } else { self.length }
    }

    fn case(&self, index: u128, case: &mut Case) {
        // Operators take turns, so that every stretch of cases has them all; turns are long enough for a desc of
        // one operator to be written over one of the same.
        let count = self.drawers.len() as u64;
        let index = index as u64;
        if let Some(drawer) = self.drawers.get((index / TURN % count.max(1)) as usize) {
            drawer.draw(&mut Draws::of_case(self.seed, index), case);
        }
    }
}

/// A table that is made on its first use, for all operators of a part.
pub(crate) type LazyTable = LazyLock<SizeTable, Box<dyn FnOnce() -> SizeTable + Send + Sync>>;

/// A table of sizes for tensors of at most so many elements.
pub(crate) fn sizes(elements: u32) -> Arc<LazyTable> {
    Arc::new(LazyLock::new(Box::new(move || SizeTable::new(elements.max(1)))))
}

/// Draws cases of one operator.
pub(crate) struct Drawer<'lib> {
    /// Of valid tuples, and of those that may raise questions.
    pools: Arc<[Pools<'lib>; 2]>,
    types: Vec<DataType>,
    ranks: (usize, usize),
    fills: Vec<FillForm>,
    layouts: Layouts,
    sizes: Arc<LazyTable>,
}

impl<'lib> Drawer<'lib> {
    /// Types and ranks are among those of the pools' space; with none of them nothing can be drawn.
    pub(crate) fn new(
        pools: Arc<[Pools<'lib>; 2]>,
        types: Vec<DataType>,
        ranks: (usize, usize),
        fills: Vec<FillForm>,
        layouts: Layouts,
        sizes: Arc<LazyTable>,
    ) -> Option<Self> {
        let possible = !types.is_empty() && ranks.0 <= ranks.1 && !pools[0].space.settings.is_empty();
        possible.then(|| Self { pools, types, ranks, fills, layouts, sizes })
    }

    /// The most that an axis of a tensor with so many elements has.
    pub(crate) fn longest_axis(elements: u32) -> usize {
        (elements as usize).clamp(1, LONGEST_AXIS)
    }

    /// The space that it draws from.
    pub(crate) fn space(&self) -> &Space<'lib> {
        &self.pools[0].space
    }

    /// Draws one case over `case`.
    pub(crate) fn draw(&self, draws: &mut Draws, case: &mut Case) {
        let space = self.space();
        let setting = draws.place(space.settings.len());
        let data_type = self.types[draws.place(self.types.len())];
        let rank = draws.between(self.ranks.0 as i64, self.ranks.1 as i64) as usize;
        let unit = space.settings[setting].unit.as_slice();
        let mut chosen: [&[i64]; MOST_AXES] = [unit; MOST_AXES];
        let sizes: &SizeTable = &self.sizes;
        let mut room = [sizes.target(draws), sizes.target(draws)];
        // Starting anywhere keeps the long axes from being the first ones.
        let start = draws.place(rank);
        let mut elements = 1_u64;
        for step in 0..rank {
            let axis = if start + step < rank { start + step } else { start + step - rank };
            if let Some(tuple) = self.axis(sizes, setting, rank - step, &mut room, draws) {
                chosen[axis] = tuple;
            }
            elements *= chosen[axis][INPUT].unsigned_abs();
        }
        space.assemble(case, &space.settings[setting], data_type, &chosen[..rank]);
        space.set_scalars(&mut case.desc, data_type, draws.word());
        layout::draw(self.layouts, case, draws);
        case.fill = self.fill(data_type, elements, draws);
    }

    /// A tuple for one of the axes that are left, from the pool of two sizes that fit the room.
    fn axis(
        &self,
        table: &SizeTable,
        setting: usize,
        left: usize,
        room: &mut [u32; 2],
        draws: &mut Draws,
    ) -> Option<&[i64]> {
        let word = draws.word();
        let first = if word & 1 == 0 { INPUT } else { OUTPUT };
        let second = 1 - first;
        let one = table.draw(room[first], left, (word >> 8) as usize);
        // Were open tuples as common as valid ones, most descs of many axes would be open.
        let pools = &self.pools[usize::from(word >> 58 == 0)];
        let (low, high) = pools.reach(setting, first, one as usize);
        let high = high.min(room[second]);
        if low > high {
            return None;
        }
        let other = table.draw(room[second], left, (word >> 16) as usize).clamp(low, high);
        let sizes = if first == INPUT { [one, other] } else { [other, one] };
        let tuples = pools.tuples(setting, sizes[INPUT] as usize, sizes[OUTPUT] as usize);
        let tuple = tuples.get(draws.place(tuples.len()))?;
        room[INPUT] /= sizes[INPUT];
        room[OUTPUT] /= sizes[OUTPUT];
        Some(tuple)
    }

    fn fill(&self, data_type: DataType, elements: u64, draws: &mut Draws) -> Fill {
        const ALL: [FillForm; 4] =
            [FillForm::Iota, FillForm::Coordinates, FillForm::Random, FillForm::Special];
        let word = draws.word();
        let forms = if self.fills.is_empty() { &ALL[..] } else { &self.fills };
        match forms[(word % forms.len() as u64) as usize] {
            FillForm::Iota => Fill::Iota,
            FillForm::Coordinates => {
                let passes = u64::from(fill::passes(data_type, elements));
                Fill::Coordinates { pass: (word >> 32).checked_rem(passes).unwrap_or(0) as u8 }
            }
            // Short seeds: a case line is read by people.
            FillForm::Random => Fill::Random { seed: word >> 40 },
            FillForm::Special => Fill::Special { seed: word >> 40 },
        }
    }
}

/// Sizes for axes, by how many elements there is room for and how many axes are left, so that small tensors,
/// long axes and flat shapes all come up and the room is well used.
pub(crate) struct SizeTable {
    targets: Vec<u32>,
    sizes: Vec<u32>,
}

/// Choices an entry of a [`SizeTable`].
const CHOICES: usize = 64;
/// Up to here every room has its own entry; beyond, eight in each octave.
const EXACT_ROOMS: u32 = 64;

/// The entry of a room, which may be that of a slightly smaller one.
fn entry(room: u32) -> usize {
    if room <= EXACT_ROOMS {
        return room as usize;
    }
    let octave = room.ilog2();
    let eighth = room >> (octave - 3) & 7;
    (EXACT_ROOMS + (octave - EXACT_ROOMS.ilog2()) * 8 + eighth) as usize
}

impl SizeTable {
    /// Sizes for tensors of at most so many elements, which is at least 1.
    pub(crate) fn new(elements: u32) -> Self {
        let share = |choice: usize| (choice as f64 + 0.5) / CHOICES as f64;
        // Seven eighths of the tensors aim at the upper half, which rounding and clauses then fall short of.
        let target = |choice| (f64::from(elements) * share(choice).cbrt()).round() as u32;
        let targets = (0..CHOICES).map(|choice| target(choice).clamp(1, elements)).collect();
        let mut sizes = Vec::new();
        for room in 0..=elements {
            // Rooms that share an entry share what the least of them allows.
            if sizes.len() > entry(room) * MOST_AXES * CHOICES {
                continue;
            }
            for left in 1..=MOST_AXES as i32 {
                sizes.extend((0..CHOICES).map(|choice| size(room, left, share(choice))));
            }
        }
        Self { targets, sizes }
    }

    fn target(&self, draws: &mut Draws) -> u32 {
        self.targets[draws.place(CHOICES)]
    }

    /// A size of at least 1 and at most `room`.
    fn draw(&self, room: u32, left: usize, choice: usize) -> u32 {
        self.sizes[(entry(room) * MOST_AXES + left - 1) * CHOICES + choice % CHOICES]
    }
}

/// `room` to the power of a share that is, on average, a little more than what one of `left` axes should have.
fn size(room: u32, left: i32, share: f64) -> u32 {
    let exponent = if left == 1 { share.sqrt().sqrt() } else { (2.4 * share / f64::from(left)).min(1.0) };
    let size = f64::from(room.max(1)).powf(exponent).round() as u32;
    size.clamp(1, room.clamp(1, LONGEST_AXIS as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_their_room() {
        let table = SizeTable::new(4096);
        for room in 0..=4096 {
            for left in 1..=MOST_AXES {
                for choice in 0..CHOICES {
                    assert!((1..=room.max(1)).contains(&table.draw(room, left, choice)), "{room} {left}");
                }
            }
        }
    }
}
