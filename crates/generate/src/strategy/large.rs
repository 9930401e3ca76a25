//! Sizes, products of sizes, and values of lists at the limits of the numbers that an implementation may use.
//!
//! * *Lengths*: one axis is as long as a [limit](LENGTHS), or one element longer. It is the first, an inner
//!   or the last axis, and the rows beside it have several elements where the tensor stays small enough.
//! * *Products*: two or three axes of [odd sizes](PRODUCTS) have a product just above a limit. So a linear
//!   index is wrong although each coordinate is right. These axes are neighbours, or an axis is between them.
//! * *Rows*: two or three rows of a [length](ROWS) by which a float cannot divide with a reciprocal. The rows
//!   of the other tensor have their least or greatest length, or are several times as long.
//! * *Strides*: each tensor has a stride at and next to each [power of two](ENDS) where a narrow number ends.
//!   The axis of the stride has two elements.
//! * *Alignments* at such powers of two, and transposed tensors with sizes next to those of tiles.
//! * *Members*: a value of each list is at and next to each such power of two. If the input would be too
//!   large, it repeats one element along the axis.
//!
//! If the number of elements is limited, large tensors have elements of few bytes. Then each limit above a
//! [million](HUGE) elements has one case, and modes and tensors take turns.
//!
//! The cases are the same on every machine. A run reports those that do not fit the machine's memory.

use std::sync::Arc;

use dmlcts_model::{Case, DataType, Fill, List, Side, element_count, packed_strides};
use dmlcts_spec::{Scratch, Validity};

use super::SearchResult;
use crate::{
    draw::{Draws, mix},
    edit::set_strides,
    lower::{INPUT, OUTPUT},
    solve::{Interval, Problem},
    space::{Setting, Space},
};

/// The greatest length at which a number still holds every index of an axis. If the axis is one longer, its
/// last index is wrong: it equals another index, or it is infinite.
///
/// | length | the index `length` does not fit | or the count of elements does not fit |
/// |---|---|---|
/// | 2^7 | INT8: -128 | |
/// | 2^8 | UINT8: 0 | 64 invocations by 4 elements, 256 invocations |
/// | 2^8 + 1 | BFLOAT16 has 8 bits: 257 is 256 | |
/// | 2^10 | | the invocations of a workgroup |
/// | 2^11 + 1 | FLOAT16 has 11 bits: 2049 is 2048 | |
/// | 2^15 | INT16: -32768 | |
/// | 65519 | FLOAT16: 65520 and more is infinite | |
/// | 2^16 - 1 | | UINT16: 65536 is 0; the workgroups of a dispatch |
/// | 2^16 | UINT16: 0 | |
/// | 2^22 | | UINT32, as workgroups of 1024 |
/// | 2^24 + 1 | FLOAT32 has 24 bits: 16777217 is 16777216 | |
/// | 2^28, 2^29, 2^30 | | 2^31 bytes of 8, 4 and 2 |
/// | 2^31 | INT32: -2147483648 | 2^32 bytes of 2 |
/// | 2^32 - 2 | | the greatest tensor but one |
const LENGTHS: [i64; 16] = [
    1 << 7,
    1 << 8,
    (1 << 8) + 1,
    1 << 10,
    (1 << 11) + 1,
    1 << 15,
    65_519,
    (1 << 16) - 1,
    1 << 16,
    1 << 22,
    (1 << 24) + 1,
    1 << 28,
    1 << 29,
    1 << 30,
    1 << 31,
    (1 << 32) - 2,
];

/// Sizes of two or three axes whose product is just above a limit of [`LENGTHS`]: 2^8, 2^11, 2^15, 2^16,
/// 2^24, 2^31. No size is a power of two, so that a mask in place of a remainder shows.
const PRODUCTS: [&[i64]; 12] = [
    &[17, 19],
    &[7, 7, 7],
    &[41, 51],
    &[13, 13, 13],
    &[181, 183],
    &[255, 259],
    &[37, 41, 45],
    &[3, 21_847],
    &[21_847, 3],
    &[4_095, 4_099],
    &[255, 257, 257],
    &[46_337, 46_347],
];

