//! Compiled expressions: a flat list of operations without duplicates, evaluated on all axes at once.
//!
//! A [`Builder`] lowers [`Term`](crate::expression::Term)s into a [`Program`]; equal parts become one
//! operation. An operation has either one value for the desc or one value per axis, in up to eight lanes.
//! Values are mathematical integers. They are first computed in 64 bits, with overflow checks unless the
//! ranges of the inputs rule out overflow. If a check fails, they are computed again in 128 bits with
//! saturation. Every value also records whether it is defined.
//!
//! An operation that needs several lists can be judged only if all of them are present and have equal lengths
//! ([`Evaluation::lanes`]). Otherwise its lanes are meaningless.
//!
//! [`Program::evaluate`] leaves out operations that depend on the output coordinate `c`.
//! [`Evaluation::at_coordinates`] computes them for eight consecutive coordinates of one axis.

mod axes;
mod builder;
mod cycle;
mod evaluate;
mod findings;
mod inputs;
mod layers;
mod leaf;
mod lengths;
pub(crate) mod number;
mod overlap;
mod range;
mod rules;
mod scalars;
mod shape;
mod step;
mod table;
mod view;

pub use builder::{Builder, Read};
pub use evaluate::{Evaluation, Points, Values};
pub use findings::Findings;
pub use inputs::{Inputs, Judged};
pub use leaf::{Field, Leaf, ListSource};
pub use overlap::{Overlap, find_overlap};
pub use range::Range;
pub use rules::{Memory, Rules};
pub use table::Mask;

use crate::expression::{Binary, Comparison, Logic, OtherAxis, Quantifier};

/// The largest number of axes that are evaluated. DirectML's operators have no more.
pub const MAXIMUM_AXES: usize = 8;

/// The index of an operation in its program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpId(u32);

impl OpId {
    /// The index in [`Program::ops`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The computation of an operation, from the values of earlier operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// A constant.
    Constant(i128),
    /// A value of the desc or of the position of evaluation.
    Leaf(Leaf),
    /// Always undefined.
    Missing,
    /// `-a`.
    Negate(OpId),
    /// `abs(a)`.
    Absolute(OpId),
    /// An operation on two integers.
    Binary(Binary, OpId, OpId),
    /// `if a then b else c`, for integers.
    Choose(OpId, OpId, OpId),
    /// A comparison.
    Compare(Comparison, OpId, OpId),
    /// Whether an integer is one of the numbers from 0 to 63 whose bits are set.
    Among(OpId, u64),
    /// `not a`.
    Not(OpId),
    /// `a and b`, `a or b`.
    Logic(Logic, OpId, OpId),
    /// `if a then b else c`, for conditions.
    ChooseCondition(OpId, OpId, OpId),
    /// A quantifier over the axes.
    Over(Quantifier, OpId),
    /// The value on another axis.
    On(OtherAxis, OpId),
}

impl Operation {
    /// The operations that it reads.
    pub fn operands(&self) -> impl Iterator<Item = OpId> + use<> {
        let operands = match *self {
            Self::Constant(_) | Self::Leaf(_) | Self::Missing => [None; 3],
            Self::Negate(a)
            | Self::Absolute(a)
            | Self::Among(a, _)
            | Self::Not(a)
            | Self::Over(_, a)
            | Self::On(_, a) => [Some(a), None, None],
            Self::Binary(_, a, b) | Self::Compare(_, a, b) | Self::Logic(_, a, b) => [Some(a), Some(b), None],
            Self::Choose(a, b, c) | Self::ChooseCondition(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }

    /// The same operation with its operands renumbered.
    fn renamed(self, rename: impl Fn(OpId) -> OpId) -> Self {
        match self {
            Self::Constant(_) | Self::Leaf(_) | Self::Missing => self,
            Self::Negate(a) => Self::Negate(rename(a)),
            Self::Absolute(a) => Self::Absolute(rename(a)),
            Self::Among(a, set) => Self::Among(rename(a), set),
            Self::Not(a) => Self::Not(rename(a)),
            Self::Over(quantifier, a) => Self::Over(quantifier, rename(a)),
            Self::On(other, a) => Self::On(other, rename(a)),
            Self::Binary(binary, a, b) => Self::Binary(binary, rename(a), rename(b)),
            Self::Compare(comparison, a, b) => Self::Compare(comparison, rename(a), rename(b)),
            Self::Logic(logic, a, b) => Self::Logic(logic, rename(a), rename(b)),
            Self::Choose(a, b, c) => Self::Choose(rename(a), rename(b), rename(c)),
            Self::ChooseCondition(a, b, c) => Self::ChooseCondition(rename(a), rename(b), rename(c)),
        }
    }
}

/// One operation of a program, and its properties that hold for all descs.
#[expect(clippy::struct_excessive_bools, reason = "four facts that do not depend on each other")]
#[derive(Clone, Debug)]
pub struct Op {
    /// The computation.
    pub operation: Operation,
    /// Whether it is a condition rather than an integer.
    pub is_condition: bool,
    /// Whether it has one value per axis.
    pub per_axis: bool,
    /// Whether it depends on `c`.
    pub uses_coordinate: bool,
    /// The values that it can take; `0..=1` for a condition.
    pub range: Range,
    /// Whether the ranges prove that every value fits 64 bits.
    proven: bool,
    /// The lists that it needs. Bit `n` stands for index `n` of `Program::lists`; the last bit stands for all
    /// further ones.
    lists: u64,
}

/// A list of operations, each after those that it reads.
#[derive(Clone, Debug, Default)]
pub struct Program {
    ops: Vec<Op>,
    lists: Vec<ListSource>,
    /// The operations that do not depend on `c`.
    fixed: Vec<OpId>,
    /// The operations that do.
    moving: Vec<OpId>,
    /// The fixed operations that moving operations read.
    frontier: Vec<OpId>,
}

impl Program {
    /// Every operation, each after those that it reads.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Whether it reads the verdict on the desc.
    pub(crate) fn asks_for_judge(&self) -> bool {
        let asks = |op: &Op| matches!(op.operation, Operation::Leaf(leaf) if leaf.asks_for_judge());
        self.ops.iter().any(asks)
    }

    /// Whether it reads the data that a case moves.
    pub(crate) fn asks_for_data(&self) -> bool {
        let asks = |op: &Op| matches!(op.operation, Operation::Leaf(leaf) if leaf.asks_for_data());
        self.ops.iter().any(asks)
    }

    /// One operation.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// The operations that `root` depends on, including itself, in the order of the program.
    pub fn reachable(&self, root: OpId) -> Vec<OpId> {
        let mut wanted = vec![false; root.index() + 1];
        wanted[root.index()] = true;
        for index in (0..=root.index()).rev() {
            if wanted[index] {
                self.ops[index].operation.operands().for_each(|operand| wanted[operand.index()] = true);
            }
        }
        let ids = (0u32..).map(OpId).zip(wanted);
        ids.filter(|(_, wanted)| *wanted).map(|(id, _)| id).collect()
    }
}
