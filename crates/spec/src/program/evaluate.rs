//! Runs a program on a desc, and answers for the values of its operations.

use dmlcts_model::{BindingOffsets, Case, Desc, FeatureLevel};

use super::{
    MAXIMUM_AXES, OpId, Program, leaf,
    number::Number,
    step::{Lanes, Row, run},
    view::View,
};
use crate::Validity;

/// What a program reads.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The desc. Its signature must be the one that the program was built for.
    pub desc: &'a Desc,
    /// The feature level to judge at.
    pub level: FeatureLevel,
    /// Where the tensors lie in their buffers; only predicates over cases read it.
    pub binding: BindingOffsets,
    /// What the desc was judged, where somebody asks; only predicates over cases do.
    pub validity: Option<Validity>,
}

impl<'a> Inputs<'a> {
    /// A desc at a feature level, bound at offset 0.
    pub fn new(desc: &'a Desc, level: FeatureLevel) -> Self {
        Self { desc, level, binding: BindingOffsets::default(), validity: None }
    }

    /// A case at a feature level.
    pub fn of_case(case: &'a Case, level: FeatureLevel) -> Self {
        Self { desc: &case.desc, level, binding: case.binding, validity: None }
    }
}

/// Eight coordinates, each on an axis below [`MAXIMUM_AXES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Points {
    /// The axes.
    pub axes: [u8; MAXIMUM_AXES],
    /// The coordinates on them.
    pub coordinates: [i64; MAXIMUM_AXES],
}

/// A bit a lane. What has one value for the desc has the same bit in every lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mask {
    /// Where a condition is true: a subset of `defined`. Zero for integers.
    pub truth: u8,
    /// Where there is a value.
    pub defined: u8,
}

impl Mask {
    pub(super) const UNDEFINED: Self = Self { truth: 0, defined: 0 };

    /// Where a condition is false.
    pub fn falsehood(self) -> u8 {
        self.defined & !self.truth
    }
}

/// The memory of evaluation, to be kept from one desc to the next.
#[derive(Debug, Default)]
pub struct Values {
    narrow: Tables<i64>,
    wide: Tables<i128>,
    is_wide: bool,
    lengths: Lengths,
}

/// The values of all operations, in one width.
#[derive(Debug, Default)]
struct Tables<N> {
    fixed: Table<N>,
    moving: Table<N>,
}

#[derive(Debug, Default)]
pub(super) struct Table<N> {
    pub(super) rows: Vec<Row<N>>,
    pub(super) masks: Vec<Mask>,
}

impl<N: Number> Table<N> {
    pub(super) fn grow(&mut self, length: usize) {
        if self.rows.len() < length {
            self.rows.resize(length, Row::default());
            self.masks.resize(length, Mask::UNDEFINED);
        }
    }
}

/// How long the lists of a desc are.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// Of each list of the program; `None` where it is null or has more than eight values.
    each: Vec<Option<u8>>,
    /// The length that all of them have.
    agreed: Option<u8>,
}

impl Lengths {
    /// Of lists that are all as long as this.
    pub(super) fn of(agreed: u8) -> Self {
        Self { each: Vec::new(), agreed: Some(agreed) }
    }

    pub(super) fn measure(&mut self, program: &Program, desc: &Desc) {
        self.each.clear();
        self.each.extend(program.lists.iter().map(|&source| {
            leaf::length(desc, source).filter(|&length| length <= MAXIMUM_AXES).map(|length| length as u8)
        }));
        let first = self.each.first().copied().flatten();
        self.agreed = first.filter(|_| self.each.iter().all(|length| *length == first));
    }

    /// On how many axes an operation that needs these lists has a value.
    #[inline]
    pub(super) fn lanes(&self, lists: u64) -> Option<u8> {
        if self.agreed.is_some() || lists == 0 {
            return self.agreed;
        }
        let mut needed = self.each.iter().enumerate().filter(|(at, _)| lists >> (*at).min(63) & 1 == 1);
        let (_, first) = needed.next()?;
        needed.all(|(_, length)| length == first).then_some(*first).flatten()
    }

    /// On how many axes all lists have values.
    pub(super) fn agreed(&self) -> Option<u8> {
        self.agreed
    }

    /// How many lanes are worth computing.
    pub(super) fn count(&self) -> usize {
        self.agreed.map_or(MAXIMUM_AXES, usize::from)
    }
}

impl Program {
    /// Computes every operation that does not depend on `c`.
    pub fn evaluate<'a>(&'a self, inputs: Inputs<'a>, values: &'a mut Values) -> Evaluation<'a> {
        values.lengths.measure(self, inputs.desc);
        let Values { narrow, wide, lengths, .. } = values;
        values.is_wide = !narrow.evaluate(self, &inputs, lengths);
        if values.is_wide {
            wide.evaluate(self, &inputs, lengths);
        }
        Evaluation { program: self, inputs, values }
    }
}