/// Lengths of rows for which a rounded reciprocal gives a wrong row: `index * (1 / length)` is less than 1 at
/// `index == length`. 11 and 22 are the least lengths in FLOAT16; 41, 47 and 55 in FLOAT32; 49, 98 and 103 in
/// FLOAT64. The division fails at the first index of the second row, so that two rows are enough.
const ROWS: [i64; 8] = [11, 41, 49, 98, 22, 47, 55, 103];
/// The number of lengths that are enough: the least of each float, and one above the 64 invocations of a
/// small workgroup.
const LEAST_ROWS: usize = 4;

/// The ends of the numbers that may hold the value of a list: INT8, UINT8, FLOAT16, INT16, UINT16, FLOAT32,
/// INT32. The values one below, at and one above the end distinguish them all. So does an odd value above the
/// end.
const ENDS: [i64; 7] = [1 << 7, 1 << 8, 1 << 11, 1 << 15, 1 << 16, 1 << 24, 1 << 31];

/// The values near each end, and the greatest UINT32. If one case of each limit is enough, only the end plus
/// 3 is taken, which the number that ends there does not hold.
fn around_ends(most: usize) -> impl Iterator<Item = i64> {
    let around = if most == 1 { &[3][..] } else { &[-1, 0, 1, 3] };
    ENDS.into_iter().flat_map(move |end| around.iter().map(move |by| end + by)).chain([(1 << 32) - 1])
}

/// If the number of elements is limited, only tensors up to this number have any type.
const SMALL: u128 = 1 << 15;
/// Tensors with more elements than this are costly.
const HUGE: u128 = 1 << 20;
/// From this number of elements, a run with the default memory only creates the operator.
const CREATED: u128 = 1 << 31;
/// The greatest stride between two elements of a tensor that spans fewer than 2^32, and the next one.
const SPANS: [i64; 2] = [(1 << 32) - 2, (1 << 32) - 1];

/// Searches one operator for at most `each` cases of each limit, setting and tensor. A tensor has at most
/// `elements` elements, or at least [`CREATED`]. With `beyond`, only lengths, products and values of members
/// above this number are searched.
pub(crate) fn search(
    space: &Arc<Space<'_>>,
    types: &[DataType],
    ranks: (usize, usize),
    (beyond, elements, each): (Option<u32>, Option<u32>, Option<u32>),
    seed: u64,
) -> SearchResult {
    let Some((types, ranks)) = space.supported(types, ranks) else { return SearchResult::default() };
    let limit = elements.map_or(u128::MAX, u128::from);
    let beyond = beyond.map_or(0, u128::from);
    let most = each.map_or(usize::MAX, |each| each as usize);
    let mut search = LargeSearch {
        space,
        types,
        ranks,
        beyond,
        limit,
        creates: false,
        most,
        seed,
        turn: 0,
        scratch: Scratch::default(),
        found: SearchResult::default(),
    };
    for place in 0..space.settings.len() {
        search.lengths(place);
        search.products(place);
        if beyond == 0 {
            if place == 0 {
                search.transposed();
                search.alignments();
            }
            search.rows(place);
            search.strides(place);
        }
        search.members(place);
    }
    search.found
}

struct LargeSearch<'a, 'lib> {
    space: &'a Space<'lib>,
    types: Vec<DataType>,
    ranks: (usize, usize),
    /// If this is not 0, only lengths, products and values of members above this number are searched.
    beyond: u128,
    /// The largest number of elements of a tensor.
    limit: u128,
    /// Whether tensors may be so large that a run only creates their operators.
    creates: bool,
    /// The largest number of cases of each limit, setting and tensor.
    most: usize,
    seed: u64,
    /// The number of descs so far. It decides types, and sizes beside large axes, which take turns.
    turn: usize,
    scratch: Scratch,
    found: SearchResult,
}

/// The place of the small axis beside large ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// There is none.
    Alone,
    /// Behind the large axes.
    Last,
    /// Between two large axes, or on both sides of a single one.
    Middle,
    /// Before the large axes.
    First,
}

/// The layout of the tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LargeLayout {
    Packed,
    /// The input repeats one element along an axis.
    Repeated(usize),
    /// A tensor of two axes has these strides.
    Strides(Side, [i64; 2]),
}

