//! The data that a case moves: properties of the elements of its expected output, for predicates. A backend
//! that loads, converts or multiplies elements instead of copying their bits fails only for such data.

use dmlcts_model::{Case, DataType, Desc, FeatureLevel, NumberKind, Offsets, Tensor, fill, named_enum};

use crate::{
    Validity,
    oracle::{self, Oracle},
    program::Values,
};

/// The size of a tensor's memory, in bytes, above which a case's data count as unknown.
const LARGEST: u64 = 1 << 22;

named_enum! {
    /// A kind of element. Kinds of numbers that the data type lacks do not occur in it.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ElementKind: name, from_name {
        /// Any element.
        Anything = "anything",
        /// A float that is no number.
        Nan = "nan",
        /// A NaN whose fraction has its highest bit clear.
        SignallingNan = "signalling_nan",
        /// A NaN whose fraction has other bits than the highest.
        NanPayload = "nan_payload",
        /// A float that is infinite, of either sign.
        Infinity = "infinity",
        /// A float between 0 and the least normal number, of either sign.
        Denormal = "denormal",
        /// A float of −0.
        NegativeZero = "negative_zero",
        /// A finite float that is no whole number.
        Fraction = "fraction",
        /// A float or a signed integer with its sign bit set.
        Negative = "negative",
        /// An unsigned integer with its highest bit set.
        HighBit = "high_bit",
        /// The greatest finite number of the data type.
        Greatest = "greatest",
        /// The least finite number of the data type; 0 for unsigned integers.
        Least = "least",
    }
}

named_enum! {
    /// Which elements of the expected output.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Elements: name, from_name {
        /// All of them.
        Moved = "moved",
        /// Those that no input element is read for: the padding.
        Padded = "padded",
    }
}

named_enum! {
    /// A number about elements.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum ElementNumber: name, from_name {
        /// The greatest number of significant bits of an element.
        Precision = "precision",
        /// The greatest number of bits of an element up to its highest set bit.
        Bits = "bits",
        /// The greatest number of bits that a signed integer needs to give the bits of an element, if it is
        /// widened with its sign.
        SignedBits = "signed_bits",
        /// The position of the lowest set bit of any element, counted from 1. Undefined if all are 0.
        LowestBit = "lowest_bit",
    }
}

/// The properties of some elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Traits {
    /// One bit for each kind. It is set if some element is of the kind.
    kinds: u16,
    /// The greatest number of bits from the highest to the lowest set bit of a magnitude or significand.
    precision: u32,
    /// The greatest number of bits up to the highest set bit.
    bits: u32,
    /// The greatest number of bits that the bits of an element need as a signed integer.
    signed_bits: u32,
    /// Every bit that is set in an element.
    ones: u64,
}

/// The properties of the expected output's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    moved: Traits,
    /// `None` if every element is read from the input.
    padded: Option<Traits>,
}

impl Data {
    /// Whether there is an element of a kind.
    pub fn has(&self, elements: Elements, kind: ElementKind) -> bool {
        self.of(elements).is_some_and(|traits| traits.kinds >> kind as u32 & 1 == 1)
    }

    /// A number about the elements. `None` without elements.
    pub fn number(&self, elements: Elements, number: ElementNumber) -> Option<u32> {
        let traits = self.of(elements)?;
        match number {
            ElementNumber::Precision => Some(traits.precision),
            ElementNumber::Bits => Some(traits.bits),
            ElementNumber::SignedBits => Some(traits.signed_bits),
            ElementNumber::LowestBit => (traits.ones != 0).then(|| traits.ones.trailing_zeros() + 1),
        }
    }

    fn of(&self, elements: Elements) -> Option<Traits> {
        match elements {
            Elements::Moved => Some(self.moved),
            Elements::Padded => self.padded,
        }
    }
}

