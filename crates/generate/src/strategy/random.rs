//! Seeded draws, valid by construction: sizes first, then for each axis a tuple from the pool of those sizes.
//!
//! Nothing is drawn and thrown away, so that a case costs about as much as writing it down, and case `i`
//! is a function of the seed and `i` alone.

use std::sync::{Arc, LazyLock};

use dmlcts_model::{Case, DataType, Fill};

use super::{
    Generator,
    layout::{Layout, Layouts},
};
use crate::{
    Length,
    draw::{Draws, cut, mix},
    fill,
    pool::{Pools, Share},
    space::{INPUT, MOST_AXES, OUTPUT, Space},
    suite::FillForm,
};

/// No axis is longer than this, however many elements a tensor may have.
pub(crate) const LONGEST_AXIS: usize = 128;

/// How many cases in a row are of one operator at least.
const TURN: u64 = 16;

/// How many cases in a row have one shape at most.
const MOST_OF_A_SHAPE: u64 = 64;
/// How many shapes a part draws at least, where it has so many cases.
const LEAST_SHAPES: u64 = 1 << 12;

/// The strategy, for the operators of one part of a suite in turn.
///
/// Cases in a row share their [`Shape`] where there are many of them: what is of one kind is drawn, judged and run
/// about a quarter faster in a row than mixed, and a part of many cases has thousands of shapes all the same.
pub(crate) struct Random<'lib> {
    drawers: Vec<Drawer<'lib>>,
    seed: u64,
    length: Length,
    /// How many cases in a row have one shape, and how many are of one operator.
    turns: (u64, u64),
}

impl<'lib> Random<'lib> {
    /// So many cases of these operators.
    pub(crate) fn new(drawers: Vec<Drawer<'lib>>, seed: u64, length: Length) -> Self {
        let of_a_shape = match length {
            Length::Finite(cases) => u64::try_from(cases / u128::from(LEAST_SHAPES)).unwrap_or(u64::MAX),
            Length::Endless => MOST_OF_A_SHAPE,
        };
        let of_a_shape = of_a_shape.clamp(1, MOST_OF_A_SHAPE);
        Self { drawers, seed, length, turns: (of_a_shape, TURN.next_multiple_of(of_a_shape)) }
    }
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
        let (of_a_shape, of_an_operator) = self.turns;
        if let Some(drawer) = self.drawers.get((index / of_an_operator % count.max(1)) as usize) {
            let shape = drawer.shape(&mut Draws::of_case(mix(self.seed), index / of_a_shape));
            drawer.draw(&shape, &mut Draws::of_case(self.seed, index), case);
        }
    }
}

/// A table that is made on its first use, for all operators of a part.
pub(crate) type LazyTable = LazyLock<SizeTable, Box<dyn FnOnce() -> SizeTable + Send + Sync>>;

/// A table of sizes for tensors of at most so many elements.
pub(crate) fn sizes(elements: u32) -> Arc<LazyTable> {
    Arc::new(LazyLock::new(Box::new(move || SizeTable::new(elements.max(1)))))
}

/// What several cases in a row may have in common.
pub(crate) struct Shape {
    /// The place of the values of the members that no axis has.
    setting: usize,
    data_type: DataType,
    rank: usize,
    layout: Layout,
}

/// Draws cases of one operator.
pub(crate) struct Drawer<'lib> {
    pools: Arc<Pools<'lib>>,
    types: Vec<DataType>,
    ranks: (usize, usize),
    fills: Vec<FillForm>,
    layouts: Layouts,
    sizes: Arc<LazyTable>,
}

impl<'lib> Drawer<'lib> {
    /// Types and ranks are among those of the pools' space; with none of them nothing can be drawn.
    pub(crate) fn new(
        pools: Arc<Pools<'lib>>,
        types: Vec<DataType>,
        ranks: (usize, usize),
        fills: Vec<FillForm>,
        layouts: Layouts,
        sizes: Arc<LazyTable>,
    ) -> Option<Self> {
        let possible = !types.is_empty() && ranks.0 <= ranks.1 && !pools.space.settings.is_empty();
        possible.then(|| Self { pools, types, ranks, fills, layouts, sizes })
    }

    /// The most that an axis of a tensor with so many elements has.
    pub(crate) fn longest_axis(elements: u32) -> usize {
        (elements as usize).clamp(1, LONGEST_AXIS)
    }