impl LargeSearch<'_, '_> {
    /// One axis at or above a limit.
    fn lengths(&mut self, place: usize) {
        let space = self.space;
        let setting = &space.settings[place];
        let around = if self.most == 1 { &[1][..] } else { &[1, 0] };
        let lengths = LENGTHS.into_iter().flat_map(|limit| around.iter().map(move |by| limit + by));
        for (number, length) in lengths.enumerate() {
            let elements = u128::from(length.unsigned_abs());
            self.creates = elements >= CREATED && self.beyond == 0 && self.is_turn(number, place);
            if !self.creates && self.is_left_out(elements, number, place) {
                continue;
            }
            let sides = if self.creates { vec![INPUT, OUTPUT] } else { self.sides(elements, number) };
            for side in sides {
                let places = [Place::Alone, Place::Last, Place::Middle, Place::First];
                self.each_of_size(setting, side, length, &places);
            }
        }
        self.creates = false;
    }

    /// Two or three axes whose product is above a limit.
    fn products(&mut self, place: usize) {
        let space = self.space;
        let setting = &space.settings[place];
        for (number, sizes) in PRODUCTS.into_iter().enumerate() {
            if self.is_left_out(element_count(sizes), number, place) {
                continue;
            }
            for side in self.sides(element_count(sizes), number) {
                // The least and the greatest possible size of the other tensor on each axis.
                let tuples = |end: usize| -> Vec<Vec<i64>> {
                    let tuple = |&size: &i64| {
                        let mut tuples = self.space.tuples_of_size(setting, side, size, false);
                        if end < tuples.len() { Some(tuples.swap_remove(end)) } else { tuples.pop() }
                    };
                    sizes.iter().filter_map(tuple).collect()
                };
                let ends = [tuples(0), tuples(1)];
                let shapes = ends.iter().filter(|tuples| tuples.len() == sizes.len()).flat_map(|tuples| {
                    let tuples: Vec<&[i64]> = tuples.iter().map(Vec::as_slice).collect();
                    [Place::Last, Place::Middle, Place::First].map(|place| (tuples.clone(), place))
                });
                self.each(setting, &shapes.collect::<Vec<_>>());
            }
        }
    }

    /// Two or three rows of a length.
    fn rows(&mut self, place: usize) {
        let space = self.space;
        let setting = &space.settings[place];
        let places = [Place::First, Place::Middle];
        let rows = if self.most == 1 { &ROWS[..LEAST_ROWS] } else { &ROWS };
        for &length in rows {
            let sides = if self.most == 1 { &[][..] } else { &[INPUT, OUTPUT] };
            for &side in sides {
                self.each_of_size(setting, side, length, &places);
            }
            // One tensor is several times as long as the other one. The period of padding is the input's
            // length, twice the length, or two less than twice the length. Each side has a whole period.
            for (short, long, least) in [(INPUT, OUTPUT, 2 * length + 2), (OUTPUT, INPUT, 2)] {
                for of_short in [length, length + 1] {
                    let mut domains = self.space.domains();
                    domains[short] = Interval::single(of_short);
                    domains[long] = Interval::new(4 * length, 9 * length);
                    domains[2..].fill(Interval::new(least, 9 * length));
                    let Some(tuple) = self.solve(setting, domains) else { continue };
                    self.each(setting, &places.map(|place| (vec![tuple.as_slice()], place)));
                }
            }
        }
    }

    /// Whether a tensor of at least this number of elements is too small, too large, or costly and not this
    /// setting's turn.
    fn is_left_out(&self, elements: u128, number: usize, setting: usize) -> bool {
        let takes_turns = self.saves(elements) || self.most == 1 && elements > SMALL;
        let is_other = takes_turns && !self.is_turn(number, setting);
        elements <= self.beyond || elements > self.limit || is_other
    }

    /// The tensors that get the large axes: both, or one in turn if tensors are costly.
    fn sides(&self, elements: u128, number: usize) -> Vec<usize> {
        if self.saves(elements) { vec![number / self.space.settings.len() % 2] } else { vec![INPUT, OUTPUT] }
    }

    /// Whether it is this setting's turn at a limit.
    fn is_turn(&self, number: usize, setting: usize) -> bool {
        number % self.space.settings.len() == setting
    }

    /// Whether a tensor of this number of elements is made rarely.
    fn saves(&self, elements: u128) -> bool {
        elements > HUGE && self.limit < u128::MAX
    }

    /// Adds the wanted number of shapes with one axis of this size in a tensor.
    fn each_of_size(&mut self, setting: &Setting, side: usize, size: i64, places: &[Place]) {
        let tuples = self.space.tuples_of_size(setting, side, size, false);
        let places_of = |tuple| places.iter().map(move |&place| (vec![tuple], place));
        let shapes: Vec<_> = tuples.iter().map(Vec::as_slice).flat_map(places_of).collect();
        self.each(setting, &shapes);
    }

