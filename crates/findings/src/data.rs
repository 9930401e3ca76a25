//! The data of experiments: random data, which show elements from wrong places, and data of few kinds, which
//! show what conversions change.

use std::collections::BTreeSet;

use dmlcts_generate::{draw::Draws, fill};
use dmlcts_model::{Case, DataType, Fill, NumberKind, Side, Tensor, Value, span_elements};

/// The largest input whose elements are written out, in elements. Readers of a case line see them.
const LISTED: u128 = 48;
/// The number of times that an element is drawn until it differs from the others.
const ATTEMPTS: usize = 4;
/// The numbers of bits that number formats hold, and the next ones.
const FORMATS: [u32; 12] = [7, 8, 9, 11, 12, 16, 24, 25, 31, 32, 53, 54];

/// Gives a variant of a case its data. Often they are random, and sometimes they stay.
pub(crate) fn redraw(case: &mut Case, draws: &mut Draws) {
    let is_random = matches!(case.fill, Fill::Random { .. });
    match draws.place(8) {
        0 | 1 => {
            if let Some(fill) = telling(case, draws) {
                case.fill = fill;
            }
        }
        2 => {}
        _ if is_random && !draws.chance(1, 4) => {}
        _ => case.fill = Fill::Random { seed: draws.below(1 << 16) },
    }
    if draws.chance(1, 3)
        && let Some(data_type) = case.desc.tensor(Side::Output).map(|tensor| tensor.data_type)
        && let Some(source) = ElementDraws::new(data_type, draws)
    {
        for value in &mut case.desc.members {
            if let Value::Scalar(bytes) = value {
                let element = source.element(draws);
                *bytes = element.to_le_bytes();
                // The bytes that an element does not use, which a backend must ignore.
                if draws.chance(1, 4) {
                    let junk = draws.word().to_le_bytes();
                    let used = data_type.element_size().unwrap_or(bytes.len());
                    bytes.iter_mut().zip(junk).skip(used).for_each(|(byte, junk)| *byte = junk);
                }
            }
        }
    }
}

