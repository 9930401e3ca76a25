//! Compares an output with the expected one, bit for bit, and classifies the differences.
//!
//! Outputs are usually equal, and `memcmp` decides that if the elements lie side by side. Only an output that
//! differs is compared element by element. That distinguishes a wrong value from an element that was never
//! written, and from three ways in which arithmetic changes a copied value: a NaN made canonical, a denormal
//! flushed to zero, and a zero that lost its sign.

use std::fmt;

use dmlcts_model::{
    DataType, List, NumberKind, Offsets, Tensor, coordinates_of, element_count, named_enum, packed_strides,
};

named_enum! {
    /// How an element differs from the expected one, the mildest kind first.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Difference: name {
        /// The sign of a zero was lost; the values compare equal.
        ZeroSign = "zero-sign",
        /// A denormal became a zero.
        DenormalFlushed = "denormal-flushed",
        /// A NaN became another NaN.
        NanCanonicalised = "nan-canonicalised",
        /// The element still holds the poison of its memory.
        Unwritten = "unwritten",
        /// Anything else.
        WrongValue = "wrong-value",
    }
}

impl Difference {
    /// Whether arithmetic makes this change to a copied value.
    pub(crate) fn is_of_arithmetic(self) -> bool {
        matches!(self, Self::ZeroSign | Self::DenormalFlushed | Self::NanCanonicalised)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The differences of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The number of elements that were compared.
    pub elements: u64,
    /// The number of differing elements of each kind, in the order of [`Difference::ALL`].
    pub counts: [u64; 5],
    /// The first differing elements, in the order of coordinates: at most [`Differences::KEPT`].
    pub first: Vec<WrongElement>,
}

/// One differing element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongElement {
    /// The element's coordinates in the output.
    pub coordinates: List,
    /// How it differs.
    pub difference: Difference,
    /// The expected bits.
    pub expected: u64,
    /// The actual bits.
    pub actual: u64,
}

impl Differences {
    /// The maximum number of elements that are kept one by one.
    pub const KEPT: usize = 4096;

    /// A copy that holds only the first differing element.
    pub(crate) fn in_short(&self) -> Self {
        Self {
            elements: self.elements,
            counts: self.counts,
            first: self.first.first().cloned().into_iter().collect(),
        }
    }

    /// The number of differing elements.
    pub fn wrong(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The gravest kind that was found. It determines the class of the failure.
    pub fn gravest(&self) -> Option<Difference> {
        Difference::ALL.into_iter().rev().find(|kind| self.counts[*kind as usize] > 0)
    }
}

/// The byte that fills output memory before a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Poison(pub u8);

impl Poison {
    /// The usual poison: neither zero nor a small number in any type, and an unlikely negative number as a
    /// float of any width.
    pub const FIRST: Self = Self(0xB5);
    /// The poison of a second run, for an expected output that looks like the first poison.
    pub const SECOND: Self = Self(0x4A);

