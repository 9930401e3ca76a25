//! Queries on computed values: where an operation is defined or true, and where a comparison is on its
//! boundary.

use super::{
    MAXIMUM_AXES, Mask, Op, OpId, Operation, Program,
    lengths::Lengths,
    number::Number,
    scalars::{DEFINED, Scalar, TRUE},
    step::{bits, equal},
    table::Table,
};
use crate::expression::{Binary, Comparison};

/// The values of a program's operations in one integer width.
#[derive(Clone, Copy)]
pub(super) struct View<'a, N> {
    pub(super) program: &'a Program,
    /// The values that do not depend on `c`.
    pub(super) fixed: &'a Table<N>,
    /// The values that depend on `c`, and their operands.
    pub(super) moving: &'a Table<N>,
    pub(super) lengths: &'a Lengths,
}

impl<'a, N: Number> View<'a, N> {
    #[inline]
    fn op(&self, id: OpId) -> &'a Op {
        &self.program.ops[id.index()]
    }

    #[inline]
    fn table(&self, id: OpId) -> &'a Table<N> {
        if self.op(id).uses_coordinate { self.moving } else { self.fixed }
    }

    /// See [`Evaluation::lanes`](super::Evaluation::lanes).
    #[inline]
    pub(super) fn lanes(&self, id: OpId) -> Option<usize> {
        let op = self.op(id);
        match (op.per_axis, op.uses_coordinate) {
            (false, _) => Some(1),
            (true, true) => Some(MAXIMUM_AXES),
            (true, false) => self.lengths.lanes(op.lists).map(usize::from),
        }
    }

    #[inline]
    pub(super) fn lane_mask(&self, id: OpId) -> u8 {
        self.lanes(id).map_or(0, |lanes| ((1u16 << lanes) - 1) as u8)
    }

    #[inline]
    pub(super) fn mask(&self, id: OpId) -> Mask {
        let lanes = self.lane_mask(id);
        let mask = self.table(id).masks.get(id.index()).copied().unwrap_or_default();
        Mask { truth: mask.truth & lanes, defined: mask.defined & lanes }
    }

    /// The value of an operation with one value for the desc. It is undefined if it does not fit 64 bits.
    pub(super) fn scalar(&self, id: OpId) -> Scalar {
        let mask = self.mask(id);
        if self.op(id).is_condition {
            let (truth, defined) = (mask.truth & 1, mask.defined & 1);
            return Scalar { value: 0, mask: (truth * TRUE) | (defined * DEFINED) };
        }
        let value = self.integer(id, 0).and_then(i64::narrow);
        value.map_or(Scalar::UNDEFINED, Scalar::integer)
    }

    #[inline]
    pub(super) fn verdict(&self, id: OpId) -> Option<bool> {
        let lanes = self.lanes(id)?;
        let lanes = ((1u16 << lanes) - 1) as u8;
        let mask = self.table(id).masks.get(id.index()).copied().unwrap_or_default();
        if mask.falsehood() & lanes != 0 {
            return Some(false);
        }
        (mask.truth & lanes == lanes).then_some(true)
    }

    pub(super) fn integer(&self, id: OpId, lane: usize) -> Option<i128> {
        let defined = lane < MAXIMUM_AXES && self.mask(id).defined >> lane & 1 == 1;
        if !defined || self.op(id).is_condition {
            return None;
        }
        self.table(id).rows.get(id.index()).map(|row| row.0[lane].widen())
    }

    #[inline]
    pub(super) fn edge(&self, id: OpId) -> u8 {
        let Operation::Compare(comparison, a, b) = self.op(id).operation else { return 0 };
        let Some((a, b)) = self.sides(id, a, b) else { return 0 };
        self.mask(id).truth
            & match comparison {
                Comparison::Equal | Comparison::LessOrEqual | Comparison::GreaterOrEqual => equal(a, b),
                Comparison::Less => follows(a, b),
                Comparison::Greater => follows(b, a),
                Comparison::NotEqual => follows(a, b) | follows(b, a),
            }
    }

    /// See [`Evaluation::on_line`](super::Evaluation::on_line).
    ///
    /// Operations turn lines into a line as long as they decide in the same way, by the order of two values,
    /// a sign or a quotient. The difference of two lines is a line, too. So an order that holds at both ends
    /// also holds between them.
    pub(super) fn on_line(&self) -> u8 {
        let row =
            |id: OpId| self.moving.rows.get(id.index()).map_or([N::default(); MAXIMUM_AXES], |row| row.0);
        let uses_coordinate = |id: OpId| self.op(id).uses_coordinate;
        let same_order = |a: OpId, b: OpId| {
            let (a, b) = (row(a), row(b));
            bits(|lane| a[lane].cmp(&b[lane]) == a[0].cmp(&b[0]))
        };
        let same_quotient = |a: [N; MAXIMUM_AXES], divisor: N| {
            let first = a[0].divide(divisor, &mut false);
            bits(|lane| a[lane].divide(divisor, &mut false) == first)
        };
        let magnitude = |id: OpId| {
            let number = row(id)[0];
            if number < N::default() { number.negate(&mut false) } else { number }
        };
        let on_line = |&id: &OpId| match self.op(id).operation {
            Operation::Leaf(_)
            | Operation::Negate(_)
            | Operation::Not(_)
            | Operation::Logic(..)
            | Operation::Choose(..)
            | Operation::ChooseCondition(..)
            | Operation::Binary(Binary::Add | Binary::Subtract, ..) => u8::MAX,
            Operation::Binary(Binary::Multiply, a, b) if !uses_coordinate(a) || !uses_coordinate(b) => {
                u8::MAX
            }
            Operation::Binary(Binary::Minimum | Binary::Maximum, a, b) | Operation::Compare(_, a, b) => {
                same_order(a, b)
            }
            Operation::Binary(binary, a, b) if !uses_coordinate(b) => match binary {
                Binary::Divide => same_quotient(row(a), row(b)[0]),
                // The remainder is by the magnitude of the divisor.
                Binary::Modulo => same_quotient(row(a), magnitude(b)),
                Binary::Align => same_quotient(row(a).map(|value| value.negate(&mut false)), magnitude(b)),
                _ => 1,
            },
            Operation::Absolute(a) => {
                bits(|lane| (row(a)[lane] < N::default()) == (row(a)[0] < N::default()))
            }
            Operation::Among(a, _) => bits(|lane| row(a)[lane] == row(a)[0]),
            _ => 1,
        };
        let same_defined = |id: &OpId| {
            let defined = self.mask(*id).defined;
            if defined & 1 == 1 { defined } else { !defined }
        };
        self.program.moving.iter().fold(u8::MAX, |lanes, id| lanes & on_line(id) & same_defined(id))
    }

    /// Both sides of a comparison, from the table that it was computed in.
    #[inline]
    fn sides(&self, id: OpId, a: OpId, b: OpId) -> Option<(&'a [N; MAXIMUM_AXES], &'a [N; MAXIMUM_AXES])> {
        let table = self.table(id);
        Some((&table.rows.get(a.index())?.0, &table.rows.get(b.index())?.0))
    }
}

/// The lanes where the second row is one more than the first.
#[inline]
pub(super) fn follows<N: Number>(a: &[N; MAXIMUM_AXES], b: &[N; MAXIMUM_AXES]) -> u8 {
    bits(|lane| a[lane].follows(b[lane]))
}
