//! Runs a program on a desc, and gives access to the values of its operations.

use super::{
    Inputs, MAXIMUM_AXES, Mask, OpId, Program,
    cycle::{Cycle, least_common_multiple},
    lengths::Lengths,
    number::Number,
    step::{Lanes, run},
    table::{LaneRow, Table},
    view::View,
};
use crate::elements;

/// Eight coordinates, each on its own axis. The axes are below [`MAXIMUM_AXES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Points {
    /// The axes.
    pub axes: [u8; MAXIMUM_AXES],
    /// The coordinates on them.
    pub coordinates: [i64; MAXIMUM_AXES],
}

/// The memory of evaluation, to be kept from one desc to the next.
#[derive(Debug, Default)]
pub struct Values {
    narrow: Tables<i64>,
    wide: Tables<i128>,
    is_wide: bool,
    lengths: Lengths,
    /// Present once a predicate asked for data.
    pub(crate) data: Option<Box<elements::Memory>>,
}

/// The values of all operations, in one integer width.
#[derive(Debug, Default)]
struct Tables<N> {
    fixed: Table<N>,
    moving: Table<N>,
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

    /// Returns whether all values fit the width.
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
            self.moving.rows[id.index()] = LaneRow(axes.map(|axis| row.0[usize::from(axis) % MAXIMUM_AXES]));
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
    /// Computes the operations that depend on `c`, for the eight coordinates from `first` on of an axis.
    pub fn at_coordinates(&mut self, axis: usize, first: i64) {
        let coordinates = std::array::from_fn(|lane| first.saturating_add(lane as i64));
        self.at_points(&Points { axes: [axis as u8; MAXIMUM_AXES], coordinates });
    }

    /// Computes the operations that depend on `c`, for eight coordinates on any axes.
    pub fn at_points(&mut self, points: &Points) {
        let Values { narrow, wide, is_wide, lengths, .. } = &mut *self.values;
        if !*is_wide && !narrow.evaluate_points(self.program, points) {
            *is_wide = true;
            wide.evaluate(self.program, &self.inputs, lengths);
        }
        if *is_wide {
            wide.evaluate_points(self.program, points);
        }
    }

    /// The number of lanes of an operation. An operation with one value for the desc has one lane, and one
    /// that depends on `c` has eight. Any other has one per axis. `None` if the lists that it needs are
    /// missing, differ in length or have more than eight values; its lanes are then meaningless.
    pub fn lanes(&self, id: OpId) -> Option<usize> {
        self.narrow().lanes(id)
    }

    /// A bit for each lane that an operation has.
    pub fn lane_mask(&self, id: OpId) -> u8 {
        self.narrow().lane_mask(id)
    }

    /// The lanes where an operation is defined and, for a condition, true. Contains only lanes that the
    /// operation has.
    pub fn mask(&self, id: OpId) -> Mask {
        if self.values.is_wide { self.wide().mask(id) } else { self.narrow().mask(id) }
    }

    /// Whether a condition holds on all its lanes. It is `Some(false)` if any lane is false. It is `None` if
    /// no lane is false but some lane is undefined, or if the operation has no valid lanes.
    pub fn verdict(&self, id: OpId) -> Option<bool> {
        if self.values.is_wide { self.wide().verdict(id) } else { self.narrow().verdict(id) }
    }

    /// The value of an integer operation on a lane, saturated at 128 bits. `None` if it is undefined or the
    /// lane does not exist.
    pub fn integer(&self, id: OpId, lane: usize) -> Option<i128> {
        if self.values.is_wide { self.wide().integer(id, lane) } else { self.narrow().integer(id, lane) }
    }

    /// The eight lanes of an integer operation. `None` if a value of the program does not fit 64 bits.
    /// Undefined lanes hold arbitrary numbers.
    pub fn row(&self, id: OpId) -> Option<&[i64; MAXIMUM_AXES]> {
        let narrow = &self.values.narrow;
        let table = if self.program.op(id).uses_coordinate { &narrow.moving } else { &narrow.fixed };
        if self.values.is_wide { None } else { table.rows.get(id.index()).map(|row| &row.0) }
    }

    /// The lanes where a comparison is true and a step of one would change that. The two sides are equal or,
    /// for `<`, `>` and `!=`, differ by one. 0 if the operation is no comparison.
    pub fn edge(&self, id: OpId) -> u8 {
        if self.values.is_wide { self.wide().edge(id) } else { self.narrow().edge(id) }
    }

    /// For points that ascend on one axis, the lanes whose point is on a line with the first: between the
    /// two coordinates, every operation that depends on `c` changes by the same amount from each coordinate
    /// to the next. It is the first lane alone if a value does not fit 64 bits.
    pub fn on_line(&self) -> u8 {
        if self.values.is_wide { 1 } else { self.narrow().on_line() }
    }

    /// The number of coordinates of an axis after which all these operations repeat; `None` if they need not.
    pub fn period(&self, operations: impl IntoIterator<Item = OpId>, axis: usize) -> Option<u64> {
        let op = |id: OpId| self.program.op(id);
        let mut cycles = vec![Cycle::FIXED; self.program.ops.len()];
        for &id in &self.program.moving {
            let lane = |id| if self.lanes(id) == Some(1) { 0 } else { axis };
            let value = |id| (!op(id).uses_coordinate).then(|| self.integer(id, lane(id))).flatten();
            cycles[id.index()] = Cycle::of(op(id).operation, |id| cycles[id.index()], value);
        }
        let mut operations = operations.into_iter();
        operations.try_fold(1, |period, id| least_common_multiple(period, cycles[id.index()].period?))
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