    /// The bits of an element that was not written.
    pub(crate) fn bits(self, element_size: usize) -> u64 {
        bits(&[self.0; 8][..element_size.min(8)])
    }
}

/// The bytes of an element, at most eight, as a number.
pub(crate) fn bits(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// Whether the tensor's elements lie side by side, in the order of coordinates.
pub(crate) fn is_packed(tensor: &Tensor) -> bool {
    match (&tensor.sizes, &tensor.strides) {
        (_, None) => true,
        (None, _) => false,
        (Some(sizes), Some(strides)) => {
            let packed = packed_strides(sizes);
            sizes
                .iter()
                .zip(strides)
                .zip(packed)
                .all(|((&size, &stride), packed)| size == 1 || stride == packed)
        }
    }
}

/// Whether every element of the tensor is equal in both memories. Holes and tails are ignored. Memory that is
/// too short for an element counts as different.
pub(crate) fn same_elements(tensor: &Tensor, expected: &[u8], actual: &[u8]) -> bool {
    let (Some(sizes), Some(size)) = (&tensor.sizes, tensor.data_type.element_size()) else { return false };
    if is_packed(tensor) {
        let bytes = usize::try_from(element_count(sizes)).ok().and_then(|count| count.checked_mul(size));
        return bytes.is_some_and(|bytes| {
            expected
                .get(..bytes)
                .zip(actual.get(..bytes))
                .is_some_and(|(expected, actual)| expected == actual)
        });
    }
    Offsets::new(sizes, tensor.strides.as_deref()).all(|offset| {
        let at = |memory| element(memory, offset, size);
        at(expected).zip(at(actual)).is_some_and(|(expected, actual)| expected == actual)
    })
}

/// The bytes of the element at an offset.
pub(crate) fn element(memory: &[u8], offset: u64, size: usize) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?.checked_mul(size)?;
    memory.get(start..start.checked_add(size)?)
}

/// Compares every element. `poisoned` holds the outputs of all runs on the same data, each with its own
/// poison. An element is unwritten only if each of these outputs still holds its poison there: a written
/// value may look like one poison.
pub(crate) fn differences(
    tensor: &Tensor,
    expected: &[u8],
    actual: &[u8],
    poisoned: &[(&[u8], Poison)],
) -> Differences {
    let mut found = Differences::default();
    let (Some(sizes), Some(size)) = (&tensor.sizes, tensor.data_type.element_size()) else { return found };
    for (index, offset) in Offsets::new(sizes, tensor.strides.as_deref()).enumerate() {
        let (Some(expected), Some(actual)) = (element(expected, offset, size), element(actual, offset, size))
        else {
            break;
        };
        found.elements += 1;
        if expected == actual {
            continue;
        }
        let (expected, actual) = (bits(expected), bits(actual));
        let still_holds = |(memory, poison): &(&[u8], Poison)| {
            element(memory, offset, size).is_some_and(|element| bits(element) == poison.bits(size))
        };
        let unwritten = !poisoned.is_empty() && poisoned.iter().all(still_holds);
        let difference =
            if unwritten { Difference::Unwritten } else { classify(tensor.data_type, expected, actual) };
        found.counts[difference as usize] += 1;
        if found.first.len() < Differences::KEPT {
            let coordinates = coordinates_of(index as u64, sizes);
            found.first.push(WrongElement { coordinates, difference, expected, actual });
        }
    }
    found
}

/// Whether an element with its expected value would look unwritten. Memory between the elements, which need
/// not be written, holds this poison in `expected`, and no two elements overlap. So if more places hold the
/// poison than there are places without an element, an element holds it.
pub(crate) fn looks_poisoned(tensor: &Tensor, expected: &[u8], poison: Poison) -> bool {
    let (Some(sizes), Some(size)) = (&tensor.sizes, tensor.data_type.element_size()) else { return false };
    let elements = sizes.iter().fold(1, |count: usize, &size| count.saturating_mul(size.max(0) as usize));
    let is_packed = tensor.strides.is_none();
    match size {
        1 => has_poison::<1>(expected, elements, is_packed, poison),
        2 => has_poison::<2>(expected, elements, is_packed, poison),
        4 => has_poison::<4>(expected, elements, is_packed, poison),
        _ => has_poison::<8>(expected, elements, is_packed, poison),
    }
}

/// Whether one of this many elements must hold the poison. A constant width lets the compiler vectorise the
/// loops.
fn has_poison<const WIDTH: usize>(memory: &[u8], elements: usize, is_packed: bool, poison: Poison) -> bool {
    let (places, poison) = (memory.as_chunks::<WIDTH>().0, [poison.0; WIDTH]);
    // Packed elements are the first places. They were written one by one a moment before and are read one by
    // one: a wide load would wait until the narrow stores before it are in the cache.
    if let Some(packed) = places.get(..elements).filter(|_| is_packed) {
        return packed.contains(&poison);
    }
    let poisoned = places.iter().filter(|place| **place == poison).count();
    poisoned.saturating_add(elements) > places.len()
}

/// The kind of a difference between an expected element and one that was written.
fn classify(data_type: DataType, expected: u64, actual: u64) -> Difference {
    let Some(float) = float_of(data_type) else { return Difference::WrongValue };
    if float.is_nan(expected) && float.is_nan(actual) {
        Difference::NanCanonicalised
    } else if float.is_denormal(expected) && float.is_zero(actual) {
        Difference::DenormalFlushed
    } else if float.is_zero(expected) && float.is_zero(actual) {
        Difference::ZeroSign
    } else {
        Difference::WrongValue
    }
}

/// The fields of a floating-point type, as masks.
#[derive(Clone, Copy)]
pub(crate) struct Float {
    sign: u64,
    exponent: u64,
    fraction: u64,
}

/// The fields of a floating-point data type; `None` for other types.
pub(crate) fn float_of(data_type: DataType) -> Option<Float> {
    let (NumberKind::Float, width) = (data_type.number_kind()?, data_type.bits()?) else { return None };
    let fraction_bits = match width {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let fraction = (1 << fraction_bits) - 1;
    let sign = 1 << (width - 1);
    Some(Float { sign, exponent: (sign - 1) & !fraction, fraction })
}

impl Float {
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & self.exponent == self.exponent && bits & self.fraction != 0
    }

    /// Whether this is a NaN with the first fraction bit clear: IEEE 754, section 6.2.1.
    pub(crate) fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & (self.fraction + 1) >> 1 == 0
    }

