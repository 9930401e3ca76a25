//! The values of operations, in eight lanes each.

use super::{MAXIMUM_AXES, number::Number};

/// An integer in each lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct LaneRow<N>(pub(super) [N; MAXIMUM_AXES]);

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

/// The values of a program's operations.
#[derive(Debug, Default)]
pub(super) struct Table<N> {
    pub(super) rows: Vec<LaneRow<N>>,
    pub(super) masks: Vec<Mask>,
}

impl<N: Number> Table<N> {
    pub(super) fn grow(&mut self, length: usize) {
        if self.rows.len() < length {
            self.rows.resize(length, LaneRow::default());
            self.masks.resize(length, Mask::UNDEFINED);
        }
    }
}