    /// Adds the wanted number of shapes. It starts at a different shape each time, so that a suite has them
    /// all.
    fn each(&mut self, setting: &Setting, shapes: &[(Vec<&[i64]>, Place)]) {
        let (first, mut left) = (self.turn, self.most);
        let sizes = |tuples: &[&[i64]]| {
            tuples.iter().map(|tuple| tuple[INPUT].max(tuple[OUTPUT])).collect::<Vec<_>>()
        };
        if shapes.first().is_some_and(|(tuples, _)| self.saves(element_count(&sizes(tuples)))) {
            left = 1;
        }
        for step in 0..shapes.len() {
            if left == 0 {
                break;
            }
            let (tuples, place) = &shapes[(first + step) % shapes.len()];
            left -= usize::from(self.beside(setting, tuples, *place));
        }
    }

    /// Each tensor in column-major order, with sizes that are no multiples of a tile of 16 or 32.
    fn transposed(&mut self) {
        let setting = &self.space.settings[0];
        for (side, which) in Side::BOTH.into_iter().zip([INPUT, OUTPUT]) {
            for sizes in [[17, 19], [35, 33]] {
                let tuples = sizes
                    .map(|size| self.space.tuples_of_size(setting, which, size, false).into_iter().next());
                if let [Some(row), Some(column)] = &tuples
                    && self.has_two_axes()
                {
                    self.push(setting, &[row, column], LargeLayout::Strides(side, [1, sizes[0]]));
                }
            }
        }
    }

    /// Each tensor with each alignment at which a narrow number ends. Offsets of 0 have every alignment.
    fn alignments(&mut self) {
        let space = self.space;
        for side in Side::BOTH {
            for exponent in [7, 8, 15, 16, 31] {
                let setting = &space.settings[0];
                let tuple = self.two(setting, OUTPUT);
                if !tuple.is_some_and(|tuple| self.beside(setting, &[&tuple], Place::Alone)) {
                    continue;
                }
                let Some(case) = self.found.cases.last_mut() else { continue };
                if let Some(tensor) = case.desc.tensor_mut(side) {
                    tensor.alignment = 1 << exponent;
                }
                if space.judge(&case.desc, &mut self.scratch).validity() != Validity::Valid {
                    self.found.cases.pop();
                }
            }
        }
    }

    /// The smallest tuple with two elements in a tensor, if possible with an output of at least two.
    fn two(&self, setting: &Setting, side: usize) -> Option<Vec<i64>> {
        let tuples = self.space.tuples_of_size(setting, side, 2, false);
        tuples.into_iter().min_by_key(|tuple| (tuple[OUTPUT] < 2, tuple[INPUT] + tuple[OUTPUT]))
    }

    /// Whether the part has tensors of two axes.
    fn has_two_axes(&self) -> bool {
        (self.ranks.0..=self.ranks.1).contains(&2)
    }

    /// Each stride of each tensor around the ends of narrow numbers.
    fn strides(&mut self, place: usize) {
        let space = self.space;
        let setting = &space.settings[place];
        if !self.has_two_axes() {
            return;
        }
        for (side, which) in Side::BOTH.into_iter().zip([INPUT, OUTPUT]) {
            let Some(tuple) = self.two(setting, which) else { continue };
            let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
            let spans = if place == 0 { &SPANS[..] } else { &[] }.iter().copied();
            for stride in around_ends(self.most).filter(|&stride| stride < limit).chain(spans) {
                self.turn += 1;
                let axis = self.turn % 2;
                let small = if SPANS.contains(&stride) { setting.unit.clone() } else { self.small(setting) };
                let mut strides = [1; 2];
                strides[axis] = stride;
                let tuples = if axis == 0 { [&tuple, &small] } else { [&small, &tuple] };
                self.push(setting, &tuples.map(Vec::as_slice), LargeLayout::Strides(side, strides));
            }
        }
    }