/// The memory of computing expected outputs.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    oracle: oracle::Memory,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Oracle {
    /// The data of a case whose desc has this validity. `None` if the desc is invalid, if a tensor spans more
    /// than [`LARGEST`] bytes, or if the semantics have no output for the case.
    pub(crate) fn data(
        &self,
        case: &Case,
        level: FeatureLevel,
        validity: Validity,
        values: &mut Values,
    ) -> Option<Data> {
        if validity == Validity::Invalid {
            return None;
        }
        let desc: &Desc = &case.desc;
        let (input, output) = (desc.input.as_ref()?, desc.output.as_ref()?);
        let size = |tensor: &Tensor| Some(tensor.usual_total_size()).filter(|size| *size <= LARGEST);
        let sizes = (size(input)? as usize, size(output)? as usize);
        let Memory { oracle, input: given, output: expected } = &mut **values.data.get_or_insert_default();
        given.resize(sizes.0, 0);
        fill::write(&case.fill, input.data_type, given);
        expected.clear();
        expected.resize(sizes.1, 0);
        let mut plan = self.plan(desc, level, 0, oracle).ok()?;
        plan.execute(given, expected).ok()?;
        let format = Format::of(output.data_type)?;
        let mut moved = Traits::default();
        for offset in Offsets::new(output.sizes.as_deref()?, output.strides.as_deref()) {
            let start = usize::try_from(offset).ok()?.checked_mul(format.size)?;
            format.add(expected.get(start..start.checked_add(format.size)?)?, &mut moved);
        }
        let padded = plan.has_fill.then(|| {
            let mut padded = Traits::default();
            format.add(&plan.fill[..format.size], &mut padded);
            padded
        });
        Some(Data { moved, padded })
    }
}

/// How the bits of an element represent a number.
#[derive(Clone, Copy)]
struct Format {
    /// In bytes.
    size: usize,
    kind: NumberKind,
    /// The highest bit of an element.
    top: u64,
    /// The exponent and the fraction of a float.
    exponent: u64,
    fraction: u64,
}

impl Format {
    fn of(data_type: DataType) -> Option<Self> {
        let (size, kind) = (data_type.element_size()?, data_type.number_kind()?);
        let top = 1_u64 << (8 * size - 1);
        let fraction_bits = match size {
            2 => 10,
            4 => 23,
            _ => 52,
        };
        let fraction = (1 << fraction_bits) - 1;
        Some(Self { size, kind, top, exponent: (top - 1) & !fraction, fraction })
    }

    /// Adds an element of `size` bytes.
    #[inline]
    fn add(&self, element: &[u8], traits: &mut Traits) {
        // A copy of a length that is not constant would be a call.
        let bits = element.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let mut note = |kind: ElementKind, is: bool| traits.kinds |= u16::from(is) << kind as u32;
        note(ElementKind::Anything, true);
        let significand = if self.kind == NumberKind::Float {
            self.float(bits, &mut note)
        } else {
            self.integer(bits, &mut note)
        };
        traits.precision = traits.precision.max(length(significand));
        traits.bits = traits.bits.max(u64::BITS - bits.leading_zeros());
        // The bits of a wider number that has the same sign.
        let widened = if bits & self.top == 0 { bits } else { !(bits | !(self.top | (self.top - 1))) };
        traits.signed_bits = traits.signed_bits.max(u64::BITS - widened.leading_zeros() + 1);
        traits.ones |= bits;
    }

    /// The significand of a float; 0 if it is no finite number.
    fn float(&self, bits: u64, note: &mut impl FnMut(ElementKind, bool)) -> u64 {
        let Self { top, exponent, fraction, .. } = *self;
        let (is_negative, magnitude) = (bits & top != 0, bits & !top);
        note(ElementKind::Negative, is_negative);
        if magnitude >= exponent {
            let is_quiet = magnitude & ((fraction + 1) >> 1) != 0;
            note(ElementKind::Infinity, magnitude == exponent);
            note(ElementKind::Nan, magnitude > exponent);
            note(ElementKind::SignallingNan, magnitude > exponent && !is_quiet);
            note(ElementKind::NanPayload, magnitude & (fraction >> 1) != 0);
            return 0;
        }
        let is_normal = magnitude > fraction;
        note(ElementKind::NegativeZero, is_negative && magnitude == 0);
        note(ElementKind::Denormal, !is_normal && magnitude != 0);
        note(ElementKind::Greatest, !is_negative && magnitude == exponent - 1);
        note(ElementKind::Least, is_negative && magnitude == exponent - 1);
        let significand = (magnitude & fraction) | if is_normal { fraction + 1 } else { 0 };
        // The number of bits behind the binary point is that of the fraction, less the exponent.
        let biased = (magnitude / (fraction + 1)).max(1) as i64;
        let bias = (exponent / (fraction + 1) / 2) as i64;
        let behind_point = i64::from(fraction.count_ones()) - (biased - bias);
        let zeros = i64::from(significand.trailing_zeros());
        note(ElementKind::Fraction, magnitude != 0 && zeros < behind_point);
        significand
    }