/// Whether a case is sure to show an element from a wrong place: all elements of the input differ from each
/// other, from the scalars of the desc, and from 0, which a backend may read outside of the input. The bytes
/// of each differ if their order is reversed. A scalar differs from what other bytes of its union hold.
pub fn has_only_distinct_elements(case: &Case) -> bool {
    let Some(input) = case.desc.tensor(Side::Input) else { return false };
    let (Some(count), Some(size)) = (span(input), input.data_type.element_size()) else { return false };
    // A backend may read behind the last element, too.
    let count = count.max(u128::from(input.total_size) / size as u128);
    if count > 1 << 18 || size < 8 && count >= 1 << (8 * size) {
        return false;
    }
    let mut memory = vec![0; count as usize * size];
    fill::write(&case.fill, input.data_type, &mut memory);
    let mut elements: Vec<&[u8]> = memory.chunks(size).collect();
    let scalars = case.desc.members.iter().filter_map(|value| match value {
        Value::Scalar(bytes) => Some(bytes),
        _ => None,
    });
    if scalars.clone().any(|bytes| is_repeated(*bytes, size)) {
        return false;
    }
    elements.extend(scalars.map(|bytes| &bytes[..size]));
    let zero = [0; 8];
    // Bytes that are the same from both ends show nothing of their order.
    let shows_order = |bytes: &&[u8]| bytes.len() == 1 || bytes.iter().ne(bytes.iter().rev());
    if !elements.iter().all(shows_order) {
        return false;
    }
    elements.extend(zero.get(..size));
    elements.sort_unstable();
    elements.windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether the first element of a union is also another one.
pub(crate) fn is_repeated(union: [u8; 8], size: usize) -> bool {
    union.chunks(size).skip(1).any(|other| *other == union[..size])
}

/// The number of elements from the first to the last of a tensor.
fn span(tensor: &Tensor) -> Option<u128> {
    span_elements(tensor.sizes.as_deref()?, tensor.strides.as_deref())
}

/// Data of one or two kinds, different from element to element if possible. `None` if the desc has no input.
fn telling(case: &Case, draws: &mut Draws) -> Option<Fill> {
    let input = case.desc.tensor(Side::Input)?;
    let count = span(input)?;
    let (one, other) =
        (ElementDraws::new(input.data_type, draws)?, ElementDraws::new(input.data_type, draws)?);
    if count > LISTED {
        return Some(Fill::Special { seed: draws.below(1 << 16) });
    }
    let size = input.data_type.element_size()?;
    let mut bytes = Vec::new();
    let mut known = BTreeSet::from([0]);
    let second = draws.place(4) as u64;
    for _ in 0..count {
        let source = if draws.chance(second, 4) { other } else { one };
        let mut element = source.element(draws);
        for _ in 0..ATTEMPTS {
            if known.insert(element) {
                break;
            }
            element = source.element(draws);
        }
        bytes.extend_from_slice(&element.to_le_bytes()[..size]);
    }
    Some(Fill::Explicit(bytes.into()))
}

/// Draws elements of one kind.
#[derive(Clone, Copy)]
struct ElementDraws {
    kind: NumberKind,
    /// The bits of an element.
    bits: u32,
    /// The bits of a float's fraction.
    fraction_bits: u32,
    style: Style,
    /// The number of significant bits of a number.
    precision: u32,
}

#[derive(Clone, Copy)]
enum Style {
    /// Numbers of a precision, of all sizes.
    Number,
    /// The greatest and least numbers, and their neighbours.
    Extreme,
    Nan {
        is_quiet: bool,
    },
    Infinity,
    Denormal,
    NegativeZero,
}

impl ElementDraws {
    /// A source of elements of a data type. `None` for types without whole bytes.
    fn new(data_type: DataType, draws: &mut Draws) -> Option<Self> {
        let (kind, bits) = (data_type.number_kind()?, 8 * data_type.element_size()? as u32);
        let fraction_bits = match bits {
            16 => 10,
            32 => 23,
            _ => 52,
        };
        let of_floats = [
            Style::Nan { is_quiet: true },
            Style::Nan { is_quiet: false },
            Style::Infinity,
            Style::Denormal,
            Style::NegativeZero,
        ];
        let style = match draws.place(8) {
            0 => Style::Extreme,
            place if kind == NumberKind::Float => *of_floats.get(place - 1).unwrap_or(&Style::Number),
            _ => Style::Number,
        };
        let most = if kind == NumberKind::Float { fraction_bits + 1 } else { bits };
        let of_format = draws.pick(&FORMATS).copied().filter(|precision| *precision <= most);
        let any = 1 + draws.below(most.into()) as u32;
        let precision = of_format.filter(|_| draws.chance(1, 2)).unwrap_or(any);
        Some(Self { kind, bits, fraction_bits, style, precision })
    }

    /// The bits of an element. The bytes above the element are 0.
    fn element(&self, draws: &mut Draws) -> u64 {
        let ones = u64::MAX >> (64 - self.bits);
        let sign = (draws.word() & 1) << (self.bits - 1);
        if self.kind == NumberKind::Float {
            return self.float(draws) | sign;
        }
        if matches!(self.style, Style::Extreme) {
            let ends = [ones, ones >> 1].map(|end| end.wrapping_sub(draws.below(2)));
            return (ends[draws.place(2)].wrapping_add(draws.below(2))) & ones;
        }
        let room = self.bits - self.precision;
        let shift = if draws.chance(1, 2) { 0 } else { draws.below(u64::from(room) + 1) as u32 };
        let magnitude = significant(self.precision, draws) << shift;
        let is_negative = self.kind == NumberKind::Signed && sign != 0;
        if is_negative { magnitude.wrapping_neg() & ones } else { magnitude }
    }

    /// The bits of a float without its sign.
    fn float(&self, draws: &mut Draws) -> u64 {
        let fraction = (1_u64 << self.fraction_bits) - 1;
        let infinity = ((1_u64 << (self.bits - 1)) - 1) & !fraction;
        let quiet = (fraction + 1) >> 1;
        match self.style {
            Style::Nan { is_quiet: true } => infinity | quiet | (draws.word() & (quiet - 1)),
            Style::Nan { is_quiet: false } => infinity | (draws.word() & (quiet - 1)).max(1),
            Style::Infinity => infinity,
            Style::Denormal => (draws.word() & fraction).max(1),
            Style::NegativeZero => 0,
            Style::Extreme => infinity - 1 - draws.below(2),
            Style::Number => {
                let bias = (infinity / (fraction + 1) / 2) as i64;
                let exponent = bias + draws.between(-4, bias.min(i64::from(self.fraction_bits) + 8) - 1);
                let significand = significant(self.precision, draws);
                // The highest bit of a significand is not written.
                let below = (significand << (self.fraction_bits + 1 - self.precision)) & fraction;
                ((exponent as u64) * (fraction + 1)) | below
            }
        }
    }
}

/// A random number whose highest and lowest set bits are this far apart.
fn significant(precision: u32, draws: &mut Draws) -> u64 {
    (draws.word() >> (64 - precision)) | 1 | 1 << (precision - 1)
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{FeatureLevel, line};
    use dmlcts_spec::{Library, Predicate, program::Values};

    use super::*;

    fn parse(text: &str) -> Case {
        line::parse(text, Library::embedded().signatures()).expect("it is a case")
    }

    /// The number of redrawn variants of a case for which a predicate holds, of 400.
    fn held(case: &str, predicate: &str) -> usize {
        let mut draws = Draws::new(7);
        let predicate = Predicate::parse(predicate, Library::embedded()).expect(predicate);
        let (base, mut values) = (parse(case), Values::default());
        let mut variant = || {
            let mut case = base.clone();
            redraw(&mut case, &mut draws);
            predicate.holds(&case, FeatureLevel::NEWEST, &mut values)
        };
        (0..400).filter(|_| variant()).count()
    }

    #[test]
    fn a_scalar_that_its_union_repeats_is_asked_again_with_another() {
        let of = |value: &str| {
            let case = parse(&format!(
                "PADDING1 UINT16 in=4 out=6 PaddingMode=CONSTANT PaddingValue={value} StartPadding=1 EndPadding=1"
            ));
            let scalar = |case: &Case| {
                case.desc.members.iter().find_map(|value| match value {
                    Value::Scalar(bytes) => Some(*bytes),
                    _ => None,
                })
            };
            let others = crate::again::with_other_data(&case).filter(|other| scalar(other) != scalar(&case));
            (has_only_distinct_elements(&case), others.count())
        };
        assert_eq!(of("0x1234"), (true, 0));
        // The last two bytes of the union are those of the value, as is an element of zeros.
        assert_eq!(of("0x1234567890ab1234"), (false, 2));
        assert_eq!(of("0"), (false, 2));
    }

    #[test]
    fn redrawn_data_are_on_both_sides_of_every_condition() {
        let of = |data_type: &str| {
            format!(
                "PADDING1 {data_type} in=8 out=10 PaddingMode=CONSTANT PaddingValue=1 StartPadding=1 EndPadding=1"
            )
        };
        let floats =
            ["nan", "signalling_nan", "infinity", "denormal", "negative_zero", "fraction", "greatest"];
        for kind in floats {
            for verb in ["moves", "pads"] {
                let held = held(&of("FLOAT32"), &format!("{verb}({kind})"));
                assert!((1..390).contains(&held), "{verb}({kind}): {held}");
            }
        }
        for predicate in ["moves(high_bit)", "pads(high_bit)", "moves(greatest)", "padded_precision > 53"] {
            let held = held(&of("UINT64"), predicate);
            assert!((1..390).contains(&held), "{predicate}: {held}");
        }
        for predicate in ["spare(PaddingValue) == 0", "spare(PaddingValue) mod 256 != 0"] {
            let held = held(&of("UINT8"), predicate);
            assert!((1..390).contains(&held), "{predicate}: {held}");
        }
        for precision in [8, 9, 11, 12, 53, 54] {
            let held = held(&of("INT64"), &format!("moved_precision == {precision}"));
            assert!(held > 0, "{precision}");
        }
    }

    #[test]
    fn equal_elements_are_noticed() {
        let case = |rest: &str| parse(&format!("SLICE UINT8 out=1 Offsets=0 Sizes=1 Strides=1 {rest}"));
        assert!(has_only_distinct_elements(&case("in=4 fill=iota")));
        assert!(has_only_distinct_elements(&case("in=252 fill=iota")));
        assert!(!has_only_distinct_elements(&case("in=256 fill=iota")), "255 and 1 repeat");
        let rounded = "in=2 InputTensor.Strides=0 fill=explicit:01010202";
        assert!(!has_only_distinct_elements(&case(rounded)), "bytes of the rounded size repeat");
        assert!(!has_only_distinct_elements(&case("in=4 fill=explicit:01020103")));
        let longer = "InputTensor.TotalTensorSizeInBytes=512 in=4 fill=iota";
        assert!(!has_only_distinct_elements(&case(longer)), "elements behind the last one repeat");
        let ones = parse("SLICE UINT32 in=1 out=1 Offsets=0 Sizes=1 Strides=1 fill=explicit:ffffffff");
        assert!(!has_only_distinct_elements(&ones), "bytes in another order are the same");
        let turned = ones.to_string().replace("ffffffff", "01020201");
        assert!(!has_only_distinct_elements(&parse(&turned)), "its bytes are the same from both ends");
        assert!(has_only_distinct_elements(&parse(&turned.replace("0201", "0101"))));
        let padding = |value: u8| {
            parse(&format!(
                "PADDING1 UINT8 in=3 out=4 PaddingMode=CONSTANT PaddingValue={value} StartPadding=1 EndPadding=0"
            ))
        };
        assert!(has_only_distinct_elements(&padding(9)));
        assert!(!has_only_distinct_elements(&padding(2)), "an element of the input is equal");
        assert!(!has_only_distinct_elements(&padding(0)), "it may come from outside of the input");
        assert!(!has_only_distinct_elements(&case("in=4 fill=coordinates")), "the first element is 0");
    }
}
