//! Executes a read on ranges of an axis.
//!
//! Operations that do not depend on `c` are computed once per desc, so that only the others are left here.
//! Each value is a line, `value + step * j` for the next coordinates `j`. An operation that bends the line,
//! such as a comparison, a minimum or a remainder, limits the number of coordinates for which it holds. A
//! range of a billion coordinates therefore costs as much as one. An operation without a line, such as the
//! product of two lines, limits the range to a single coordinate.

use std::sync::Arc;

use dmlcts_model::Signature;
use smallvec::SmallVec;

use super::{
    cycle::{Cycle, least_common_multiple},
    machine::{Machine, Value},
    map::Line,
    step::{Slot, Step},
};
use crate::{
    expression::Term,
    program::{
        Builder, Evaluation, Inputs, Leaf, MAXIMUM_AXES, OpId, Operation, Program, Read, Values,
        number::Number,
    },
};

/// The operations of one read, in order.
#[derive(Debug)]
pub(super) struct CompiledRead {
    program: Program,
    /// The operations for the coordinate and the fill.
    result: Read,
    /// The operations that steps read and that do not depend on the coordinate.
    fixed: Vec<OpId>,
    steps: Vec<Step>,
    coordinate: Slot,
    fill: Option<Slot>,
    /// The condition for the axes on which the read applies; `None` if it applies to all.
    when: Option<OpId>,
}

/// The values of [`CompiledRead::fixed`] for one desc, on each axis.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    narrow: Vec<Row<i64>>,
    /// Used instead of `narrow` if a value does not fit 64 bits.
    wide: Vec<Row<i128>>,
    is_wide: bool,
    /// The axes on which the read applies.
    pub(super) axes: u8,
}

#[derive(Clone, Copy, Debug)]
struct Row<N> {
    lanes: [N; MAXIMUM_AXES],
    defined: u8,
}

/// Memory for the values of one read.
#[derive(Debug, Default)]
pub(super) struct ReadValues {
    narrow: Vec<Value<i64>>,
    wide: Vec<Value<i128>>,
    is_wide: bool,
}

/// The reads of a range of coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RangeRead {
    /// The coordinates are fill.
    Fill,
    /// The coordinates read this line of input coordinates.
    Line(Line),
    /// The read is undefined at the first coordinate.
    Undefined,
}

impl CompiledRead {
    /// Compiles a read, and the condition for the axes on which it applies.
    pub(super) fn new(signature: &Arc<Signature>, read: &Term, when: Option<&Term>) -> Self {
        let mut builder = Builder::new(Arc::clone(signature));
        let when = when.map(|when| builder.add(when));
        let result = builder.add_read(read);
        let Read { coordinate, fill } = result;
        let program = builder.finish();
        let mut reached: Vec<OpId> = program.reachable(coordinate);
        reached.extend(fill.into_iter().flat_map(|fill| program.reachable(fill)));
        reached.sort_unstable();
        reached.dedup();
        let moving: Vec<OpId> =
            reached.iter().copied().filter(|&id| program.op(id).uses_coordinate).collect();
        let mut fixed: Vec<OpId> = moving
            .iter()
            .flat_map(|&id| program.op(id).operation.operands())
            .chain([coordinate])
            .chain(fill)
            .collect();
        fixed.retain(|&id| !program.op(id).uses_coordinate);
        fixed.sort_unstable();
        fixed.dedup();
        // The two lists contain every operation that a step or the result refers to.
        let slot = |id: OpId| -> Slot {
            let place = fixed.iter().chain(&moving).position(|&known| known == id);
            place.unwrap_or_default() as Slot
        };
        let step = |&id: &OpId| match program.op(id).operation {
            Operation::Leaf(Leaf::Coordinate) => Step::Coordinate,
            Operation::Negate(a) => Step::Negate(slot(a)),
            Operation::Absolute(a) => Step::Absolute(slot(a)),
            Operation::Binary(binary, a, b) => Step::Binary(binary, slot(a), slot(b)),
            Operation::Choose(condition, a, b) | Operation::ChooseCondition(condition, a, b) => {
                Step::Choose(slot(condition), slot(a), slot(b))
            }
            Operation::Compare(comparison, a, b) => Step::Compare(comparison, slot(a), slot(b)),
            Operation::Among(a, set) => Step::Among(slot(a), set),
            Operation::Not(a) => Step::Not(slot(a)),
            Operation::Logic(logic, a, b) => Step::Logic(logic, slot(a), slot(b)),
            // These do not depend on `c`, except for a quantifier over the axes, which has no single
            // coordinate.
            Operation::Constant(_)
            | Operation::Leaf(_)
            | Operation::Missing
            | Operation::Over(..)
            | Operation::On(..) => Step::Undefined,
        };
        let steps = moving.iter().map(step).collect();
        let (coordinate, fill) = (slot(coordinate), fill.map(slot));
        Self { program, result, fixed, steps, coordinate, fill, when }
    }