impl<N: Number> Tables<N> {
    fn view<'a>(&'a self, program: &'a Program, lengths: &'a Lengths) -> View<'a, N> {
        View { program, fixed: &self.fixed, moving: &self.moving, lengths }
    }

    /// Whether every value was held.
    fn evaluate(&mut self, program: &Program, inputs: &Inputs<'_>, lengths: &Lengths) -> bool {
        self.fixed.grow(program.ops.len());
        let mut lost = false;
        run(program, &program.fixed, &mut self.fixed, Lanes::Axes { inputs, lengths }, &mut lost);
        !lost
    }

    fn evaluate_points(&mut self, program: &Program, points: &Points) -> bool {
        self.moving.grow(program.ops.len());
        let Points { axes, coordinates } = points;
        for &id in &program.frontier {
            let (row, mask) = (&self.fixed.rows[id.index()], self.fixed.masks[id.index()]);
            self.moving.rows[id.index()] = Row(axes.map(|axis| row.0[usize::from(axis) % MAXIMUM_AXES]));
            let gather = |bits: u8| match bits {
                0 | u8::MAX => bits,
                _ => (0..MAXIMUM_AXES).fold(0, |lanes, lane| lanes | (bits >> (axes[lane] & 7) & 1) << lane),
            };
            self.moving.masks[id.index()] = Mask { truth: gather(mask.truth), defined: gather(mask.defined) };
        }
        let mut lost = false;
        run(program, &program.moving, &mut self.moving, Lanes::Points { coordinates }, &mut lost);
        !lost
    }
}

/// The values of a program's operations on a desc.
#[derive(Debug)]
pub struct Evaluation<'a> {
    program: &'a Program,
    inputs: Inputs<'a>,
    values: &'a mut Values,
}

impl Evaluation<'_> {
    /// Computes what depends on `c`, for the coordinates `first` to `first + 7` of an axis, in eight lanes.
    pub fn at_coordinates(&mut self, axis: usize, first: i64) {
        let coordinates = std::array::from_fn(|lane| first.saturating_add(lane as i64));
        self.at_points(&Points { axes: [axis as u8; MAXIMUM_AXES], coordinates });
    }

    /// Computes what depends on `c`, for eight coordinates of any axes, in as many lanes.
    pub fn at_points(&mut self, points: &Points) {
        let Values { narrow, wide, is_wide, lengths } = &mut *self.values;
        if !*is_wide && !narrow.evaluate_points(self.program, points) {
            *is_wide = true;
            wide.evaluate(self.program, &self.inputs, lengths);
        }
        if *is_wide {
            wide.evaluate_points(self.program, points);
        }
    }

    /// How many lanes an operation has: one for what has one value for the desc, eight for what depends on `c`,
    /// and else one an axis. `None` where the lists that it needs are missing, differ in length or have more
    /// than eight values: then no lane of it means anything.
    pub fn lanes(&self, id: OpId) -> Option<usize> {
        self.narrow().lanes(id)
    }

    /// A bit for each lane that an operation has.
    pub fn lane_mask(&self, id: OpId) -> u8 {
        self.narrow().lane_mask(id)
    }

    /// Where an operation is defined and, for a condition, true; only lanes that it has.
    pub fn mask(&self, id: OpId) -> Mask {
        if self.values.is_wide { self.wide().mask(id) } else { self.narrow().mask(id) }
    }

    /// Whether a condition holds on all its lanes: false as soon as it is false on one. `None` where that is
    /// not known, or it is not judgeable.
    pub fn verdict(&self, id: OpId) -> Option<bool> {
        if self.values.is_wide { self.wide().verdict(id) } else { self.narrow().verdict(id) }
    }

    /// The value of an integer operation on a lane; `None` where it is undefined or the lane does not exist.
    /// It saturates at 128 bits.
    pub fn integer(&self, id: OpId, lane: usize) -> Option<i128> {
        if self.values.is_wide { self.wide().integer(id, lane) } else { self.narrow().integer(id, lane) }
    }

    /// Whether an operation gives a condition, and not an integer.
    pub fn is_condition(&self, id: OpId) -> bool {
        self.program.op(id).is_condition
    }

    /// The eight lanes of an integer operation, where 64 bits held every value of the program; undefined lanes
    /// hold anything.
    pub fn row(&self, id: OpId) -> Option<&[i64; MAXIMUM_AXES]> {
        let narrow = &self.values.narrow;
        let table = if self.program.op(id).uses_coordinate { &narrow.moving } else { &narrow.fixed };
        if self.values.is_wide { None } else { table.rows.get(id.index()).map(|row| &row.0) }
    }

    /// The lanes where a comparison is defined and its two sides are equal; 0 for another operation.
    pub fn equal(&self, id: OpId) -> u8 {
        if self.values.is_wide { self.wide().equal(id) } else { self.narrow().equal(id) }
    }

    /// The lanes where a comparison is true, and a step of one would change that: the sides are equal, or, for
    /// `<`, `>` and `!=`, differ by one. 0 for another operation.
    pub fn edge(&self, id: OpId) -> u8 {
        if self.values.is_wide { self.wide().edge(id) } else { self.narrow().edge(id) }
    }

    pub(super) fn narrow(&self) -> View<'_, i64> {
        self.values.narrow.view(self.program, &self.values.lengths)
    }

    pub(super) fn wide(&self) -> View<'_, i128> {
        self.values.wide.view(self.program, &self.values.lengths)
    }

    pub(super) fn is_wide(&self) -> bool {
        self.values.is_wide
    }
}
