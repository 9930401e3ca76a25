//! The period of a read: the number of coordinates after which it repeats. It is derived without executing
//! the read, from the remainders that the coordinate passes through. An axis with a period is mapped for one
//! period only, at any length.

use super::step::{Slot, Step};
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
    pub(super) const FIXED: Self = Self { period: Some(1), slope: Some(0) };

    /// The cycle of a step, from those of its operands.
    pub(super) fn of(step: Step, cycles: &[Self], constant: impl Fn(Slot) -> Option<i128>) -> Self {
        let of = |slot: Slot| cycles[usize::from(slot)];
        let both = |a: Self, b: Self| a.period.zip(b.period).and_then(|(a, b)| least_common_multiple(a, b));
        let bent = |period| Self { period, slope: None };
        match step {
            Step::Coordinate => Self { period: None, slope: Some(1) },
            Step::Undefined => bent(None),
            Step::Negate(a) => Self { period: of(a).period, slope: of(a).slope.and_then(i128::checked_neg) },
            Step::Absolute(a) | Step::Among(a, _) | Step::Not(a) => bent(of(a).period),
            Step::Binary(Binary::Modulo, a, b) => {
                let wrapped = of(a).slope.zip(constant(b)).and_then(|(slope, divisor)| {
                    let divisor =
                        u64::try_from(divisor.unsigned_abs()).ok().filter(|&divisor| divisor > 0)?;
                    let slope = slope.unsigned_abs() % u128::from(divisor);
                    Some(divisor / greatest_common_divisor(slope as u64, divisor))
                });
                bent(wrapped.or(both(of(a), of(b))))
            }
            Step::Binary(binary, a, b) => {
                let (x, y) = (of(a), of(b));
                let slope = match binary {
                    Binary::Add => x.slope.zip(y.slope).and_then(|(x, y)| x.checked_add(y)),
                    Binary::Subtract => x.slope.zip(y.slope).and_then(|(x, y)| x.checked_sub(y)),
                    Binary::Multiply => match (constant(a), constant(b)) {
                        (Some(factor), _) => y.slope.and_then(|slope| slope.checked_mul(factor)),
                        (_, Some(factor)) => x.slope.and_then(|slope| slope.checked_mul(factor)),
                        _ => None,
                    },
                    _ => None,
                };
                Self { period: both(x, y), slope }
            }
            Step::Compare(_, a, b) | Step::Logic(_, a, b) => bent(both(of(a), of(b))),
            Step::Choose(condition, a, b) => {
                let branches = both(of(a), of(b));
                let all = of(condition).period.zip(branches);
                bent(all.and_then(|(a, b)| least_common_multiple(a, b)))
            }
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