    /// Evaluates the operations that do not depend on the coordinate; the others are evaluated point by
    /// point. `None` if the read itself does not depend on the coordinate.
    pub(super) fn evaluate<'a>(
        &'a self,
        inputs: Inputs<'a>,
        values: &'a mut Values,
    ) -> Option<Evaluation<'a>> {
        let moving = |slot: Slot| usize::from(slot) >= self.fixed.len();
        let all = moving(self.coordinate) && self.fill.is_none_or(moving);
        all.then(|| self.program.evaluate(inputs, values))
    }

    /// The input coordinates of eight points, and a bit for each that is fill. `None` if a point is undefined
    /// or a value does not fit 64 bits.
    pub(super) fn lanes<'a>(&self, evaluation: &'a Evaluation<'_>) -> Option<(&'a [i64; MAXIMUM_AXES], u8)> {
        let fill = match self.result.fill {
            None => 0,
            Some(fill) => {
                let mask = evaluation.mask(fill);
                if mask.defined != u8::MAX {
                    return None;
                }
                mask.truth
            }
        };
        let defined = evaluation.mask(self.result.coordinate).defined | fill;
        if defined != u8::MAX {
            return None;
        }
        Some((evaluation.row(self.result.coordinate)?, fill))
    }

    /// Computes the operations that do not depend on the coordinate.
    pub(super) fn load(&self, inputs: Inputs<'_>, values: &mut Values, fixed: &mut Fixed) {
        let evaluation = self.program.evaluate(inputs, values);
        fixed.axes = self.when.map_or(u8::MAX, |when| match evaluation.mask(when).truth {
            0 => 0,
            _ if evaluation.lanes(when) == Some(1) => u8::MAX,
            truth => truth,
        });
        fixed.narrow.clear();
        fixed.is_wide = false;
        for &id in &self.fixed {
            let Some(row) = row(&evaluation, id, |id| evaluation.row(id).copied()) else {
                fixed.is_wide = true;
                break;
            };
            fixed.narrow.push(row);
        }
        if fixed.is_wide {
            let lanes = |id| Some(std::array::from_fn(|axis| evaluation.integer(id, axis).unwrap_or(0)));
            fixed.wide.clear();
            fixed.wide.extend(self.fixed.iter().filter_map(|&id| row(&evaluation, id, lanes)));
        }
    }

    /// Prepares the values for an axis.
    pub(super) fn prepare(&self, fixed: &Fixed, axis: usize, values: &mut ReadValues) {
        values.is_wide = fixed.is_wide;
        if fixed.is_wide {
            return prepare(&fixed.wide, axis, self.steps.len(), &mut values.wide);
        }
        prepare(&fixed.narrow, axis, self.steps.len(), &mut values.narrow);
    }

    /// The reads of the coordinates from `first` on, and the number of coordinates for which they hold, at
    /// least one.
    pub(super) fn stretch(&self, first: u64, values: &mut ReadValues) -> (RangeRead, u64) {
        if !values.is_wide {
            let mut lost = false;
            let found = self.run(first as i64, &mut values.narrow, &mut lost);
            if !lost {
                return found;
            }
            values.is_wide = true;
            values.wide.clear();
            let widen = |value: &Value<i64>| Value {
                at: value.at.into(),
                step: value.step.into(),
                defined: value.defined,
            };
            values.wide.extend(values.narrow.iter().map(widen));
        }
        self.run(i128::from(first), &mut values.wide, &mut false)
    }

    fn run<N: Number>(&self, first: N, values: &mut [Value<N>], lost: &mut bool) -> (RangeRead, u64) {
        let mut machine = Machine { until: u64::MAX, lost };
        let fixed = self.fixed.len();
        for (index, &step) in self.steps.iter().enumerate() {
            let (known, rest) = values.split_at_mut(fixed + index);
            rest[0] = machine.step(step, first, known);
        }
        let Machine { until, .. } = machine;
        if let Some(fill) = self.fill.map(|fill| values[usize::from(fill)]) {
            if !fill.defined {
                return (RangeRead::Undefined, 1);
            }
            if fill.at != N::default() {
                return (RangeRead::Fill, until);
            }
        }
        let read = values[usize::from(self.coordinate)];
        if !read.defined {
            return (RangeRead::Undefined, 1);
        }
        // A coordinate that does not fit 64 bits is outside every input. It becomes -1, which the bounds
        // check rejects.
        let narrow = |value: N| i64::try_from(value.widen());
        match (narrow(read.at), narrow(read.step)) {
            (Ok(start), Ok(step)) => (RangeRead::Line(Line { start, step }), until),
            (Ok(start), Err(_)) => (RangeRead::Line(Line { start, step: 0 }), 1),
            (Err(_), _) => (RangeRead::Line(Line { start: -1, step: 0 }), 1),
        }
    }

    /// A number of coordinates after which the read repeats; `None` if it may never repeat.
    pub(super) fn period(&self, values: &ReadValues) -> Option<u64> {
        let constant = |slot: Slot| {
            let slot = usize::from(slot);
            let is_fixed = slot < self.fixed.len();
            is_fixed
                .then(|| if values.is_wide { values.wide[slot].at } else { values.narrow[slot].at.into() })
        };
        let mut cycles: SmallVec<[Cycle; 32]> = SmallVec::from_elem(Cycle::FIXED, self.fixed.len());
        for &step in &self.steps {
            let cycle = Cycle::of(step, &cycles, constant);
            cycles.push(cycle);
        }
        let of = |slot: Slot| cycles[usize::from(slot)].period;
        let fill = self.fill.map_or(Some(1), of);
        least_common_multiple(of(self.coordinate)?, fill?)
    }
}

