//! The text of one element: the shortest text that reads back to the same bits.
//!
//! Integers are decimal. Floats are the shortest decimal that reads back. They have an exponent if that is
//! shorter, unless the value is an integer below 2^24. `-0`, `inf` and `-inf` are written as such. `nan` is
//! the quiet NaN without sign and payload, and any other NaN shows all its bits, as in `nan:0x7fc00001`. Data
//! types without a whole number of bytes have no numbers. Their elements are written as `0x` and the bytes,
//! most significant first, which does not read back.

use std::fmt::{Display, LowerExp, Write as _};

use crate::{DataType, NumberKind, float16};

/// A text that is not an element of its data type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElementError {
    /// The text is not a number.
    #[error(
        "`{text}` is not a number of {data_type}; a decimal number, `inf`, `-inf`, `nan` or `nan:0x…` is (integers: decimal only)"
    )]
    NotANumber {
        /// The requested data type.
        data_type: DataType,
        /// The text.
        text: String,
    },
    /// The data type cannot hold the number.
    #[error("`{text}` does not fit {data_type}, which holds {low} to {high}")]
    OutOfRange {
        /// The requested data type.
        data_type: DataType,
        /// The text.
        text: String,
        /// The least finite value.
        low: String,
        /// The greatest finite value.
        high: String,
    },
    /// The bits after `nan:` are not a NaN.
    #[error("`{text}` is not a NaN of {data_type}: every bit of the exponent and one below it must be set")]
    NotANan {
        /// The requested data type.
        data_type: DataType,
        /// The text.
        text: String,
    },
    /// The data type does not have a whole number of bytes.
    #[error("{0} has no elements that text can say; use a data type of 8 to 64 bits")]
    NoNumber(DataType),
}

/// The text of one element. `bytes` are little-endian and have the size of the data type.
pub fn element_to_text(data_type: DataType, bytes: &[u8]) -> String {
    let mut text = String::new();
    write_element(data_type, bytes, &mut text);
    text
}

/// Appends the text that [`element_to_text`] returns.
pub fn write_element(data_type: DataType, bytes: &[u8], out: &mut String) {
    let (Some(size), Some(kind)) = (data_type.element_size(), data_type.number_kind()) else {
        return write_bytes(bytes, out);
    };
    let Some(bytes) = bytes.get(..size) else { return write_bytes(bytes, out) };
    let bits = widen(bytes);
    match kind {
        NumberKind::Unsigned => write_unsigned(bits, out),
        NumberKind::Signed => {
            let unused = 64 - 8 * size as u32;
            write_signed((bits << unused) as i64 >> unused, out);
        }
        NumberKind::Float => Float::of(size).write(bits, out),
    }
}

/// The little-endian bytes of an element, with zeros above its width. Decimal numbers are rounded to the
/// nearest value, ties to even.
pub fn element_from_text(data_type: DataType, text: &str) -> Result<[u8; 8], ElementError> {
    let (Some(size), Some(kind)) = (data_type.element_size(), data_type.number_kind()) else {
        return Err(ElementError::NoNumber(data_type));
    };
    let bits = match kind {
        NumberKind::Float => Float::of(size).read(data_type, text)?,
        kind => read_integer(data_type, kind, 8 * size as u32, text)?,
    };
    Ok(bits.to_le_bytes())
}

/// Appends a decimal number. Most numbers in case lines have one digit, which has a fast path.
#[inline]
pub(crate) fn write_unsigned(value: u64, out: &mut String) {
    if value < 10 {
        out.push(char::from(b'0' + value as u8));
    } else {
        write_digits(value, out);
    }
}

fn write_digits(value: u64, out: &mut String) {
    if value >= 10 {
        write_digits(value / 10, out);
    }
    out.push(char::from(b'0' + (value % 10) as u8));
}

/// Appends a decimal number with its sign.
#[inline]
pub(crate) fn write_signed(value: i64, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    write_unsigned(value.unsigned_abs(), out);
}

/// Appends bytes in hex, the last one first.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push_str("0x");
    bytes.iter().rev().for_each(|&byte| write_hex(byte, out));
}

pub(crate) fn write_hex(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Up to eight little-endian bytes as a number.
fn widen(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

fn read_integer(data_type: DataType, kind: NumberKind, bits: u32, text: &str) -> Result<u64, ElementError> {
    let (low, high) = match kind {
        NumberKind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(ElementError::NotANumber { data_type, text: text.to_owned() });
    }
    // Parsing fails only for numbers beyond 128 bits, which do not fit the type either.
    match text.parse::<i128>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value as u64 & (u64::MAX >> (64 - bits))),
        _ => Err(ElementError::OutOfRange {
            data_type,
            text: text.to_owned(),
            low: low.to_string(),
            high: high.to_string(),
        }),
    }
}