    pub(crate) fn is_zero(self, bits: u64) -> bool {
        bits & !self.sign == 0
    }

    pub(crate) fn is_denormal(self, bits: u64) -> bool {
        bits & self.exponent == 0 && bits & self.fraction != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(data_type: DataType, sizes: &[i64]) -> Tensor {
        Tensor::packed(data_type, List::from_slice(sizes))
    }

    fn kinds(data_type: DataType, expected: u64, actual: u64) -> Difference {
        classify(data_type, expected, actual)
    }

    #[test]
    fn floats_that_arithmetic_spoiled_are_classes_of_their_own() {
        for (data_type, nan, quiet, denormal, sign) in [
            (DataType::FLOAT16, 0x7c01, 0x7e00, 0x0001, 0x8000),
            (DataType::FLOAT32, 0x7f80_0001, 0x7fc0_0000, 0x0000_0001, 0x8000_0000),
            (DataType::FLOAT64, 0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_0000, 1, 1 << 63),
        ] {
            assert_eq!(kinds(data_type, nan, quiet), Difference::NanCanonicalised);
            assert_eq!(kinds(data_type, denormal, 0), Difference::DenormalFlushed);
            assert_eq!(kinds(data_type, denormal | sign, sign), Difference::DenormalFlushed);
            assert_eq!(kinds(data_type, sign, 0), Difference::ZeroSign);
            assert_eq!(kinds(data_type, quiet, 0), Difference::WrongValue);
            assert_eq!(kinds(data_type, nan & !1, quiet), Difference::WrongValue, "an infinity is no NaN");
        }
        assert_eq!(kinds(DataType::INT32, 0x7f80_0001, 0x7fc0_0000), Difference::WrongValue);
    }

    #[test]
    fn only_elements_count_in_a_strided_output() {
        let mut strided = tensor(DataType::UINT8, &[2, 2]);
        strided.strides = Some(List::from_slice(&[4, 2]));
        let expected = [1, 0, 2, 0, 3, 0, 4, 0];
        let actual = [1, 9, 2, 9, 3, 9, 4, 9];
        assert!(same_elements(&strided, &expected, &actual));
        let wrong = [1, 0, 2, 0, 7, 0, 4, 0];
        assert!(!same_elements(&strided, &expected, &wrong));
        let found = differences(&strided, &expected, &wrong, &[]);
        assert_eq!((found.elements, found.wrong()), (4, 1));
        assert_eq!(found.first[0].coordinates.as_slice(), [1, 0]);
    }

    #[test]
    fn the_tail_of_a_packed_output_is_not_compared() {
        let odd = tensor(DataType::UINT8, &[3]);
        assert!(same_elements(&odd, &[1, 2, 3, 0], &[1, 2, 3, 99]));
        assert!(!same_elements(&odd, &[1, 2], &[1, 2]), "memory that is too short holds nothing");
    }

    #[test]
    fn poison_left_in_place_is_unwritten_and_the_gravest_kind_names_the_output() {
        let words = tensor(DataType::FLOAT32, &[3]);
        let expected = [[1, 0, 0, 0], [0, 0, 0, 0x80], [3, 0, 0, 0]].concat();
        let actual = [[0xB5; 4], [0; 4], [3, 0, 0, 0]].concat();
        let found = differences(&words, &expected, &actual, &[(&actual, Poison::FIRST)]);
        assert_eq!(found.counts, [1, 0, 0, 1, 0]);
        assert_eq!(found.gravest(), Some(Difference::Unwritten));
    }

    #[test]
    fn what_looks_like_poison_over_one_fill_alone_was_written() {
        let bytes = tensor(DataType::UINT8, &[2]);
        let (one, other) = ([0xB5, 0xB5], [0xB5, 0x4A]);
        let fills = [(&one[..], Poison::FIRST), (&other[..], Poison::SECOND)];
        let kinds = |fills| {
            let found = differences(&bytes, &[1, 2], &one, fills).first;
            found.iter().map(|wrong| wrong.difference).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&fills[..1]), [Difference::Unwritten; 2]);
        assert_eq!(kinds(&fills), [Difference::WrongValue, Difference::Unwritten]);
    }

