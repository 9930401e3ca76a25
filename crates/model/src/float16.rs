//! The 16-bit float: its bits to a number and back. The crate `half`, with which a test compares, would bring
//! four more crates into every backend.

/// The bits of positive infinity.
pub(crate) const INFINITY: u16 = 0x7C00;

/// The value of these bits. A NaN loses its payload.
pub(crate) fn to_f64(bits: u16) -> f64 {
    let magnitude = bits & 0x7FFF;
    let value = match magnitude {
        ..INFINITY => {
            // The exponent's bias is 15 here and 1023 there, also for subnormal numbers.
            let scale = f64::from_bits((1023 + 1023 - 15) << 52);
            f64::from_bits(u64::from(magnitude) << 42) * scale
        }
        INFINITY => f64::INFINITY,
        _ => f64::NAN,
    };
    if bits == magnitude { value } else { -value }
}

/// The bits of the nearest value, ties to even. Every NaN becomes the quiet NaN with its sign.
pub(crate) fn from_f64(value: f64) -> u16 {
    let magnitude = value.abs();
    let bits = if value.is_nan() {
        0x7E00
    } else if magnitude >= 65_520.0 {
        INFINITY
    } else {
        // Below 2^-14, the halves are as dense as at 2^-14.
        let exponent = (magnitude.to_bits() >> 52).max(1023 - 14);
        let steps_per_unit = f64::from_bits((1023 + 1023 + 10 - exponent) << 52);
        let steps = (magnitude * steps_per_unit).round_ties_even();
        // Normal numbers have 1024 to 2048 steps. Adding them carries into the exponent.
        (((exponent - (1023 - 14)) as u16) << 10) + steps as u16
    };
    if value.is_sign_negative() { bits | 0x8000 } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn every_half_has_its_value() {
        for bits in 0..=u16::MAX {
            let (value, expected) = (to_f64(bits), f16::from_bits(bits).to_f64_const());
            assert!(
                value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
                "{bits:#x}"
            );
            assert_eq!(value.is_sign_negative(), expected.is_sign_negative(), "{bits:#x}");
        }
    }

    /// Rounding is monotonic, so it is right everywhere if it is right at each half, and at and beside each
    /// midpoint between two halves. (`half` itself ignores the low bits of a double.)
    #[test]
    fn every_number_has_the_nearest_half() {
        let rounds = |value: f64, bits: u16| {
            assert_eq!(from_f64(value), bits, "{value}");
            assert_eq!(from_f64(-value), bits | 0x8000, "-{value}");
        };
        for bits in 0..INFINITY {
            let (half, next) = (to_f64(bits), to_f64(bits + 1));
            // The half that would follow the greatest one.
            let middle = f64::midpoint(half, next.min(65_536.0));
            rounds(half, bits);
            rounds(middle.next_down(), bits);
            rounds(middle, bits + bits % 2);
            rounds(middle.next_up(), bits + 1);
        }
        rounds(f64::INFINITY, INFINITY);
        rounds(f64::MAX, INFINITY);
        rounds(f64::MIN_POSITIVE, 0);
        rounds(f64::NAN, 0x7E00);
    }
}
