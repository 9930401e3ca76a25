//! Arithmetic of lines: computes each step of a read on a range of coordinates, and the length of the range.

use super::step::{Slot, Step};
use crate::{
    expression::{Binary, Comparison, Logic},
    program::number::Number,
};

/// A value on a range of coordinates: an integer on a line, or a condition, which is 0 or 1 on the whole
/// range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value<N> {
    pub(super) at: N,
    pub(super) step: N,
    pub(super) defined: bool,
}

/// Computes steps, and tracks the number of coordinates for which the lines hold.
pub(super) struct Machine<'a> {
    /// The number of coordinates for which all lines hold; at least one.
    pub(super) until: u64,
    /// Set if a value does not fit.
    pub(super) lost: &'a mut bool,
}

impl Machine<'_> {
    /// Computes a step at coordinate `first`, from the values of earlier steps.
    #[inline]
    pub(super) fn step<N: Number>(&mut self, step: Step, first: N, values: &[Value<N>]) -> Value<N> {
        let of = |slot: Slot| values[usize::from(slot)];
        let zero = N::default();
        match step {
            Step::Coordinate => Value { at: first, step: N::from_word(1), defined: true },
            Step::Undefined => Value { defined: false, ..Value::default() },
            Step::Negate(a) => self.negated(of(a)),
            Step::Absolute(a) => {
                let a = of(a);
                if self.is_negative(a) { self.negated(a) } else { a }
            }
            Step::Binary(binary, a, b) => self.binary(binary, of(a), of(b)),
            Step::Choose(condition, a, b) => {
                let condition = of(condition);
                let chosen = if condition.at == zero { of(b) } else { of(a) };
                Value { defined: chosen.defined && condition.defined, ..chosen }
            }
            Step::Compare(comparison, a, b) => {
                let (a, b) = (of(a), of(b));
                let holds = match comparison {
                    Comparison::Less => self.is_less(a, b),
                    Comparison::Greater => self.is_less(b, a),
                    Comparison::LessOrEqual => !self.is_less(b, a),
                    Comparison::GreaterOrEqual => !self.is_less(a, b),
                    Comparison::Equal => self.is_equal(a, b),
                    Comparison::NotEqual => !self.is_equal(a, b),
                };
                condition(holds, a.defined && b.defined)
            }
            Step::Among(a, set) => {
                let a = of(a);
                if a.step != zero {
                    self.until = 1;
                }
                let member = matches!(a.at.widen(), value @ 0..=63 if set >> value & 1 == 1);
                condition(member, a.defined)
            }
            Step::Not(a) => condition(of(a).at == zero, of(a).defined),
            Step::Logic(logic, a, b) => {
                let (a, b) = (of(a), of(b));
                // The truth value that decides the result on its own.
                let decisive = logic == Logic::Or;
                let decides = |value: Value<N>| value.defined && (value.at != zero) == decisive;
                let is_settled = decides(a) || decides(b);
                condition(is_settled == decisive, is_settled || (a.defined && b.defined))
            }
        }
    }

    fn binary<N: Number>(&mut self, binary: Binary, a: Value<N>, b: Value<N>) -> Value<N> {
        let defined = a.defined && b.defined;
        let zero = N::default();
        match binary {
            Binary::Add => {
                Value { at: a.at.add(b.at, self.lost), step: a.step.add(b.step, self.lost), defined }
            }
            Binary::Subtract => self.difference(a, b),
            Binary::Multiply => {
                let at = a.at.multiply(b.at, self.lost);
                let step = if b.step == zero {
                    a.step.multiply(b.at, self.lost)
                } else if a.step == zero {
                    b.step.multiply(a.at, self.lost)
                } else {
                    self.until = 1;
                    zero
                };
                Value { at, step, defined }
            }
            Binary::Minimum => {
                let less = self.is_less(b, a);
                Value { defined, ..if less { b } else { a } }
            }
            Binary::Maximum => {
                let less = self.is_less(a, b);
                Value { defined, ..if less { b } else { a } }
            }
            Binary::Divide => {
                // With a positive divisor, the quotient changes exactly when the remainder wraps.
                let (a, b) = if b.at < zero { (self.negated(a), self.negated(b)) } else { (a, b) };
                let at = a.at.divide(b.at, self.lost);
                let (step, _) = self.remainder(a, b);
                Value { at, step, defined: defined && b.at != zero }
            }
            Binary::Modulo => {
                let (_, rest) = self.remainder(a, b);
                Value { defined: defined && b.at != zero, ..rest }
            }
            Binary::Align => {
                // To round up to the next multiple, adds the remainder of the negated value.
                let negated = self.negated(a);
                let (_, rest) = self.remainder(negated, b);
                let at = a.at.add(rest.at, self.lost);
                let step = a.step.add(rest.step, self.lost);
                Value { at, step, defined: defined && b.at != zero }
            }
        }
    }

    /// The slope of the quotient of a line by a constant divisor, and the line of the remainder. Both hold
    /// until the remainder wraps.
    fn remainder<N: Number>(&mut self, a: Value<N>, b: Value<N>) -> (N, Value<N>) {
        let zero = N::default();
        let at = a.at.modulo(b.at);
        if a.step == zero && b.step == zero {
            return (zero, Value { at, step: zero, defined: true });
        }
        if b.step != zero || b.at == zero {
            self.until = 1;
            return (zero, Value { at, step: zero, defined: true });
        }
        // Multiples of the divisor in the step go to the quotient. The rest moves the remainder towards its
        // next wrap, in the shorter direction.
        let divisor = if b.at < zero { b.at.negate(self.lost) } else { b.at };
        let mut step = a.step.modulo(divisor);
        let backwards = divisor.subtract(step, self.lost);
        if backwards < step {
            step = backwards.negate(self.lost);
        }
        let whole = a.step.subtract(step, self.lost).divide(divisor, self.lost);
        if step > zero {
            let left = divisor.subtract(at, self.lost);
            self.limit(left, step);
        } else if step < zero {
            let back = step.negate(self.lost);
            let left = at.add(N::from_word(1), self.lost);
            self.limit(left, back);
        }
        (whole, Value { at, step, defined: true })
    }

    fn negated<N: Number>(&mut self, a: Value<N>) -> Value<N> {
        Value { at: a.at.negate(self.lost), step: a.step.negate(self.lost), ..a }
    }

    fn difference<N: Number>(&mut self, a: Value<N>, b: Value<N>) -> Value<N> {
        let at = a.at.subtract(b.at, self.lost);
        Value { at, step: a.step.subtract(b.step, self.lost), defined: a.defined && b.defined }
    }

    fn is_less<N: Number>(&mut self, a: Value<N>, b: Value<N>) -> bool {
        if a.step == b.step {
            return a.at < b.at;
        }
        let difference = self.difference(a, b);
        self.is_negative(difference)
    }

    /// Whether a line is negative, for as long as its sign does not change.
    fn is_negative<N: Number>(&mut self, a: Value<N>) -> bool {
        let zero = N::default();
        let negative = a.at < zero;
        if negative && a.step > zero {
            let away = a.at.negate(self.lost);
            self.limit(away, a.step);
        } else if !negative && a.step < zero {
            let (left, back) = (a.at.add(N::from_word(1), self.lost), a.step.negate(self.lost));
            self.limit(left, back);
        }
        negative
    }

    /// Whether two lines are equal here, for as long as this does not change.
    fn is_equal<N: Number>(&mut self, a: Value<N>, b: Value<N>) -> bool {
        let difference = self.difference(a, b);
        let zero = N::default();
        if difference.step == zero {
            return difference.at == zero;
        }
        if difference.at == zero {
            self.until = 1;
            return true;
        }
        let towards = (difference.at < zero) != (difference.step < zero);
        if towards {
            let mut size = |value: N| if value < zero { value.negate(self.lost) } else { value };
            let (away, step) = (size(difference.at), size(difference.step));
            self.limit(away, step);
        }
        false
    }

    /// Limits the range to the number of steps that cover a distance. Both arguments are positive.
    fn limit<N: Number>(&mut self, distance: N, step: N) {
        let one = N::from_word(1);
        let count = if step == one {
            distance
        } else {
            distance.subtract(one, self.lost).divide(step, self.lost).add(one, self.lost)
        };
        let count = u64::try_from(count.widen()).unwrap_or(u64::MAX);
        self.until = self.until.min(count.max(1));
    }
}

fn condition<N: Number>(holds: bool, defined: bool) -> Value<N> {
    Value { at: N::from_word(holds.into()), step: N::default(), defined }
}
