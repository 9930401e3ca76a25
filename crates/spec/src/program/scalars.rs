//! Operations with one value for the desc, compiled to short code. Each instruction addresses a table with
//! 256 slots by bytes, so that no index needs a bounds check.

use dmlcts_model::Side;

use super::{
    Field, Inputs, Leaf, OpId, Operation, Program, Range,
    number::Number,
    overlap::{Overlap, overlap_of},
};
use crate::expression::{Binary, Comparison, Logic};

/// The number of slots in a table: all values of a byte.
pub(super) const CAPACITY: usize = 256;

/// The index of a value in a table.
pub(super) type Slot = u8;

/// The bit of a mask that says that the value is defined.
pub(super) const DEFINED: u8 = 2;
/// The bit of a mask that says that a condition is true. [`DEFINED`] is then also set.
pub(super) const TRUE: u8 = 1;

/// The table of values.
#[derive(Clone, Debug)]
pub(super) struct Scalars {
    /// Integers; arbitrary if undefined.
    pub(super) values: [i64; CAPACITY],
    /// Bits of [`DEFINED`] and [`TRUE`].
    pub(super) masks: [u8; CAPACITY],
}

impl Default for Scalars {
    fn default() -> Self {
        Self { values: [0; CAPACITY], masks: [0; CAPACITY] }
    }
}

impl Scalars {
    #[inline]
    pub(super) fn value(&self, slot: Slot) -> i64 {
        self.values[usize::from(slot)]
    }

    #[inline]
    pub(super) fn mask(&self, slot: Slot) -> u8 {
        self.masks[usize::from(slot)]
    }

    #[inline]
    pub(super) fn set(&mut self, slot: Slot, scalar: Scalar) {
        self.values[usize::from(slot)] = scalar.value;
        self.masks[usize::from(slot)] = scalar.mask;
    }
}

/// An integer, or a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) value: i64,
    pub(super) mask: u8,
}

impl Scalar {
    pub(super) const UNDEFINED: Self = Self { value: 0, mask: 0 };

    pub(super) fn integer(value: i64) -> Self {
        Self { value, mask: DEFINED }
    }

    pub(super) fn condition(truth: bool) -> Self {
        Self { value: 0, mask: DEFINED | u8::from(truth) }
    }
}

/// Operations on values of the table, in order.
#[derive(Debug, Default)]
pub(super) struct ScalarCode {
    instructions: Vec<Instruction>,
    leaves: Vec<LeafLoad>,
    sets: Vec<u64>,
}

/// An operation on values of the table.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    out: Slot,
    code: Code,
}

#[derive(Clone, Copy, Debug)]
struct LeafLoad {
    leaf: Leaf,
    is_condition: bool,
    /// The range of the member's type.
    least: i128,
    greatest: i128,
}

#[derive(Clone, Copy, Debug)]
enum Code {
    /// The leaf at this index of [`ScalarCode::leaves`].
    Leaf(u8),
    /// [`Field::TotalTensorSizeInBytes`].
    TotalSize(Side),
    /// [`Leaf::Overlaps`].
    Overlaps(Side),
    /// [`Leaf::Unsettled`].
    Unsettled(Side),
    Negate(Slot),
    Absolute(Slot),
    Add(Slot, Slot),
    Subtract(Slot, Slot),
    Multiply(Slot, Slot),
    Minimum(Slot, Slot),
    Maximum(Slot, Slot),
    Divide(Slot, Slot),
    Modulo(Slot, Slot),
    Align(Slot, Slot),
    Choose(Slot, Slot, Slot),
    Equal(Slot, Slot),
    Unequal(Slot, Slot),
    Less(Slot, Slot),
    NotLess(Slot, Slot),
    /// Whether the value is in the set at this index of [`ScalarCode::sets`].
    Among(Slot, u8),
    Not(Slot),
    And(Slot, Slot),
    Or(Slot, Slot),
    ChooseCondition(Slot, Slot, Slot),
}