/// The three binary formats, each with its bits.
#[derive(Clone, Copy)]
enum Float {
    Half = 16,
    Single = 32,
    Double = 64,
}

impl Float {
    fn of(size: usize) -> Self {
        match size {
            2 => Self::Half,
            4 => Self::Single,
            _ => Self::Double,
        }
    }

    /// The bits of positive infinity: every bit of the exponent is set.
    fn infinity(self) -> u64 {
        match self {
            Self::Half => u64::from(float16::INFINITY),
            Self::Single => u64::from(f32::INFINITY.to_bits()),
            Self::Double => f64::INFINITY.to_bits(),
        }
    }

    fn bits(self) -> u32 {
        self as u32
    }

    fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// The quiet NaN without sign and payload: infinity with the highest bit of the significand set.
    fn quiet_nan(self) -> u64 {
        let infinity = self.infinity();
        infinity | (infinity & infinity.wrapping_neg()) >> 1
    }

    fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    fn write(self, bits: u64, out: &mut String) {
        if self.is_nan(bits) {
            out.push_str("nan");
            if bits != self.quiet_nan() {
                // Writing into a string cannot fail.
                let _ = write!(out, ":0x{bits:0width$x}", width = self.bits() as usize / 4);
            }
            return;
        }
        if bits & self.sign() != 0 {
            out.push('-');
        }
        let magnitude = bits & !self.sign();
        if magnitude == self.infinity() {
            out.push_str("inf");
            return;
        }
        match self {
            Self::Half => write_shortest(shortest_half(magnitude as u16), out),
            Self::Single => write_shortest(f32::from_bits(magnitude as u32), out),
            Self::Double => write_shortest(f64::from_bits(magnitude), out),
        }
    }

    fn read(self, data_type: DataType, text: &str) -> Result<u64, ElementError> {
        let not_a_number = || ElementError::NotANumber { data_type, text: text.to_owned() };
        if let Some(hex) = text.strip_prefix("nan:0x") {
            let digits = !hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
            let bits = u64::from_str_radix(hex, 16).ok().filter(|_| digits).ok_or_else(not_a_number)?;
            let fits = bits >> (self.bits() - 1) <= 1;
            return if fits && self.is_nan(bits) {
                Ok(bits)
            } else {
                Err(ElementError::NotANan { data_type, text: text.to_owned() })
            };
        }
        let (sign, magnitude) = match text.strip_prefix('-') {
            Some(rest) => (self.sign(), rest),
            None => (0, text),
        };
        match magnitude {
            "inf" => return Ok(sign | self.infinity()),
            "nan" if sign == 0 => return Ok(self.quiet_nan()),
            // Rust's parser accepts more words and a second sign, which this format does not.
            _ if !magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
                return Err(not_a_number());
            }
            _ => {}
        }
        let bits = match self {
            Self::Half => u64::from(float16::from_f64(magnitude.parse().map_err(|_| not_a_number())?)),
            Self::Single => u64::from(magnitude.parse::<f32>().map_err(|_| not_a_number())?.to_bits()),
            Self::Double => magnitude.parse::<f64>().map_err(|_| not_a_number())?.to_bits(),
        };
        if bits == self.infinity() {
            let greatest = element_to_text(data_type, &(bits - 1).to_le_bytes());
            let text = text.to_owned();
            return Err(ElementError::OutOfRange {
                data_type,
                text,
                low: format!("-{greatest}"),
                high: greatest,
            });
        }
        Ok(sign | bits)
    }
}

/// Below this magnitude, a 32-bit float represents every integer.
const EXACT: f64 = 16_777_216.0;

/// Appends a positive number with or without an exponent, whichever is shorter; without one if both are
/// equally long. Integers below [`EXACT`] have no exponent, so that consecutive values look alike: `90000`
/// between `89999` and `90001`.
fn write_shortest(value: impl Display + LowerExp + Into<f64> + Copy, out: &mut String) {
    let start = out.len();
    let number: f64 = value.into();
    // Writing into a string cannot fail, here and below.
    if number < EXACT && number.fract() == 0.0 {
        let _ = write!(out, "{value}");
        return;
    }
    let _ = write!(out, "{value:e}");
    let Some((significand, exponent)) = out[start..].split_once('e') else { return };
    let digits = significand.len() as isize - isize::from(significand.len() > 1);
    let Ok(exponent) = exponent.parse::<isize>() else { return };
    let plain = match exponent {
        ..0 => digits - exponent + 1,
        _ if digits > exponent + 1 => digits + 1,
        _ => exponent + 1,
    };
    if plain <= (out.len() - start) as isize {
        out.truncate(start);
        let _ = write!(out, "{value}");
    }
}

