//! The period of an operation: the number of coordinates after which it repeats. It is derived from the
//! remainders that the coordinate passes through.

use super::{Leaf, OpId, Operation};
use crate::expression::Binary;

/// How a value repeats over the coordinates.
#[derive(Clone, Copy)]
pub(super) struct Cycle {
    /// The number of coordinates after which the value repeats; 1 for a constant.
    pub(super) period: Option<u64>,
    /// The difference between neighbouring coordinates' values, if it is the same everywhere.
    slope: Option<i128>,
}

impl Cycle {
    /// The cycle of an operation that does not depend on `c`.
    pub(super) const FIXED: Self = Self { period: Some(1), slope: Some(0) };

    /// The cycle of an operation that depends on `c`, from those of its operands and the values of the fixed
    /// ones.
    pub(super) fn of(
        operation: Operation,
        of: impl Fn(OpId) -> Self,
        value: impl Fn(OpId) -> Option<i128>,
    ) -> Self {
        let all = |operands: &[OpId]| {
            operands.iter().try_fold(1, |period, &id| least_common_multiple(period, of(id).period?))
        };
        let bent = |period| Self { period, slope: None };
        match operation {
            Operation::Leaf(Leaf::Coordinate) => Self { period: None, slope: Some(1) },
            Operation::Negate(a) => {
                Self { period: of(a).period, slope: of(a).slope.and_then(i128::checked_neg) }
            }
            Operation::Binary(Binary::Modulo, a, b) => {
                let wrapped = of(a).slope.zip(value(b)).and_then(|(slope, divisor)| {
                    let divisor =
                        u64::try_from(divisor.unsigned_abs()).ok().filter(|&divisor| divisor > 0)?;
                    let slope = slope.unsigned_abs() % u128::from(divisor);
                    Some(divisor / greatest_common_divisor(slope as u64, divisor))
                });
                bent(wrapped.or_else(|| all(&[a, b])))
            }
            Operation::Binary(binary, a, b) => {
                let (x, y) = (of(a), of(b));
                let slope = match binary {
                    Binary::Add => x.slope.zip(y.slope).and_then(|(x, y)| x.checked_add(y)),
                    Binary::Subtract => x.slope.zip(y.slope).and_then(|(x, y)| x.checked_sub(y)),
                    Binary::Multiply => match (value(a), value(b)) {
                        (Some(factor), _) => y.slope.and_then(|slope| slope.checked_mul(factor)),
                        (_, Some(factor)) => x.slope.and_then(|slope| slope.checked_mul(factor)),
                        _ => None,
                    },
                    _ => None,
                };
                Self { period: all(&[a, b]), slope }
            }
            Operation::Absolute(a) | Operation::Among(a, _) | Operation::Not(a) => bent(of(a).period),
            Operation::Compare(_, a, b) | Operation::Logic(_, a, b) => bent(all(&[a, b])),
            Operation::Choose(condition, a, b) | Operation::ChooseCondition(condition, a, b) => {
                bent(all(&[condition, a, b]))
            }
            _ => bent(None),
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

pub(super) fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    (a / greatest_common_divisor(a, b).max(1)).checked_mul(b)
}