impl ScalarCode {
    /// Adds an operation. `None` if it is on axes or gathers over them.
    pub(super) fn push(&mut self, program: &Program, id: OpId, slot: impl Fn(OpId) -> Slot) -> Option<()> {
        let op = program.op(id);
        let code = match op.operation {
            Operation::Leaf(Leaf::Field(side, Field::TotalTensorSizeInBytes)) => Code::TotalSize(side),
            Operation::Leaf(Leaf::Overlaps(side)) => Code::Overlaps(side),
            Operation::Leaf(Leaf::Unsettled(side)) => Code::Unsettled(side),
            Operation::Leaf(leaf) => {
                let Range { least, greatest } = op.range;
                self.leaves.push(LeafLoad { leaf, is_condition: op.is_condition, least, greatest });
                Code::Leaf(u8::try_from(self.leaves.len() - 1).ok()?)
            }
            Operation::Negate(a) => Code::Negate(slot(a)),
            Operation::Absolute(a) => Code::Absolute(slot(a)),
            Operation::Binary(binary, a, b) => {
                let (a, b) = (slot(a), slot(b));
                match binary {
                    Binary::Add => Code::Add(a, b),
                    Binary::Subtract => Code::Subtract(a, b),
                    Binary::Multiply => Code::Multiply(a, b),
                    Binary::Minimum => Code::Minimum(a, b),
                    Binary::Maximum => Code::Maximum(a, b),
                    Binary::Divide => Code::Divide(a, b),
                    Binary::Modulo => Code::Modulo(a, b),
                    Binary::Align => Code::Align(a, b),
                }
            }
            Operation::Choose(condition, a, b) => Code::Choose(slot(condition), slot(a), slot(b)),
            Operation::Compare(comparison, a, b) => {
                let (a, b) = (slot(a), slot(b));
                match comparison {
                    Comparison::Equal => Code::Equal(a, b),
                    Comparison::NotEqual => Code::Unequal(a, b),
                    Comparison::Less => Code::Less(a, b),
                    Comparison::Greater => Code::Less(b, a),
                    Comparison::GreaterOrEqual => Code::NotLess(a, b),
                    Comparison::LessOrEqual => Code::NotLess(b, a),
                }
            }
            Operation::Among(a, set) => {
                self.sets.push(set);
                Code::Among(slot(a), u8::try_from(self.sets.len() - 1).ok()?)
            }
            Operation::Not(a) => Code::Not(slot(a)),
            Operation::Logic(Logic::And, a, b) => Code::And(slot(a), slot(b)),
            Operation::Logic(Logic::Or, a, b) => Code::Or(slot(a), slot(b)),
            Operation::ChooseCondition(condition, a, b) => {
                Code::ChooseCondition(slot(condition), slot(a), slot(b))
            }
            Operation::Constant(_) | Operation::Missing | Operation::Over(..) | Operation::On(..) => {
                return None;
            }
        };
        self.instructions.push(Instruction { out: slot(id), code });
        Some(())
    }

