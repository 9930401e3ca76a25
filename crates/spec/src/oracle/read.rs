//! A read, executed on whole stretches of an axis at a time.
//!
//! Of a read's operations only those that depend on `c` are left here; what does not was computed once for the
//! desc. Each value is a line, `value + step * j` for the next coordinates `j`, and each operation that bends
//! it (a comparison, a minimum, a remainder) says for how many coordinates the line holds. So a stretch of a
//! billion coordinates costs as much as one, and what has no line, such as a product of two, is a stretch
//! of a single coordinate.

use smallvec::SmallVec;

use super::{
    cycle::{Cycle, least_common_multiple},
    machine::Machine,
    map::Line,
};
use crate::{
    expression::{Binary, Comparison, Logic},
    program::{Evaluation, Leaf, MAXIMUM_AXES, OpId, Operation, Program, number::Number},
};

/// A place among the values of a read: what is fixed comes first, then the steps.
pub(super) type Slot = u16;

/// What a step computes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Coordinate,
    Undefined,
    Negate(Slot),
    Absolute(Slot),
    Binary(Binary, Slot, Slot),
    Choose(Slot, Slot, Slot),
    Compare(Comparison, Slot, Slot),
    Among(Slot, u64),
    Not(Slot),
    Logic(Logic, Slot, Slot),
}

/// The operations of one read, in order.
#[derive(Debug)]
pub(super) struct CompiledRead {
    /// Read by the steps, and computed already.
    fixed: Vec<OpId>,
    steps: Vec<Step>,
    coordinate: Slot,
    fill: Option<Slot>,
}

/// A value on a stretch of coordinates: an integer on a line, or a condition, which is 0 or 1 throughout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value<N> {
    pub(super) at: N,
    pub(super) step: N,
    pub(super) defined: bool,
}

/// Memory for the values of one read.
#[derive(Debug, Default)]
pub(super) struct ReadValues {
    narrow: Vec<Value<i64>>,
    wide: Vec<Value<i128>>,
    is_wide: bool,
}

/// What a stretch of coordinates reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stretch {
    /// Nothing: they are fill.
    Fill,
    /// This line, in coordinates of the input.
    Line(Line),
    /// The read has no value at the first one.
    Undefined,
}

impl CompiledRead {
    /// Reduces a read to what depends on `c`.
    pub(super) fn new(program: &Program, coordinate: OpId, fill: Option<OpId>) -> Self {
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
        // Both lists hold every operation that a step or the result refers to.
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
            // None of these depends on `c`, but for axes gathered, which have no single coordinate.
            Operation::Constant(_) | Operation::Leaf(_) | Operation::Missing | Operation::Over(..) => {
                Step::Undefined
            }
        };
        let steps = moving.iter().map(step).collect();
        let (coordinate, fill) = (slot(coordinate), fill.map(slot));
        Self { steps, coordinate, fill, fixed }
    }

    /// Takes what is fixed from the evaluation of a desc, for one axis.
    pub(super) fn prepare(&self, evaluation: &Evaluation<'_>, axis: usize, values: &mut ReadValues) {
        let count = self.fixed.len() + self.steps.len();
        values.narrow.resize(count, Value::default());
        values.is_wide = false;
        for (value, &id) in values.narrow.iter_mut().zip(&self.fixed) {
            let lane = lane(evaluation, id, axis);
            let Some(at) = lane.narrow else {
                values.is_wide = true;
                break;
            };
            *value = Value { at, step: 0, defined: lane.defined };
        }
        if values.is_wide {
            self.prepare_wide(evaluation, axis, values);
        }
    }

    fn prepare_wide(&self, evaluation: &Evaluation<'_>, axis: usize, values: &mut ReadValues) {
        values.is_wide = true;
        values.wide.resize(self.fixed.len() + self.steps.len(), Value::default());
        for (value, &id) in values.wide.iter_mut().zip(&self.fixed) {
            let lane = lane(evaluation, id, axis);
            *value = Value { at: lane.wide, step: 0, defined: lane.defined };
        }
    }

    /// What the coordinates from `first` on read, and how many of them, at least one, read so.
    pub(super) fn stretch(
        &self,
        evaluation: &Evaluation<'_>,
        axis: usize,
        first: u64,
        values: &mut ReadValues,
    ) -> (Stretch, u64) {
        if !values.is_wide {
            let mut lost = false;
            let found = self.run(first as i64, &mut values.narrow, &mut lost);
            if !lost {
                return found;
            }
            self.prepare_wide(evaluation, axis, values);
        }
        self.run(i128::from(first), &mut values.wide, &mut false)
    }

    fn run<N: Number>(&self, first: N, values: &mut [Value<N>], lost: &mut bool) -> (Stretch, u64) {
        let mut machine = Machine { until: u64::MAX, lost };
        let fixed = self.fixed.len();
        for (index, &step) in self.steps.iter().enumerate() {
            let (known, rest) = values.split_at_mut(fixed + index);
            rest[0] = machine.step(step, first, known);
        }
        let Machine { until, .. } = machine;
        if let Some(fill) = self.fill.map(|fill| values[usize::from(fill)]) {
            if !fill.defined {
                return (Stretch::Undefined, 1);
            }
            if fill.at != N::default() {
                return (Stretch::Fill, until);
            }
        }
        let read = values[usize::from(self.coordinate)];
        if !read.defined {
            return (Stretch::Undefined, 1);
        }
        // What lies outside 64 bits lies outside every input, and is found there to be so.
        let narrow = |value: N| i64::try_from(value.widen());
        match (narrow(read.at), narrow(read.step)) {
            (Ok(start), Ok(step)) => (Stretch::Line(Line { start, step }), until),
            (Ok(start), Err(_)) => (Stretch::Line(Line { start, step: 0 }), 1),
            (Err(_), _) => (Stretch::Line(Line { start: -1, step: 0 }), 1),
        }
    }

    /// After how many coordinates the read certainly repeats itself; `None` where it may never do so.
    pub(super) fn period(&self, values: &ReadValues) -> Option<u64> {
        let constant = |slot: Slot| {
            let slot = usize::from(slot);
            (slot < self.fixed.len()).then(|| match values.is_wide {
                true => values.wide[slot].at,
                false => i128::from(values.narrow[slot].at),
            })
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

struct Lane {
    narrow: Option<i64>,
    wide: i128,
    defined: bool,
}

/// The value of a fixed operation on an axis; one that has a single value for the desc has it on each.
fn lane(evaluation: &Evaluation<'_>, id: OpId, axis: usize) -> Lane {
    let lane = if evaluation.lanes(id) == Some(1) { 0 } else { axis };
    let mask = evaluation.mask(id);
    let defined = lane < MAXIMUM_AXES && mask.defined >> lane & 1 == 1;
    if !defined {
        return Lane { narrow: Some(0), wide: 0, defined };
    }
    if evaluation.is_condition(id) {
        let truth = mask.truth >> lane & 1;
        return Lane { narrow: Some(truth.into()), wide: truth.into(), defined };
    }
    let narrow = evaluation.row(id).map(|row| row[lane]);
    let wide = narrow.map_or_else(|| evaluation.integer(id, lane).unwrap_or(0), i128::from);
    Lane { narrow, wide, defined }
}