/// The shortest decimal that rounds to this half, as the nearest double, which prints as that decimal. Five
/// digits always suffice. Integers have at most five digits and are returned as they are.
fn shortest_half(bits: u16) -> f64 {
    let exact = float16::to_f64(bits);
    if exact.fract() == 0.0 {
        return exact;
    }
    (0..5)
        .filter_map(|digits| format!("{exact:.digits$e}").parse().ok())
        .find(|&decimal| float16::from_f64(decimal) == bits)
        .unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of_f32(value: f32) -> String {
        element_to_text(DataType::FLOAT32, &value.to_le_bytes())
    }

    #[test]
    fn floats_are_as_short_as_they_can_be() {
        for (value, text) in [
            (9.0, "9"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (89_999.0, "89999"),
            (90_000.0, "90000"),
            (1e7, "10000000"),
            (2e7, "2e7"),
            (16_777_216.0, "16777216"),
            (f32::MAX, "3.4028235e38"),
            (1e10, "1e10"),
            (1e-5, "1e-5"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::from_bits(0x7fc0_0000), "nan"),
            (f32::from_bits(0x7fc0_0001), "nan:0x7fc00001"),
            (f32::from_bits(0xff80_0001), "nan:0xff800001"),
            (f32::from_bits(1), "1e-45"),
        ] {
            assert_eq!(text_of_f32(value), text);
        }
        assert_eq!(element_to_text(DataType::FLOAT16, &float16::from_f64(0.1).to_le_bytes()), "0.1");
        assert_eq!(element_to_text(DataType::FLOAT16, &(float16::INFINITY - 1).to_le_bytes()), "65504");
        assert_eq!(element_to_text(DataType::FLOAT64, &f64::NAN.to_le_bytes()), "nan");
    }

    #[test]
    fn integers_keep_their_sign() {
        assert_eq!(element_to_text(DataType::INT8, &[0x80]), "-128");
        assert_eq!(element_to_text(DataType::UINT8, &[0x80]), "128");
        assert_eq!(element_to_text(DataType::INT64, &i64::MIN.to_le_bytes()), "-9223372036854775808");
        assert_eq!(element_to_text(DataType::UINT64, &[0xff; 8]), "18446744073709551615");
    }

    #[test]
    fn what_is_no_element_says_why() {
        let message = |data_type, text| element_from_text(data_type, text).unwrap_err().to_string();
        assert_eq!(message(DataType::INT8, "128"), "`128` does not fit INT8, which holds -128 to 127");
        assert!(message(DataType::UINT16, "1.5").contains("not a number"));
        assert_eq!(
            message(DataType::FLOAT16, "65520"),
            "`65520` does not fit FLOAT16, which holds -65504 to 65504"
        );
        assert!(message(DataType::FLOAT32, "nan:0x7f800000").contains("not a NaN"));
        assert!(message(DataType::FLOAT16, "nan:0x17e00").contains("not a NaN"));
        assert!(message(DataType::INT4, "1").contains("no elements"));
        for text in ["", "-", "--1", "-nan", "+1", "infinity", "1e", "nan:0x+7fc00001", "0x1", "."] {
            assert!(element_from_text(DataType::FLOAT32, text).is_err(), "{text}");
            assert!(element_from_text(DataType::INT32, text).is_err(), "{text}");
        }
    }

    #[test]
    fn odd_types_and_short_slices_show_their_bytes() {
        assert_eq!(element_to_text(DataType::UNKNOWN, &[1, 0xab]), "0xab01");
        assert_eq!(element_to_text(DataType::FLOAT32, &[1]), "0x01");
    }

    #[test]
    fn every_half_reads_back() {
        for bits in 0..=u16::MAX {
            let text = element_to_text(DataType::FLOAT16, &bits.to_le_bytes());
            let back = element_from_text(DataType::FLOAT16, &text).unwrap();
            assert_eq!(u64::from_le_bytes(back), u64::from(bits), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_element_reads_back(bits: u64, which in 0usize..11) {
            let data_type = DataType::all().nth(which).unwrap();
            let size = data_type.element_size().unwrap();
            let mut expected = [0; 8];
            expected[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
            let text = element_to_text(data_type, &expected);
            prop_assert_eq!(element_from_text(data_type, &text), Ok(expected), "{}", text);
        }

        #[test]
        fn no_text_panics(text in ".*", short in "[-+.0-9einfax:]{0,12}", code in 0u32..16) {
            let _ = element_from_text(DataType(code), &text);
            let _ = element_from_text(DataType(code), &short);
        }
    }
}
