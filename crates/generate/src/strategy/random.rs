//! Random cases that are valid by construction: sizes first, and then for each axis a tuple from the pool of
//! these sizes.
//!
//! No draw is rejected, so that generating a case costs about as much as writing it. Case `i` depends only on
//! the seed and `i`.

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
    lower::{INPUT, OUTPUT},
    pool::{Pools, Share},
    space::{MOST_AXES, Space},
    suite::FillForm,
};

/// The greatest length of an axis, for any number of elements.
pub(crate) const LONGEST_AXIS: usize = 128;

/// The least number of consecutive cases of one operator.
const TURN: u64 = 16;

/// The largest number of consecutive cases with one shape.
const MOST_OF_A_SHAPE: u64 = 64;
/// The least number of shapes in a part with at least this number of cases.
const LEAST_SHAPES: u64 = 1 << 12;

/// The strategy, for the operators of one part of a suite in turn.
///
/// In a part with many cases, consecutive cases share their [`Shape`]. Drawing, judging and running cases of
/// one kind in a row is about a quarter faster than mixed. Such a part still has thousands of shapes.
pub(crate) struct Random<'lib> {
    samplers: Vec<Sampler<'lib>>,
    seed: u64,
    length: Length,
    /// The number of consecutive cases with one shape, and of one operator.
    turns: (u64, u64),
}

impl<'lib> Random<'lib> {
    /// `length` cases of these operators.
    pub(crate) fn new(samplers: Vec<Sampler<'lib>>, seed: u64, length: Length) -> Self {
        let of_a_shape = match length {
            Length::Finite(cases) => u64::try_from(cases / u128::from(LEAST_SHAPES)).unwrap_or(u64::MAX),
            Length::Endless => MOST_OF_A_SHAPE,
        };
        let of_a_shape = of_a_shape.clamp(1, MOST_OF_A_SHAPE);
        Self { samplers, seed, length, turns: (of_a_shape, TURN.next_multiple_of(of_a_shape)) }
    }
}

impl Generator for Random<'_> {
    fn length(&self) -> Length {
        if self.samplers.is_empty() { Length::Finite(0) } else { self.length }
    }

    fn case(&self, index: u128, case: &mut Case) {
        // Operators take turns, so that every range of cases contains all of them. Turns are long enough that
        // a desc usually overwrites one of the same operator.
        let count = self.samplers.len() as u64;
        let index = index as u64;
        let (of_a_shape, of_an_operator) = self.turns;
        if let Some(sampler) = self.samplers.get((index / of_an_operator % count.max(1)) as usize) {
            // Every eighth case has the shape and the sizes of the one before, and other values in its lists.
            // A backend that remembers operators by their sizes confuses the two.
            let is_variant = index % 8 == 7;
            let like = if is_variant { index - 1 } else { index };
            let shape = sampler.shape(&mut Draws::of_case(mix(self.seed), like / of_a_shape));
            sampler.draw_variant(&shape, &mut Draws::of_case(self.seed, like), u64::from(is_variant), case);
        }
    }
}

/// A table that is made on first use, for all operators of a part.
pub(crate) type LazyTable = LazyLock<SizeTable, Box<dyn FnOnce() -> SizeTable + Send + Sync>>;

/// A table of sizes for tensors of at most `elements` elements.
pub(crate) fn sizes(elements: u32) -> Arc<LazyTable> {
    Arc::new(LazyLock::new(Box::new(move || SizeTable::new(elements.max(1)))))
}

/// The properties that consecutive cases share.
pub(crate) struct Shape {
    /// The index of the setting: the values of the members that are not on axes.
    setting: usize,
    data_type: DataType,
    rank: usize,
    layout: Layout,
}

impl Shape {
    /// The shape with these values.
    pub(crate) fn new(setting: usize, data_type: DataType, rank: usize, layout: BaseLayout) -> Self {
        let strides = [layout == BaseLayout::Strided; 2];
        let layout = Layout { strides, more: layout == BaseLayout::More };
        Self { setting, data_type, rank, layout }
    }
}

