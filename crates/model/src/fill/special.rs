//! Values that conversions change. A backend that loads, converts or multiplies elements instead of copying
//! bits changes one of them.

use super::{each_word, element_size, word::word_at};
use crate::{DataType, NumberKind};

/// Bit patterns of binary16: quiet and signalling NaNs of both signs with payloads, infinities, zeros,
/// denormals (least and greatest), the least normal, the greatest finite, and a number next to one.
const FLOAT16: [u16; 16] = [
    0x7E00, 0x7E2A, 0xFE01, 0x7C01, 0x7DFF, 0xFC2A, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001, 0x83FF, 0x0400,
    0x7BFF, 0xFBFF, 0x3C01,
];

/// Corresponding bit patterns of binary32.
const FLOAT32: [u32; 16] = [
    0x7FC0_0000,
    0x7FC0_1234,
    0xFFC0_0001,
    0x7F80_0001,
    0x7FBF_FFFF,
    0xFF80_ABCD,
    0x7F80_0000,
    0xFF80_0000,
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x807F_FFFF,
    0x0080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x4B80_0001,
];

/// Corresponding bit patterns of binary64.
const FLOAT64: [u64; 16] = [
    0x7FF8_0000_0000_0000,
    0x7FF8_0000_DEAD_BEEF,
    0xFFF8_0000_0000_0001,
    0x7FF0_0000_0000_0001,
    0x7FF7_FFFF_FFFF_FFFF,
    0xFFF0_0000_0000_ABCD,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x800F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    // 2^53 + 2, which binary32 cannot represent.
    0x4340_0000_0000_0001,
];

/// An integer of `bits` bits: the extremes of signed and unsigned types, neighbours of zero, alternating
/// bits, and values that a conversion to a float would round.
fn integer(choice: usize, bits: u32) -> u64 {
    let ones = u64::MAX >> (64 - bits);
    let sign = 1_u64 << (bits - 1);
    let pattern = match choice {
        0 => 0,
        1 => 1,
        2 => ones,
        3 => ones - 1,
        4 => sign,
        5 => sign + 1,
        6 => sign - 1,
        7 => sign - 2,
        8 => 0x5555_5555_5555_5555,
        9 => 0xAAAA_AAAA_AAAA_AAAA,
        // One more than the range in which binary16, binary32 and binary64 represent every integer, truncated
        // to the type.
        10 => (1 << 11) + 1,
        11 => (1 << 24) + 1,
        12 => (1 << 53) + 1,
        // NaN bit patterns, for a backend that moves integers through float registers.
        13 => 0x7FF0_0001_7F80_0001,
        14 => 0x0123_4567_89AB_CDEF,
        _ => 0x8040_2010_0804_0201,
    };
    pattern & ones
}

/// Writes special values. The seed and the index choose each element.
pub(super) fn write(seed: u64, data_type: DataType, memory: &mut [u8]) {
    let values: [u64; 16] = std::array::from_fn(|choice| special(choice, data_type));
    let value = |index| values[(word_at(seed, index) >> 60) as usize];
    each_word(element_size(data_type), memory, value);
}

/// One special value of a type, in the low bytes of a scalar union whose other bytes are zero.
pub(super) fn scalar(word: u64, data_type: DataType) -> [u8; 8] {
    special((word >> 60) as usize, data_type).to_le_bytes()
}

fn special(choice: usize, data_type: DataType) -> u64 {
    let size = element_size(data_type);
    match (data_type.number_kind(), size) {
        (Some(NumberKind::Float), 2) => FLOAT16[choice].into(),
        (Some(NumberKind::Float), 4) => FLOAT32[choice].into(),
        (Some(NumberKind::Float), _) => FLOAT64[choice],
        _ => integer(choice, size as u32 * 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_float_is_there() {
        let floats = FLOAT32.map(f32::from_bits);
        let quiet = |bits: &u32| f32::from_bits(*bits).is_nan() && bits & 0x0040_0000 != 0;
        let signalling = |bits: &u32| f32::from_bits(*bits).is_nan() && bits & 0x0040_0000 == 0;
        assert_eq!(FLOAT32.iter().filter(|bits| quiet(bits)).count(), 3);
        assert_eq!(FLOAT32.iter().filter(|bits| signalling(bits)).count(), 3);
        assert_eq!(floats.iter().filter(|value| value.is_infinite()).count(), 2);
        assert_eq!(floats.iter().filter(|value| value.is_subnormal()).count(), 2);
        assert!(floats.iter().any(|value| *value == 0.0 && value.is_sign_negative()));
        assert_eq!(FLOAT16.iter().filter(|bits| crate::float16::to_f64(**bits).is_nan()).count(), 6);
        assert_eq!(FLOAT64.iter().filter(|bits| f64::from_bits(**bits).is_nan()).count(), 6);
    }

    #[test]
    fn sixty_four_elements_meet_most_values() {
        let mut memory = [0; 256];
        write(1, DataType::FLOAT32, &mut memory);
        let mut seen: Vec<_> = memory.chunks(4).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() >= 12, "{}", seen.len());
    }

    #[test]
    fn scalars_leave_the_bytes_that_a_narrow_type_does_not_use_at_zero() {
        for choice in 0..16 {
            assert_eq!(scalar(choice << 60, DataType::INT8)[1..], [0; 7]);
            assert_eq!(scalar(choice << 60, DataType::FLOAT16)[2..], [0; 6]);
        }
    }
}
