//! The steps of a read: the operations that depend on the output coordinate.

use crate::expression::{Binary, Comparison, Logic};

/// An index into the values of a read: first the fixed values, then the steps.
pub(super) type Slot = u16;

/// The computation of a step.
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