/// The layout of the valid descs that a search changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BaseLayout {
    /// Packed tensors.
    Packed,
    /// Explicit strides on both tensors.
    Strided,
    /// Larger total sizes, and alignments.
    More,
}

impl BaseLayout {
    /// Every layout.
    pub(crate) const ALL: [Self; 3] = [Self::Packed, Self::Strided, Self::More];
}

/// Draws cases of one operator.
pub(crate) struct Sampler<'lib> {
    pools: Arc<Pools<'lib>>,
    /// The data types that it draws.
    pub(crate) types: Vec<DataType>,
    /// The least and greatest rank that it draws.
    pub(crate) ranks: (usize, usize),
    fills: Vec<FillForm>,
    layouts: Layouts,
    sizes: Arc<LazyTable>,
}

impl<'lib> Sampler<'lib> {
    /// Only types and ranks of the pools' space are drawn. `None` if there are none.
    pub(crate) fn new(
        pools: Arc<Pools<'lib>>,
        types: &[DataType],
        ranks: (usize, usize),
        fills: Vec<FillForm>,
        layouts: Layouts,
        sizes: Arc<LazyTable>,
    ) -> Option<Self> {
        let (types, ranks) = pools.space.supported(types, ranks)?;
        Some(Self { pools, types, ranks, fills, layouts, sizes })
    }

    /// The greatest length of an axis of a tensor with this number of elements.
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
        // Half of the cases have two to four axes, which leaves more elements for each axis. Most faults need
        // at most three axes.
        let (least, most) = self.ranks;
        let (least, most) =
            if word >> 63 == 0 { (least.max(2).min(most), most.min(4).max(least)) } else { self.ranks };
        Shape {
            setting: cut(word, self.space().settings.len()),
            data_type: self.types[cut(word >> 16, self.types.len())],
            rank: least + cut(word >> 32, most - least + 1),
            layout: Layout::draw(self.layouts, draws),
        }
    }

    /// Draws a case of this shape over `case`.
    pub(crate) fn draw(&self, shape: &Shape, draws: &mut Draws, case: &mut Case) {
        self.draw_variant(shape, draws, 0, case);
    }

    /// Draws a case of this shape over `case`. With the same draws, variants have the same sizes and fill,
    /// and other values in lists and scalars.
    fn draw_variant(&self, shape: &Shape, draws: &mut Draws, variant: u64, case: &mut Case) {
        let space = self.space();
        let Shape { setting, data_type, rank, ref layout } = *shape;
        let word = draws.word();
        let sizes: &SizeTable = &self.sizes;
        let mut room = [sizes.target(word), sizes.target(word >> 8)];
        // A random start avoids that the first axes are always the longest.
        let start = cut(word >> 48, rank);
        let share = self.pools.share(setting);
        let setting = &space.settings[setting];
        let mut chosen: [&[i64]; MOST_AXES] = [setting.unit.as_slice(); MOST_AXES];
        for step in 0..rank {
            let axis = if start + step < rank { start + step } else { start + step - rank };
            if let Some(tuple) = self.axis(sizes, share, rank - step, &mut room, (draws.word(), variant)) {
                chosen[axis] = tuple;
            }
        }
        space.assemble(case, setting, data_type, &chosen[..rank]);
        space.set_scalars(&mut case.desc, data_type, draws.word() ^ variant << 32);
        layout.apply(case, draws);
        case.fill = self.fill(&chosen[..rank], data_type, word >> 16);
    }

    /// A tuple for one of the remaining axes, from the pool of two sizes that fit the room.
    #[inline]
    fn axis<'a>(
        &'a self,
        table: &SizeTable,
        share: &'a Share,
        left: usize,
        room: &mut [u32; 2],
        (word, variant): (u64, u64),
    ) -> Option<&'a [i64]> {
        let first = if word & 1 == 0 { INPUT } else { OUTPUT };
        let second = 1 - first;
        let one = table.draw(room[first], left, word >> 8);
        // If open tuples were as common as valid ones, most descs with many axes would be open.
        let open = (word >> 26).is_multiple_of(64);
        let (low, high) = self.pools.reach(share, open, first, one as usize);
        let high = high.min(room[second]);
        if low > high {
            return None;
        }
        let other = table.draw(room[second], left, word >> 16).clamp(low, high);
        let (input, output) = if first == INPUT { (one, other) } else { (other, one) };
        let tuples = self.pools.tuples(share, open, input as usize, output as usize);
        let place = cut(word >> 32, tuples.len()) + variant as usize;
        let tuple = tuples.get(if place < tuples.len() { place } else { 0 })?;
        *room = [room[INPUT] / input, room[OUTPUT] / output];
        Some(tuple)
    }

    /// Chooses a fill by the low bits of a word, and its parameters by the high bits.
    fn fill(&self, tuples: &[&[i64]], data_type: DataType, word: u64) -> Fill {
        let forms = if self.fills.is_empty() { &FillForm::ALL[..] } else { &self.fills };
        match forms[cut(word, forms.len())] {
            FillForm::Iota => Fill::Iota,
            FillForm::Coordinates => {
                let elements = tuples.iter().map(|tuple| tuple[INPUT].unsigned_abs()).product();
                let passes = fill::passes(data_type, elements);
                Fill::Coordinates { pass: cut(word >> 16, passes.into()) as u8 }
            }
            // Seeds are short, because people read case lines.
            FillForm::Random => Fill::Random { seed: word >> 24 },
            FillForm::Special => Fill::Special { seed: word >> 24 },
        }
    }
}

