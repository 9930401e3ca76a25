//! Interval arithmetic. It derives the values of an operation from the ranges of a desc's members, so that
//! overflow is checked only if it is possible.

use crate::expression::Binary;

use super::MAXIMUM_AXES;

/// All integers from `least` to `greatest`; bounds saturate at 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least integer.
    pub least: i128,
    /// The greatest integer.
    pub greatest: i128,
}

impl Range {
    /// The range of a condition: 0 is false, 1 is true.
    pub const CONDITION: Self = Self { least: 0, greatest: 1 };

    /// The range of a single integer.
    pub fn only(value: i128) -> Self {
        Self { least: value, greatest: value }
    }

    /// Whether all its integers fit 64 bits.
    pub fn fits(self) -> bool {
        i64::try_from(self.least).is_ok() && i64::try_from(self.greatest).is_ok()
    }

    /// Whether `value` is in the range.
    pub fn contains(self, value: i128) -> bool {
        self.least <= value && value <= self.greatest
    }

    fn hull(values: impl IntoIterator<Item = i128> + Clone) -> Self {
        let least = values.clone().into_iter().min().unwrap_or(0);
        Self { least, greatest: values.into_iter().max().unwrap_or(0) }
    }

    /// The smallest range that contains both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self::hull([self.least, self.greatest, other.least, other.greatest])
    }

    pub(crate) fn negate(self) -> Self {
        Self { least: self.greatest.saturating_neg(), greatest: self.least.saturating_neg() }
    }

    pub(crate) fn absolute(self) -> Self {
        let ends = [self.least.saturating_abs(), self.greatest.saturating_abs()];
        let hull = Self::hull(ends);
        if self.contains(0) { Self { least: 0, ..hull } } else { hull }
    }

    /// The results of an operation on all pairs from two ranges, as far as it is defined.
    pub(crate) fn binary(binary: Binary, a: Self, b: Self) -> Self {
        let corners = |f: fn(i128, i128) -> i128| {
            Self::hull([
                f(a.least, b.least),
                f(a.least, b.greatest),
                f(a.greatest, b.least),
                f(a.greatest, b.greatest),
            ])
        };
        match binary {
            Binary::Add => corners(i128::saturating_add),
            Binary::Subtract => corners(i128::saturating_sub),
            Binary::Multiply => corners(i128::saturating_mul),
            Binary::Minimum => corners(i128::min),
            Binary::Maximum => corners(i128::max),
            Binary::Divide => {
                // The extreme quotients have the divisors nearest to zero or at the ends of the range.
                let mut divisors = vec![b.least, b.greatest, 1, -1];
                divisors.retain(|&divisor| divisor != 0 && b.contains(divisor));
                let quotients: Vec<_> = divisors
                    .iter()
                    .flat_map(|&d| [super::number::divide(a.least, d), super::number::divide(a.greatest, d)])
                    .collect();
                Self::hull(quotients.iter().copied())
            }
            Binary::Modulo => {
                let most = b.absolute().greatest.saturating_sub(1).max(0);
                Self { least: 0, greatest: if a.least >= 0 { a.greatest.min(most) } else { most } }
            }
            Binary::Align => {
                let step = b.absolute().greatest.saturating_sub(1).max(0);
                Self { least: a.least, greatest: a.greatest.saturating_add(step) }
            }
        }
    }

    /// The sum of up to eight values in the range.
    pub(crate) fn sum(self) -> Self {
        let axes = MAXIMUM_AXES as i128;
        Self {
            least: self.least.saturating_mul(axes).min(0),
            greatest: self.greatest.saturating_mul(axes).max(0),
        }
    }

    /// The product of up to eight values in the range.
    pub(crate) fn product(self) -> Self {
        let most = self.absolute().greatest.max(1).saturating_pow(MAXIMUM_AXES as u32);
        Self { least: if self.least >= 0 { 0 } else { most.saturating_neg() }, greatest: most }
    }
}