    /// Each value of each list around the ends of narrow numbers.
    fn members(&mut self, place: usize) {
        let space = self.space;
        let setting = &space.settings[place];
        let longest = i64::try_from(self.limit).unwrap_or(i64::MAX).min((1 << 32) - 1);
        let is_beyond = self.beyond > 0;
        for variable in 2..self.space.width() {
            let range = self.space.variables[variable].range;
            let values = around_ends(self.most).flat_map(|value| [value, -value]);
            // A part of large tensors has the values that make a tensor large, on every setting.
            let is_wanted = |value: &i64| {
                let of_part = (self.beyond..self.limit).contains(&u128::from(value.unsigned_abs()));
                range.contains(*value) && (!is_beyond || of_part)
            };
            for (number, value) in values.filter(is_wanted).collect::<Vec<_>>().into_iter().enumerate() {
                let is_turn = is_beyond || number % space.settings.len() == place;
                let most =
                    if self.saves(self.limit) && !is_turn { longest.min(HUGE as i64) } else { longest };
                // Prefer an output of several elements, and a packed input. An input of one element hides
                // most errors. With six elements, the period of no padding mode divides a power of two.
                let all = (1 << 32) - 1;
                let mut tries: Vec<[(i64, i64); 2]> = Vec::new();
                for (shortest, least) in [(6, 2), (2, 2), (1, 1)] {
                    for longest in [most, all] {
                        tries.extend([5, most].map(|output| [(shortest, longest), (least, output)]));
                    }
                }
                // The last tensors are so large that an operator is only created.
                let is_created = value.unsigned_abs() >= CREATED as u64 && !is_beyond;
                tries.extend(is_created.then_some([(1, all), (2, all)]));
                for [input, output] in tries {
                    let mut domains = self.space.domains();
                    domains[INPUT] = Interval::new(input.0, input.1);
                    domains[OUTPUT] = Interval::new(output.0, output.1);
                    domains[variable] = Interval::single(value);
                    let Some(tuple) = self.solve(setting, domains) else { continue };
                    self.creates = output.1 == all;
                    let repeats = input.1 == all && !self.creates;
                    self.turn += 1;
                    let place = [Place::Last, Place::Middle, Place::First][self.turn % 3];
                    let is_kept = if repeats {
                        self.repeated(setting, &tuple, place)
                    } else {
                        self.beside(setting, &[&tuple], place)
                            || self.beside(setting, &[&tuple], Place::Alone)
                    };
                    self.creates = false;
                    if is_kept {
                        break;
                    }
                }
            }
        }
    }

    /// A valid tuple within domains. Of a few samples, it has the smallest input.
    fn solve(&mut self, setting: &Setting, domains: crate::solve::Domains) -> Option<Vec<i64>> {
        let problem = Problem::new(domains, setting.conditions(false)).and_then(Problem::tightened)?;
        // A long output has its least length, or one more.
        let least = problem.bounds(OUTPUT).filter(|reach| reach.low > 500);
        let problem = match least {
            Some(reach) => problem.within(OUTPUT, Interval::new(reach.low, reach.low + 1))?,
            None => problem,
        };
        let mut draws = Draws::new(mix(self.seed ^ self.turn as u64));
        let mut case = self.space.blank();
        let samples = (0..8).filter_map(|_| problem.sample(&mut draws)).map(|values| values.to_vec());
        let valid: Vec<Vec<i64>> = samples
            .filter(|tuple| {
                let judgement = self.space.judge_tuple(setting, tuple, &mut case, &mut self.scratch);
                judgement.validity() == Validity::Valid
            })
            .collect();
        valid.into_iter().min_by_key(|tuple| tuple[INPUT])
    }

    /// A small tuple for the axes beside large ones.
    fn small(&self, setting: &Setting) -> Vec<i64> {
        let side = if self.turn.is_multiple_of(2) { INPUT } else { OUTPUT };
        let size = 2 + (self.turn / 2 % 2) as i64;
        let found = self.space.tuples_of_size(setting, side, size, false);
        found.into_iter().max_by_key(|tuple| tuple[OUTPUT]).unwrap_or_else(|| setting.unit.clone())
    }

    /// Adds a case of large axes with a small one at a place. A unit replaces the small one if the tensors
    /// would be too large.
    fn beside(&mut self, setting: &Setting, large: &[&[i64]], place: Place) -> bool {
        let small = self.small(setting);
        for beside in [small, setting.unit.clone()] {
            let mut tuples: Vec<&[i64]> = large.to_vec();
            match place {
                Place::Alone => {}
                Place::Last => tuples.push(&beside),
                Place::Middle if large.len() == 1 => {
                    tuples.insert(0, &beside);
                    tuples.push(&beside);
                }
                Place::Middle => tuples.insert(1, &beside),
                Place::First => tuples.insert(0, &beside),
            }
            while tuples.len() < self.ranks.0 {
                tuples.insert(0, &setting.unit);
            }
            if tuples.len() > self.ranks.1 {
                return false;
            }
            if self.push(setting, &tuples, LargeLayout::Packed) {
                return true;
            }
        }
        false
    }