/// Sizes for axes, by the remaining number of elements and axes. Small tensors, long axes and flat shapes all
/// occur, and tensors use most of the allowed elements.
pub(crate) struct SizeTable {
    targets: Vec<u32>,
    sizes: Vec<u32>,
}

/// The number of choices per entry of a [`SizeTable`].
const CHOICES: usize = 64;
/// Up to this number of elements, every room has its own entry; beyond it, each octave has eight.
const EXACT_ROOMS: u32 = 64;

/// The index of the entry for a room. It may be that of a slightly smaller room.
fn entry(room: u32) -> usize {
    if room <= EXACT_ROOMS {
        return room as usize;
    }
    let octave = room.ilog2();
    let eighth = room >> (octave - 3) & 7;
    (EXACT_ROOMS + (octave - EXACT_ROOMS.ilog2()) * 8 + eighth) as usize
}

impl SizeTable {
    /// Sizes for tensors of at most `elements` elements, which must be at least 1.
    pub(crate) fn new(elements: u32) -> Self {
        let share = |choice: usize| (choice as f64 + 0.5) / CHOICES as f64;
        // Seven eighths of the tensors aim at the upper half. Rounding and clauses then make them smaller.
        let target = |choice| (f64::from(elements) * share(choice).cbrt()).round() as u32;
        let targets = (0..CHOICES).map(|choice| target(choice).clamp(1, elements)).collect();
        let mut sizes = Vec::new();
        for room in 0..=elements {
            // Rooms with the same entry use the sizes of the smallest of them.
            if sizes.len() > entry(room) * MOST_AXES * CHOICES {
                continue;
            }
            for left in 1..=MOST_AXES as i32 {
                sizes.extend((0..CHOICES).map(|choice| size(room, left, share(choice))));
            }
        }
        Self { targets, sizes }
    }

    /// The number of elements to aim at, chosen by the low six bits of a word.
    fn target(&self, word: u64) -> u32 {
        self.targets[word as usize % CHOICES]
    }

    /// A size from 1 to `room`, chosen by the low six bits of a word.
    #[inline]
    fn draw(&self, room: u32, left: usize, word: u64) -> u32 {
        self.sizes[(entry(room) * MOST_AXES + left - 1) * CHOICES + word as usize % CHOICES]
    }
}

/// A power of `room`. On average it is a little more than the share of one of `left` axes.
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