    /// Computes the operations into the table. Returns whether every value fits 64 bits.
    #[inline]
    pub(super) fn run(&self, inputs: &Inputs<'_>, table: &mut Scalars) -> bool {
        let mut lost = false;
        // `Overlaps` and `Unsettled` use the same search, which runs once per tensor.
        let mut layouts = [None; 2];
        for &Instruction { out, code } in &self.instructions {
            let value = |slot: Slot| table.values[usize::from(slot)];
            let mask = |slot: Slot| table.masks[usize::from(slot)];
            // Arithmetic on two integers is defined if both are. Integers never have [`TRUE`] set.
            let both = |a: Slot, b: Slot| mask(a) & mask(b);
            let by = |a: Slot, b: Slot| if value(b) == 0 { 0 } else { both(a, b) };
            let compared = |a: Slot, b: Slot, holds: bool| {
                let defined = both(a, b) & DEFINED;
                (0, defined | (defined >> 1 & u8::from(holds)))
            };
            let falsehood = |mask: u8| mask >> 1 & !mask & TRUE;
            let (result, kind) = match code {
                Code::Leaf(place) => {
                    let Scalar { value, mask } = self.leaves[usize::from(place)].load(inputs, &mut lost);
                    (value, mask)
                }
                Code::TotalSize(side) => match inputs.desc.tensor(side) {
                    Some(tensor) => {
                        lost |= tensor.total_size > i64::MAX as u64;
                        (tensor.total_size as i64, DEFINED)
                    }
                    None => (0, 0),
                },
                Code::Overlaps(side) => {
                    let layout = *layouts[side as usize].get_or_insert_with(|| overlap_of(inputs.desc, side));
                    (0, condition(layout.and_then(Overlap::is_somewhere)))
                }
                Code::Unsettled(side) => {
                    let layout = *layouts[side as usize].get_or_insert_with(|| overlap_of(inputs.desc, side));
                    (0, condition(layout.map(Overlap::is_unsettled)))
                }
                Code::Negate(a) => (value(a).negate(&mut lost), mask(a)),
                Code::Absolute(a) => match value(a) {
                    negative @ ..0 => (negative.negate(&mut lost), mask(a)),
                    other => (other, mask(a)),
                },
                Code::Add(a, b) => (value(a).add(value(b), &mut lost), both(a, b)),
                Code::Subtract(a, b) => (value(a).subtract(value(b), &mut lost), both(a, b)),
                Code::Multiply(a, b) => (value(a).multiply(value(b), &mut lost), both(a, b)),
                Code::Minimum(a, b) => (value(a).min(value(b)), both(a, b)),
                Code::Maximum(a, b) => (value(a).max(value(b)), both(a, b)),
                Code::Divide(a, b) => (value(a).divide(value(b), &mut lost), by(a, b)),
                Code::Modulo(a, b) => (value(a).modulo(value(b)), by(a, b)),
                Code::Align(a, b) => {
                    // To round up to the next multiple, adds the remainder of the negated value.
                    let back = value(a).negate(&mut lost).modulo(value(b));
                    (value(a).add(back, &mut lost), by(a, b))
                }
                Code::Choose(condition, a, b) | Code::ChooseCondition(condition, a, b) => {
                    let chosen = if mask(condition) & TRUE == 0 { b } else { a };
                    (value(chosen), if mask(condition) == 0 { 0 } else { mask(chosen) })
                }
                Code::Equal(a, b) => compared(a, b, value(a) == value(b)),
                Code::Unequal(a, b) => compared(a, b, value(a) != value(b)),
                Code::Less(a, b) => compared(a, b, value(a) < value(b)),
                Code::NotLess(a, b) => compared(a, b, value(a) >= value(b)),
                Code::Among(a, set) => {
                    let is_member =
                        (0..64).contains(&value(a)) && self.sets[usize::from(set)] >> value(a) & 1 == 1;
                    compared(a, a, is_member)
                }
                Code::Not(a) => (0, (mask(a) & DEFINED) | falsehood(mask(a))),
                Code::And(a, b) => {
                    let truth = both(a, b) & TRUE;
                    let is_known = truth | falsehood(mask(a)) | falsehood(mask(b));
                    (0, truth | is_known << 1)
                }
                Code::Or(a, b) => {
                    let truth = (mask(a) | mask(b)) & TRUE;
                    let is_known = truth | (falsehood(mask(a)) & falsehood(mask(b)));
                    (0, truth | is_known << 1)
                }
            };
            table.values[usize::from(out)] = result;
            table.masks[usize::from(out)] = kind;
        }
        !lost
    }
}

fn condition(truth: Option<bool>) -> u8 {
    truth.map_or(0, |truth| DEFINED | u8::from(truth))
}

impl LeafLoad {
    #[inline]
    fn load(&self, inputs: &Inputs<'_>, lost: &mut bool) -> Scalar {
        let Some(value) = self.leaf.scalar(inputs) else { return Scalar::UNDEFINED };
        if self.is_condition {
            return Scalar::condition(value != 0);
        }
        *lost |= value < self.least || value > self.greatest;
        i64::try_from(value).map_or_else(
            |_| {
                *lost = true;
                Scalar::UNDEFINED
            },
            Scalar::integer,
        )
    }
}