/// The row of a fixed operation. A single value for the desc is repeated on each axis, and a condition
/// becomes 0 or 1.
fn row<N: Number>(
    evaluation: &Evaluation<'_>,
    id: OpId,
    lanes: impl FnOnce(OpId) -> Option<[N; MAXIMUM_AXES]>,
) -> Option<Row<N>> {
    let mask = evaluation.mask(id);
    let mut row = Row { lanes: [N::default(); MAXIMUM_AXES], defined: mask.defined };
    if evaluation.is_condition(id) {
        row.lanes = std::array::from_fn(|axis| N::from_word((mask.truth >> axis & 1).into()));
    } else {
        row.lanes = lanes(id)?;
    }
    if evaluation.lanes(id) == Some(1) {
        row.lanes = [row.lanes[0]; MAXIMUM_AXES];
        row.defined = if mask.defined == 0 { 0 } else { u8::MAX };
    }
    Some(row)
}

fn prepare<N: Number>(rows: &[Row<N>], axis: usize, steps: usize, values: &mut Vec<Value<N>>) {
    let count = rows.len() + steps;
    if values.len() != count {
        values.resize(count, Value::default());
    }
    let axis = axis % MAXIMUM_AXES;
    for (value, row) in values.iter_mut().zip(rows) {
        *value = Value { at: row.lanes[axis], step: N::default(), defined: row.defined >> axis & 1 == 1 };
    }
}
