//! Fills write the elements of input tensors. The origin of a wrong element can be traced back from its
//! bytes.
//!
//! Elements are written in the order of memory, including holes, so that the bytes depend only on the fill,
//! the data type and the length. Every fill computes element `i` from `i` alone.

mod origin;
mod special;
pub mod word;

use crate::{DataType, Fill, NumberKind, float16};

pub use origin::{Origin, origin};

use word::word_at;

/// The size of an element in bytes, or 1 if it is not a whole number of bytes. Descs of such types are never
/// valid, so their bytes are never compared.
pub fn element_size(data_type: DataType) -> usize {
    data_type.element_size().unwrap_or(1)
}

/// The number of elements after which `iota` repeats: the greatest number up to which the type represents
/// every integer.
pub(crate) fn iota_period(data_type: DataType) -> u64 {
    let bits = element_size(data_type) as u32 * 8;
    match (data_type.number_kind(), bits) {
        // A significand of p bits represents every integer up to 2^p.
        (Some(NumberKind::Float), 16) => 1 << 11,
        (Some(NumberKind::Float), 32) => 1 << 24,
        (Some(NumberKind::Float), _) => 1 << 53,
        (Some(NumberKind::Signed), _) => (1 << (bits - 1)) - 1,
        _ => u64::MAX >> (64 - bits),
    }
}

/// The number of passes of `coordinates` that distinguish `elements` elements.
///
/// ```
/// use dmlcts_model::DataType;
/// assert_eq!(dmlcts_model::fill::passes(DataType::UINT8, 256), 1);
/// assert_eq!(dmlcts_model::fill::passes(DataType::UINT8, 257), 2);
/// ```
pub fn passes(data_type: DataType, elements: u64) -> u8 {
    let bits = element_size(data_type) as u32 * 8;
    let needed = 64 - elements.saturating_sub(1).leading_zeros();
    needed.div_ceil(bits).max(1) as u8
}

/// Writes a fill over a tensor's whole memory. If the memory ends within an element, writes the part of the
/// element that fits.
pub fn write(fill: &Fill, data_type: DataType, memory: &mut [u8]) {
    match fill {
        Fill::Iota => write_iota(data_type, memory),
        Fill::Coordinates { pass } => {
            let size = element_size(data_type);
            each_word(size, memory, |i| coordinate_bits(i, *pass, size));
        }
        Fill::Random { seed } => {
            each_element::<8>(memory, |index| word_at(*seed, index).to_le_bytes());
        }
        Fill::Special { seed } => special::write(*seed, data_type, memory),
        Fill::Explicit(bytes) => {
            let given = bytes.len().min(memory.len());
            memory[..given].copy_from_slice(&bytes[..given]);
            memory[given..].fill(0);
        }
    }
}

/// A value of a data type in the low bytes of a scalar union; the other bytes are zero. The bits of `word`
/// choose between a special value, which conversions would change, and random bits.
pub fn scalar(data_type: DataType, word: u64) -> [u8; 8] {
    if word & 1 == 0 {
        return special::scalar(word, data_type);
    }
    let unused = 64 - 8 * element_size(data_type) as u32;
    (word::mix(word) >> unused).to_le_bytes()
}

/// The words that choose each special value as a [`scalar`].
pub fn specials() -> impl Iterator<Item = u64> {
    (0..16).map(|choice| choice << 60)
}

/// Writes each element of `N` bytes. The constant size lets the compiler unroll the stores.
#[inline]
fn each_element<const N: usize>(memory: &mut [u8], mut element: impl FnMut(u64) -> [u8; N]) {
    let (whole, tail) = memory.as_chunks_mut::<N>();
    let count = whole.len() as u64;
    for (index, bytes) in (0..).zip(whole) {
        *bytes = element(index);
    }
    if !tail.is_empty() {
        tail.copy_from_slice(&element(count)[..tail.len()]);
    }
}

/// Writes the low `size` bytes of each word.
#[inline]
fn each_word(size: usize, memory: &mut [u8], word: impl Fn(u64) -> u64) {
    match size {
        1 => each_element::<1>(memory, |i| (word(i) as u8).to_le_bytes()),
        2 => each_element::<2>(memory, |i| (word(i) as u16).to_le_bytes()),
        4 => each_element::<4>(memory, |i| (word(i) as u32).to_le_bytes()),
        _ => each_element::<8>(memory, |i| word(i).to_le_bytes()),
    }
}