    #[test]
    fn results_that_look_like_poison_are_noticed_at_their_width() {
        let looks = |data_type, expected: &[u8], poison| {
            let elements = expected.len() as i64 / DataType::element_size(data_type).unwrap() as i64;
            looks_poisoned(&tensor(data_type, &[elements]), expected, poison)
        };
        assert!(looks(DataType::UINT8, &[1, 0xB5], Poison::FIRST));
        assert!(!looks(DataType::INT16, &[1, 0xB5, 0xB5, 1], Poison::FIRST));
        assert!(looks(DataType::FLOAT32, &[1, 1, 1, 1, 0xB5, 0xB5, 0xB5, 0xB5], Poison::FIRST));
        assert!(!looks(DataType::FLOAT64, &[0xB5; 8], Poison::SECOND));
    }

    #[test]
    fn holes_and_tails_do_not_look_like_poison() {
        let mut strided = tensor(DataType::UINT8, &[2, 2]);
        strided.strides = Some(List::from_slice(&[4, 2]));
        assert!(!looks_poisoned(&strided, &[1, 0xB5, 2, 0xB5, 3, 0xB5, 4, 0xB5], Poison::FIRST));
        assert!(looks_poisoned(&strided, &[1, 0xB5, 2, 0xB5, 0xB5, 0xB5, 4, 0xB5], Poison::FIRST));
        let odd = tensor(DataType::UINT8, &[3]);
        assert!(!looks_poisoned(&odd, &[1, 2, 3, 0xB5], Poison::FIRST));
    }

    #[test]
    fn strides_on_unit_axes_do_not_unpack_a_tensor() {
        let mut unit = tensor(DataType::FLOAT32, &[1, 3]);
        unit.strides = Some(List::from_slice(&[77, 1]));
        assert!(is_packed(&unit));
        unit.strides = Some(List::from_slice(&[3, 2]));
        assert!(!is_packed(&unit));
    }
}
