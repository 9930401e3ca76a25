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
use crate::expression::Comparison;

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

    pub(super) fn equal(&self, id: OpId) -> u8 {
        let Operation::Compare(_, a, b) = self.op(id).operation else { return 0 };
        let Some((a, b)) = self.sides(id, a, b) else { return 0 };
        self.mask(id).defined & equal(a, b)
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