    /// The space that it draws from.
    pub(crate) fn space(&self) -> &Space<'lib> {
        &self.pools.space
    }

    /// Draws a shape.
    pub(crate) fn shape(&self, draws: &mut Draws) -> Shape {
        let word = draws.word();
        Shape {
            setting: cut(word, self.space().settings.len()),
            data_type: self.types[cut(word >> 16, self.types.len())],
            rank: self.ranks.0 + cut(word >> 32, self.ranks.1 - self.ranks.0 + 1),
            layout: Layout::draw(self.layouts, draws),
        }
    }

    /// Draws a case of this shape over `case`.
    pub(crate) fn draw(&self, shape: &Shape, draws: &mut Draws, case: &mut Case) {
        let space = self.space();
        let Shape { setting, data_type, rank, ref layout } = *shape;
        let word = draws.word();
        let sizes: &SizeTable = &self.sizes;
        let mut room = [sizes.target(word), sizes.target(word >> 8)];
        // Starting anywhere keeps the long axes from being the first ones.
        let start = cut(word >> 48, rank);
        let share = self.pools.share(setting);
        let setting = &space.settings[setting];
        let mut chosen: [&[i64]; MOST_AXES] = [setting.unit.as_slice(); MOST_AXES];
        for step in 0..rank {
            let axis = if start + step < rank { start + step } else { start + step - rank };
            if let Some(tuple) = self.axis(sizes, share, rank - step, &mut room, draws.word()) {
                chosen[axis] = tuple;
            }
        }
        space.assemble(case, setting, data_type, &chosen[..rank]);
        space.set_scalars(&mut case.desc, data_type, draws.word());
        layout.apply(case, draws);
        case.fill = self.fill(&chosen[..rank], data_type, word >> 16);
    }

    /// A tuple for one of the axes that are left, from the pool of two sizes that fit the room.
    #[inline]
    fn axis<'a>(
        &'a self,
        table: &SizeTable,
        share: &'a Share,
        left: usize,
        room: &mut [u32; 2],
        word: u64,
    ) -> Option<&'a [i64]> {
        let first = if word & 1 == 0 { INPUT } else { OUTPUT };
        let second = 1 - first;
        let one = table.draw(room[first], left, word >> 8);
        // Were open tuples as common as valid ones, most descs of many axes would be open.
        let open = (word >> 26).is_multiple_of(64);
        let (low, high) = self.pools.reach(share, open, first, one as usize);
        let high = high.min(room[second]);
        if low > high {
            return None;
        }
        let other = table.draw(room[second], left, word >> 16).clamp(low, high);
        let (input, output) = if first == INPUT { (one, other) } else { (other, one) };
        let tuples = self.pools.tuples(share, open, input as usize, output as usize);
        let tuple = tuples.get(cut(word >> 32, tuples.len()))?;
        *room = [room[INPUT] / input, room[OUTPUT] / output];
        Some(tuple)
    }

    /// One of the fills by the low bits of a word, and what it takes by the high ones.
    fn fill(&self, tuples: &[&[i64]], data_type: DataType, word: u64) -> Fill {
        const ALL: [FillForm; 4] =
            [FillForm::Iota, FillForm::Coordinates, FillForm::Random, FillForm::Special];
        let forms = if self.fills.is_empty() { &ALL[..] } else { &self.fills };
        match forms[cut(word, forms.len())] {
            FillForm::Iota => Fill::Iota,
            FillForm::Coordinates => {
                let elements = tuples.iter().map(|tuple| tuple[INPUT].unsigned_abs()).product();
                let passes = fill::passes(data_type, elements);
                Fill::Coordinates { pass: cut(word >> 16, passes.into()) as u8 }
            }
            // Short seeds: a case line is read by people.
            FillForm::Random => Fill::Random { seed: word >> 24 },
            FillForm::Special => Fill::Special { seed: word >> 24 },
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

    /// How many elements to aim at, by the low six bits of a word.
    fn target(&self, word: u64) -> u32 {
        self.targets[word as usize % CHOICES]
    }

    /// A size of at least 1 and at most `room`, by the low six bits of a word.
    #[inline]
    fn draw(&self, room: u32, left: usize, word: u64) -> u32 {
        self.sizes[(entry(room) * MOST_AXES + left - 1) * CHOICES + word as usize % CHOICES]
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
                for choice in 0..CHOICES as u64 {
                    assert!((1..=room.max(1)).contains(&table.draw(room, left, choice)), "{room} {left}");
                }
            }
        }
    }
}