    /// The magnitude of an integer.
    fn integer(&self, bits: u64, note: &mut impl FnMut(ElementKind, bool)) -> u64 {
        let Self { top, .. } = *self;
        let (is_high, ones) = (bits & top != 0, top | (top - 1));
        let is_signed = self.kind == NumberKind::Signed;
        let [least, greatest] = if is_signed { [top, top - 1] } else { [0, ones] };
        note(ElementKind::Negative, is_signed && is_high);
        note(ElementKind::HighBit, !is_signed && is_high);
        note(ElementKind::Least, bits == least);
        note(ElementKind::Greatest, bits == greatest);
        if is_signed && is_high { bits.wrapping_neg() & ones } else { bits }
    }
}

/// The number of bits from the highest to the lowest set bit.
fn length(bits: u64) -> u32 {
    if bits == 0 { 0 } else { u64::BITS - bits.leading_zeros() - bits.trailing_zeros() }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;

    use super::*;
    use crate::{Library, Predicate};

    /// Whether a predicate holds for a case line.
    #[track_caller]
    fn holds(predicate: &str, case: &str) -> bool {
        let library = Library::embedded();
        let case = line::parse(case, library.signatures()).unwrap_or_else(|error| panic!("{case}: {error}"));
        let compiled =
            Predicate::parse(predicate, library).unwrap_or_else(|error| panic!("{predicate}: {error:?}"));
        compiled.holds(&case, FeatureLevel::NEWEST, &mut Values::default())
    }

    /// A copy of one element with these bytes, the lowest first.
    fn copy(data_type: &str, bytes: &str) -> String {
        format!("SLICE {data_type} in=1 out=1 fill=explicit:{bytes} Sizes=1 Offsets=0 Strides=1")
    }

    /// The kinds that one element has.
    fn kinds(data_type: &str, bytes: &str) -> Vec<&'static str> {
        let case = copy(data_type, bytes);
        let names = ElementKind::ALL.map(ElementKind::name).into_iter();
        names.filter(|name| holds(&format!("moves({name})"), &case)).collect()
    }

    #[test]
    fn each_element_is_of_its_kinds() {
        for (data_type, bytes, expected) in [
            ("FLOAT32", "0000803f", &[][..]), // 1
            ("FLOAT32", "00000000", &[]),
            ("FLOAT32", "0000c07f", &["nan"]),
            ("FLOAT32", "0100807f", &["nan", "signalling_nan", "nan_payload"]),
            ("FLOAT32", "0100c07f", &["nan", "nan_payload"]),
            ("FLOAT32", "0000c0ff", &["nan", "negative"]),
            ("FLOAT32", "0000807f", &["infinity"]),
            ("FLOAT32", "000080ff", &["infinity", "negative"]),
            ("FLOAT32", "01000000", &["denormal", "fraction"]),
            ("FLOAT32", "ffff7f80", &["denormal", "fraction", "negative"]),
            ("FLOAT32", "00008000", &["fraction"]), // the least normal number
            ("FLOAT32", "00000080", &["negative_zero", "negative"]),
            ("FLOAT32", "0000c03f", &["fraction"]), // 1.5
            ("FLOAT32", "00004040", &[]),           // 3
            ("FLOAT32", "0000004b", &[]),           // 2^23
            ("FLOAT32", "ffffff4a", &["fraction"]), // 2^23 - 0.5
            ("FLOAT32", "ffff7f7f", &["greatest"]),
            ("FLOAT32", "ffff7fff", &["negative", "least"]),
            ("FLOAT16", "0038", &["fraction"]), // 0.5
            ("FLOAT16", "017c", &["nan", "signalling_nan", "nan_payload"]),
            ("FLOAT16", "00fe", &["nan", "negative"]),
            ("FLOAT16", "ff03", &["denormal", "fraction"]),
            ("FLOAT16", "ff7b", &["greatest"]),
            ("FLOAT64", "000000000000f07f", &["infinity"]),
            ("FLOAT64", "010000000000f0ff", &["nan", "signalling_nan", "nan_payload", "negative"]),
            ("FLOAT64", "0000000000000840", &[]), // 3
            ("INT8", "80", &["negative", "least"]),
            ("INT8", "ff", &["negative"]),
            ("INT8", "7f", &["greatest"]),
            ("UINT8", "80", &["high_bit"]),
            ("UINT8", "ff", &["high_bit", "greatest"]),
            ("UINT8", "00", &["least"]),
            // The bits of a NaN are no NaN in an integer.
            ("UINT32", "0000c07f", &[]),
            ("INT64", "0000000000000080", &["negative", "least"]),
            ("UINT64", "ffffffffffffffff", &["high_bit", "greatest"]),
        ] {
            let all = [&["anything"][..], expected].concat();
            assert_eq!(kinds(data_type, bytes), all, "{data_type} {bytes}");
        }
    }

    #[test]
    fn numbers_tell_how_many_bits_a_copy_needs() {
        for (data_type, bytes, precision, bits) in [
            ("UINT8", "00", 0, 0),
            ("UINT8", "06", 2, 3),
            ("INT8", "ff", 1, 8),                   // -1
            ("INT8", "80", 1, 8),                   // -128
            ("INT16", "fdff", 2, 16),               // -3
            ("UINT64", "0100000000002000", 54, 54), // 2^53 + 1
            ("UINT64", "0000000000002000", 1, 54),
            ("FLOAT32", "0000803f", 1, 30), // 1
            ("FLOAT32", "0100803f", 24, 30),
            ("FLOAT32", "03000000", 2, 2),  // a denormal
            ("FLOAT32", "0100c07f", 0, 31), // a NaN
            ("FLOAT16", "013c", 11, 14),
            ("FLOAT64", "000000000000f83f", 2, 62), // 1.5
        ] {
            let case = copy(data_type, bytes);
            assert!(holds(&format!("moved_precision == {precision}"), &case), "{case}");
            assert!(holds(&format!("moved_bits == {bits}"), &case), "{case}");
            assert!(
                !holds("padded_precision >= 0 or padded_bits >= 0", &case),
                "{case}: there is no padding"
            );
        }
    }

    #[test]
    fn a_signed_integer_of_some_bits_holds_an_element() {
        for (data_type, bytes, bits) in [
            ("UINT8", "00", 1),
            ("UINT8", "ff", 1), // the bits of -1
            ("INT8", "06", 4),
            ("INT8", "80", 8),
            ("INT16", "80ff", 8), // -128
            ("INT16", "8000", 9),
            ("UINT64", "000000ffffffffff", 25),
            ("UINT64", "ffffff7f00000000", 32),
            ("UINT64", "0000008000000000", 33),
            ("INT64", "0000000000000080", 64),
        ] {
            let case = copy(data_type, bytes);
            assert!(holds(&format!("moved_signed_bits == {bits}"), &case), "{case}");
            assert!(!holds("padded_signed_bits >= 0", &case), "{case}: there is no padding");
        }
    }

    #[test]
    fn the_lowest_bit_is_that_of_any_element() {
        for (data_type, bytes, lowest) in [
            ("UINT8", "06", 2),
            ("INT8", "80", 8),
            ("UINT64", "0000000000002000", 54),
            ("FLOAT32", "0000803f", 24),
            ("FLOAT32", "0100c07f", 1), // a NaN
        ] {
            let case = copy(data_type, bytes);
            assert!(holds(&format!("moved_lowest_bit == {lowest}"), &case), "{case}");
            assert!(!holds("padded_lowest_bit >= 0", &case), "{case}: there is no padding");
        }
        let of =
            |bytes: &str| format!("SLICE UINT8 in=2 out=2 fill=explicit:{bytes} Sizes=2 Offsets=0 Strides=1");
        assert!(holds("moved_lowest_bit == 3", &of("4004")));
        assert!(holds("moved_lowest_bit == 7", &of("4000")), "zeros have no bit");
        assert!(!holds("moved_lowest_bit >= 0", &of("0000")));
        let padding = "PADDING1 INT8 in=2 out=3 fill=explicit:0101 PaddingMode=CONSTANT PaddingValue=12 StartPadding=1 \
                       EndPadding=0";
        assert!(holds("padded_lowest_bit == 3 and moved_lowest_bit == 1", padding));
    }

    #[test]
    fn only_elements_that_move_count() {
        // The elements are 1, NaN, 2, infinity.
        let slice = |out: u32, offset: u32, stride: u32| {
            format!(
                "SLICE FLOAT16 in=4 out={out} fill=explicit:003c007e0040007c Sizes={out} Offsets={offset} \
                 Strides={stride}"
            )
        };
        assert!(!holds("moves(nan) or moves(infinity)", &slice(2, 0, 2)));
        assert!(holds("moves(nan) and not moves(infinity)", &slice(2, 1, 1)));
        assert!(holds("moves(nan) and moves(infinity)", &slice(2, 1, 2)));
        let slice1 = "SLICE1 FLOAT16 in=4 out=2 fill=explicit:003c007e0040007c InputWindowOffsets=0 \
                      InputWindowSizes=4 InputWindowStrides=-2";
        // From the far end: infinity, then NaN.
        assert!(holds("moves(nan) and moves(infinity) and moved_precision == 0", slice1));
        // The NaN is in a hole.
        let strided = "SLICE FLOAT16 in=2 InputTensor.Strides=2 out=2 fill=explicit:003c007e0040007c Sizes=2 Offsets=0 Strides=1";
        assert!(holds("valid and not moves(nan) and moved_precision == 1", strided));
        // Its place in the output does not matter.
        let spread = "SLICE FLOAT16 in=2 out=2 OutputTensor.Strides=3 fill=explicit:003c007e Sizes=2 Offsets=0 Strides=1";
        assert!(holds("moves(nan) and moved_precision == 1", spread));
    }

    #[test]
    fn padding_counts_where_it_is_visible() {
        let padding = |mode: &str, start: u32| {
            format!(
                "PADDING1 INT8 in=2 out={} fill=explicit:0102 PaddingMode={mode} PaddingValue=-5 StartPadding={start} \
                 EndPadding=0",
                2 + start
            )
        };
        for start in [1, 300] {
            let constant = padding("CONSTANT", start);
            assert!(holds("moves(negative) and pads(negative) and padded_precision == 3", &constant));
            assert!(holds("padded_bits == 8 and moved_bits == 8", &constant));
        }
        for unseen in [padding("CONSTANT", 0), padding("EDGE", 1), padding("EDGE", 300)] {
            assert!(holds("not moves(negative) and not pads(negative) and moved_bits == 2", &unseen));
            assert!(!holds("padded_bits >= 0", &unseen), "{unseen}");
        }
        // The union's other bytes do not count.
        let junk = "PADDING1 UINT8 in=1 out=2 fill=explicit:01 PaddingMode=CONSTANT \
                    PaddingValue=0x0000000000008001 StartPadding=1 EndPadding=0";
        assert!(holds("not moves(high_bit) and padded_bits == 1", junk));
    }

    #[test]
    fn data_are_undefined_without_an_expected_output() {
        let undefined =
            |case: &str| !holds("moves(nan) or not moves(nan)", case) && !holds("moved_precision >= 0", case);
        assert!(undefined("SLICE FLOAT32 in=4 out=2 Offsets=3 Sizes=2 Strides=1 fill=special:1"), "outside");
        assert!(undefined("SLICE UINT4 in=4 out=2 Offsets=0 Sizes=2 Strides=1 fill=iota"), "half a byte");
        let long =
            |size: u32| format!("SLICE FLOAT32 in={size} out=2 Offsets=0 Sizes=2 Strides=1 fill=random:1");
        assert!(undefined(&long((1 << 20) + 1)), "the input is too large");
        assert!(!undefined(&long(1 << 20)));
    }

    #[test]
    fn messages_name_the_kinds() {
        let mistake = |text: &str| match Predicate::parse(text, Library::embedded()) {
            Ok(_) => panic!("{text} compiles"),
            Err(mistake) => format!("{} {}", mistake.message, mistake.help.unwrap_or_default()),
        };
        assert!(
            mistake("moves(big)")
                .contains("the kinds are anything, nan, signalling_nan, nan_payload, infinity")
        );
        assert!(mistake("moves(NaN)").contains("did you mean `nan`?"));
        assert!(mistake("pads(3)").contains("`pads` takes a kind of element"));
    }
}