    /// Adds a case of a tuple beside a small one, or beside a unit if the tensor would be too large. The
    /// input repeats one element along the axis of the tuple.
    fn repeated(&mut self, setting: &Setting, tuple: &[i64], place: Place) -> bool {
        let small = self.small(setting);
        let rank = (self.ranks.0.max(2)).min(self.ranks.1);
        let axis = if place == Place::Last { 0 } else { rank - 1 };
        [small.as_slice(), &setting.unit].into_iter().any(|beside| {
            let mut tuples = vec![beside; rank];
            tuples[axis] = tuple;
            self.push(setting, &tuples, LargeLayout::Repeated(axis))
        })
    }

    /// Adds a case with these tuples if the spec allows it and it is small enough.
    fn push(&mut self, setting: &Setting, tuples: &[&[i64]], layout: LargeLayout) -> bool {
        let space = self.space;
        let sizes = |side: usize| tuples.iter().map(|tuple| tuple[side]).collect::<Vec<_>>();
        let elements = element_count(&sizes(INPUT)).max(element_count(&sizes(OUTPUT)));
        let elements = match layout {
            LargeLayout::Strides(_, strides) => u128::from(strides[0].max(strides[1]).unsigned_abs()),
            _ => elements,
        };
        let mut types: Vec<DataType> = self.types.clone();
        if elements > SMALL && self.limit < u128::MAX {
            let least = types.iter().filter_map(|data_type| data_type.bits()).min();
            let is_narrow = |data_type: &DataType| elements <= HUGE && data_type.bits() == Some(16);
            types.retain(|data_type| data_type.bits() == least || is_narrow(data_type));
        }
        let data_type = types[self.turn % types.len()];
        let mut case = space.blank();
        space.assemble(&mut case, setting, data_type, tuples);
        space.set_scalars(&mut case.desc, data_type, mix(self.seed ^ self.turn as u64));
        match layout {
            LargeLayout::Repeated(axis) => repeat(&mut case, axis),
            LargeLayout::Strides(side, strides) => {
                if let Some(tensor) = case.desc.tensor_mut(side) {
                    set_strides(tensor, Some(List::from_slice(&strides)));
                }
            }
            // Some packed tensors state their strides, which are large, too.
            LargeLayout::Packed => {
                for (side, place) in Side::BOTH.into_iter().zip(0..) {
                    if let Some(tensor) = case.desc.tensor_mut(side).filter(|_| self.turn >> place & 3 == 3) {
                        tensor.strides = tensor.sizes.as_deref().map(packed_strides);
                    }
                }
            }
        }
        let fits = |side: Side| {
            let Some(tensor) = case.desc.tensor(side) else { return false };
            let sizes = tensor.sizes.as_deref().unwrap_or_default();
            let repeated = matches!(layout, LargeLayout::Repeated(_)) && side == Side::Input;
            repeated || self.creates || element_count(sizes) <= self.limit
        };
        if !Side::BOTH.into_iter().all(fits) {
            return false;
        }
        let validity = space.judge(&case.desc, &mut self.scratch).validity();
        let is_right = match layout {
            // Strides alone may raise a question.
            LargeLayout::Strides(..) => validity != Validity::Invalid,
            _ => validity == Validity::Valid,
        };
        if !is_right {
            return false;
        }
        // `Fill::Coordinates` would need several passes to identify each element.
        case.fill = Fill::Random { seed: mix(self.seed ^ self.turn as u64) >> 40 };
        self.turn += 1;
        self.found.cases.push(case);
        true
    }
}

/// Repeats one element of the input along an axis. The other axes are packed.
pub(super) fn repeat(case: &mut Case, axis: usize) {
    let Some(input) = &mut case.desc.input else { return };
    let Some(sizes) = &input.sizes else { return };
    let mut stored = sizes.clone();
    stored[axis] = 1;
    let mut strides: List = packed_strides(&stored);
    strides[axis] = 0;
    set_strides(input, Some(strides));
}
