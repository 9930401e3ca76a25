//! Ranges of integers, and their arithmetic. Values saturate far outside the range of a desc's values, so
//! that nothing overflows.
//!
//! The solver computes with these ranges for each value that it tries, in 64 bits. The ranges of the crate
//! `spec` bound the operations of a program once, when it is built. They have 128 bits, since a member may
//! have 64.

/// The bound at which values saturate. It is far outside the range of a desc's members and their sums.
/// Products of two members may saturate, but then also exceed everything that they are compared with.
const LIMIT: i64 = 1 << 61;

/// The integers from `low` to `high`, both included. Empty if `low` exceeds `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

pub(crate) fn bound(value: i64) -> i64 {
    value.clamp(-LIMIT, LIMIT)
}

impl Interval {
    pub(crate) const fn new(low: i64, high: i64) -> Self {
        Self { low, high }
    }

    pub(crate) const fn single(value: i64) -> Self {
        Self { low: value, high: value }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(crate) fn is_single(self) -> bool {
        self.low == self.high
    }

    pub(crate) fn contains(self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The number of integers; saturating.
    pub(crate) fn len(self) -> u64 {
        if self.is_empty() { 0 } else { self.high.abs_diff(self.low).saturating_add(1) }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self::new(bound(self.low + other.low), bound(self.high + other.high))
    }

    pub(crate) fn negate(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    pub(crate) fn multiply(self, other: Self) -> Self {
        let products = [
            self.low.saturating_mul(other.low),
            self.low.saturating_mul(other.high),
            self.high.saturating_mul(other.low),
            self.high.saturating_mul(other.high),
        ];
        Self::hull(products)
    }

    fn hull(values: [i64; 4]) -> Self {
        let [a, b, c, d] = values;
        Self::new(bound(a.min(b).min(c).min(d)), bound(a.max(b).max(c).max(d)))
    }

    /// The floored quotient; `None` if the divisor may be 0.
    pub(crate) fn divide(self, by: Self) -> Option<Self> {
        if by.contains(0) {
            return None;
        }
        Some(Self::hull([
            floor_divide(self.low, by.low),
            floor_divide(self.low, by.high),
            floor_divide(self.high, by.low),
            floor_divide(self.high, by.high),
        ]))
    }

    /// The remainder, never negative; `None` if the modulus may be 0.
    pub(crate) fn modulo(self, by: Self) -> Option<Self> {
        if by.contains(0) {
            return None;
        }
        if by.is_single() {
            let modulus = by.low.abs();
            if floor_divide(self.low, modulus) == floor_divide(self.high, modulus) {
                return Some(Self::new(self.low.rem_euclid(modulus), self.high.rem_euclid(modulus)));
            }
        }
        let greatest = by.low.abs().max(by.high.abs()) - 1;
        if self.low >= 0 && self.high < by.low.abs().min(by.high.abs()) {
            return Some(self);
        }
        Some(Self::new(0, greatest))
    }

    pub(crate) fn absolute(self) -> Self {
        if self.low >= 0 {
            self
        } else if self.high <= 0 {
            self.negate()
        } else {
            Self::new(0, self.high.max(-self.low))
        }
    }

    pub(crate) fn minimum(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.min(other.high))
    }

    pub(crate) fn maximum(self, other: Self) -> Self {
        Self::new(self.low.max(other.low), self.high.max(other.high))
    }
}

/// Rounds towards negative infinity, as `/` does in the spec's language. The divisor is not 0.
pub(crate) fn floor_divide(value: i64, by: i64) -> i64 {
    let quotient = value / by;
    if value % by != 0 && (value < 0) != (by < 0) { quotient - 1 } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval() -> impl Strategy<Value = (Interval, i64)> {
        (-40_i64..40, 0_i64..20, 0_i64..20)
            .prop_map(|(low, below, above)| (Interval::new(low, low + below + above), low + below))
    }

    proptest! {
        #[test]
        fn every_operation_contains_what_its_operands_give(
            (one, x) in interval(), (other, y) in interval()
        ) {
            prop_assert!(one.add(other).contains(x + y));
            prop_assert!(one.negate().contains(-x));
            prop_assert!(one.multiply(other).contains(x * y));
            prop_assert!(one.absolute().contains(x.abs()));
            prop_assert!(one.minimum(other).contains(x.min(y)));
            prop_assert!(one.maximum(other).contains(x.max(y)));
            prop_assert!(one.union(other).contains(x) && one.union(other).contains(y));
            if let Some(quotient) = one.divide(other) {
                prop_assert!(quotient.contains(floor_divide(x, y)));
                prop_assert!(one.modulo(other).unwrap().contains(x.rem_euclid(y)));
            } else {
                prop_assert!(other.contains(0));
            }
        }
    }

    #[test]
    fn division_floors() {
        assert_eq!(floor_divide(-7, 2), -4);
        assert_eq!(floor_divide(7, -2), -4);
        assert_eq!(floor_divide(-7, -2), 3);
        assert_eq!(floor_divide(-8, 2), -4);
    }

    #[test]
    fn extremes_saturate() {
        let vast = Interval::new(-LIMIT, LIMIT);
        assert_eq!(vast.multiply(vast), vast);
        assert_eq!(vast.add(vast), vast);
        assert_eq!(Interval::new(3, 2).len(), 0);
    }
}
