//! The two integer widths of evaluation: 64 bits, which detects overflow, and 128 bits, which saturates.

/// An integer width of the evaluator.
pub(crate) trait Number: Copy + Ord + Default + 'static {
    /// Whether the type detects values that do not fit, so that a wider one can take over.
    const NOTICES: bool;

    /// The value, if it fits; in the widest type it always does.
    fn narrow(value: i128) -> Option<Self>;
    fn from_word(value: i64) -> Self;
    fn widen(self) -> i128;

    /// Arithmetic for operands that are proven not to overflow. If it overflows nevertheless, the result is
    /// unspecified.
    fn add_proven(self, other: Self) -> Self;
    fn subtract_proven(self, other: Self) -> Self;
    fn multiply_proven(self, other: Self) -> Self;

    /// Arithmetic that sets `lost` if the result does not fit.
    fn add(self, other: Self, lost: &mut bool) -> Self;
    fn subtract(self, other: Self, lost: &mut bool) -> Self;
    fn multiply(self, other: Self, lost: &mut bool) -> Self;
    fn negate(self, lost: &mut bool) -> Self {
        Self::default().subtract(self, lost)
    }
    /// Whether `next` is the integer after this one.
    fn follows(self, next: Self) -> bool;
    /// The quotient, rounded towards negative infinity; 0 for a divisor of 0.
    fn divide(self, divisor: Self, lost: &mut bool) -> Self;
    /// The remainder by the divisor's magnitude, never negative; 0 for a divisor of 0.
    fn modulo(self, divisor: Self) -> Self;
}

macro_rules! division {
    () => {
        fn follows(self, next: Self) -> bool {
            self.wrapping_add(1) == next && self != Self::MAX
        }

        fn divide(self, divisor: Self, lost: &mut bool) -> Self {
            if divisor == 0 {
                return 0;
            }
            let Some(quotient) = self.checked_div(divisor) else {
                *lost = true;
                return Self::MAX;
            };
            let rounds = self.wrapping_rem(divisor) != 0 && (self < 0) != (divisor < 0);
            quotient - Self::from(rounds)
        }

        fn modulo(self, divisor: Self) -> Self {
            if divisor == 0 { 0 } else { self.wrapping_rem_euclid(divisor) }
        }
    };
}

impl Number for i64 {
    const NOTICES: bool = true;

    fn narrow(value: i128) -> Option<Self> {
        value.try_into().ok()
    }

    fn from_word(value: i64) -> Self {
        value
    }

    fn widen(self) -> i128 {
        i128::from(self)
    }

    fn add_proven(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn subtract_proven(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn multiply_proven(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    fn add(self, other: Self, lost: &mut bool) -> Self {
        let (value, over) = self.overflowing_add(other);
        *lost |= over;
        value
    }

    fn subtract(self, other: Self, lost: &mut bool) -> Self {
        let (value, over) = self.overflowing_sub(other);
        *lost |= over;
        value
    }

    fn multiply(self, other: Self, lost: &mut bool) -> Self {
        let (value, over) = self.overflowing_mul(other);
        *lost |= over;
        value
    }

    division!();
}

impl Number for i128 {
    const NOTICES: bool = false;

    fn narrow(value: i128) -> Option<Self> {
        Some(value)
    }

    fn from_word(value: i64) -> Self {
        Self::from(value)
    }

    fn widen(self) -> i128 {
        self
    }

    fn add_proven(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    fn subtract_proven(self, other: Self) -> Self {
        self.saturating_sub(other)
    }

    fn multiply_proven(self, other: Self) -> Self {
        self.saturating_mul(other)
    }

    fn add(self, other: Self, _: &mut bool) -> Self {
        self.saturating_add(other)
    }

    fn subtract(self, other: Self, _: &mut bool) -> Self {
        self.saturating_sub(other)
    }

    fn multiply(self, other: Self, _: &mut bool) -> Self {
        self.saturating_mul(other)
    }

    division!();
}

/// [`Number::divide`], for constants.
pub(super) fn divide(a: i128, divisor: i128) -> i128 {
    Number::divide(a, divisor, &mut false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_down_and_remainders_are_never_negative() {
        for (a, b, quotient, remainder) in
            [(7i64, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, 1), (-7, -2, 3, 1), (6, 3, 2, 0), (-6, 3, -2, 0)]
        {
            assert_eq!(Number::divide(a, b, &mut false), quotient, "{a} / {b}");
            assert_eq!(Number::modulo(a, b), remainder, "{a} mod {b}");
        }
    }

    #[test]
    fn the_one_quotient_that_does_not_fit_is_noticed() {
        let mut lost = false;
        Number::divide(i64::MIN, -1, &mut lost);
        assert!(lost);
        assert_eq!(divide(i128::MIN, -1), i128::MAX);
        assert_eq!(Number::modulo(i64::MIN, -1), 0);
    }
}