fn write_iota(data_type: DataType, memory: &mut [u8]) {
    // Each period is written separately, so that the inner loops only count.
    let size = element_size(data_type);
    let period = usize::try_from(iota_period(data_type)).unwrap_or(usize::MAX);
    for stretch in memory.chunks_mut(period.saturating_mul(size)) {
        match (data_type.number_kind(), size) {
            (Some(NumberKind::Float), 2) => {
                each_element::<2>(stretch, |i| float16::from_f64((i + 1) as f64).to_le_bytes());
            }
            (Some(NumberKind::Float), 4) => {
                each_element::<4>(stretch, |i| ((i + 1) as u32 as f32).to_le_bytes());
            }
            (Some(NumberKind::Float), _) => each_element::<8>(stretch, |i| ((i + 1) as f64).to_le_bytes()),
            _ => each_word(size, stretch, |i| i + 1),
        }
    }
}

/// The group of bits with index `pass` in an element's index. A group is as wide as an element of `size`
/// bytes.
fn coordinate_bits(index: u64, pass: u8, size: usize) -> u64 {
    let shift = u32::from(pass) * size as u32 * 8;
    let group = index.checked_shr(shift).unwrap_or(0);
    if size >= 8 { group } else { group & ((1 << (size * 8)) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(fill: &Fill, data_type: DataType, length: usize) -> Vec<u8> {
        let mut memory = vec![0xCC; length];
        write(fill, data_type, &mut memory);
        memory
    }

    #[test]
    fn iota_counts_from_one_in_every_type() {
        let floats = bytes(&Fill::Iota, DataType::FLOAT32, 12);
        assert_eq!(floats, [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat());
        assert_eq!(bytes(&Fill::Iota, DataType::FLOAT16, 4), [0x00, 0x3C, 0x00, 0x40]);
        let narrow = bytes(&Fill::Iota, DataType::INT8, 130);
        assert_eq!((narrow[126], narrow[127], narrow[128]), (127, 1, 2), "starts again, and is never 0");
        let unsigned = bytes(&Fill::Iota, DataType::UINT8, 257);
        assert_eq!((unsigned[254], unsigned[255]), (255, 1));
        let half = bytes(&Fill::Iota, DataType::FLOAT16, 2 * 2050);
        assert_eq!(half[2 * 2048..2 * 2049], [0x00, 0x3C]);
    }

    #[test]
    fn coordinates_hold_the_index_group_by_group() {
        let low = bytes(&Fill::Coordinates { pass: 0 }, DataType::UINT8, 600);
        let high = bytes(&Fill::Coordinates { pass: 1 }, DataType::UINT8, 600);
        assert_eq!((low[599], high[599]), (87, 2));
        let wide = bytes(&Fill::Coordinates { pass: 0 }, DataType::FLOAT32, 12);
        assert_eq!(wide, [0_u32, 1, 2].map(u32::to_le_bytes).concat());
        assert_eq!(bytes(&Fill::Coordinates { pass: 9 }, DataType::UINT64, 16), [0; 16]);
        assert_eq!(passes(DataType::UINT16, 65_537), 2);
        assert_eq!(passes(DataType::UINT8, u64::from(u32::MAX)), 4);
        assert_eq!(passes(DataType::FLOAT64, 1), 1);
    }

    #[test]
    fn random_bytes_depend_on_the_seed_alone() {
        let fill = Fill::Random { seed: 5 };
        let long = bytes(&fill, DataType::FLOAT32, 1001);
        assert_eq!(long[..37], bytes(&fill, DataType::UINT8, 37), "a prefix, whatever the type");
        assert_ne!(long, bytes(&Fill::Random { seed: 6 }, DataType::FLOAT32, 1001));
    }

    #[test]
    fn explicit_bytes_end_in_zeros() {
        let fill = Fill::Explicit([1, 2, 3].into());
        assert_eq!(bytes(&fill, DataType::UINT8, 5), [1, 2, 3, 0, 0]);
        assert_eq!(bytes(&fill, DataType::UINT8, 2), [1, 2]);
    }

    #[test]
    fn a_cut_last_element_is_written_as_far_as_it_goes() {
        for fill in [Fill::Iota, Fill::Coordinates { pass: 0 }, Fill::Special { seed: 1 }] {
            let whole = bytes(&fill, DataType::FLOAT64, 24);
            assert_eq!(bytes(&fill, DataType::FLOAT64, 19), whole[..19]);
        }
    }

    #[test]
    fn types_without_a_size_are_filled_without_a_panic() {
        for data_type in [DataType::UNKNOWN, DataType::INT4, DataType(77)] {
            for fill in [Fill::Iota, Fill::Coordinates { pass: 3 }, Fill::Special { seed: 1 }] {
                bytes(&fill, data_type, 9);
            }
        }
    }
}
