//! Traces an element's bytes back to the input elements that hold them, so that a report of a wrong element
//! can name the input element that a backend read.

use super::{element_size, iota_period};
use crate::{DataType, Fill, NumberKind, float16};

/// The input elements that hold certain bytes: `first`, `first + period`, `first + 2 * period` and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The index of the first such element, in the order of memory.
    pub first: u64,
    /// The distance between them; `None` if the bytes occur once.
    pub period: Option<u64>,
}

impl Origin {
    /// The indices below `elements`.
    pub fn candidates(self, elements: u64) -> impl Iterator<Item = u64> {
        let step = self.period.unwrap_or(u64::MAX);
        std::iter::successors(Some(self.first), move |index| index.checked_add(step))
            .take_while(move |&index| index < elements)
    }
}

/// The possible origins of an element with these bytes. `None` if the fill repeats values irregularly or
/// never writes these bytes.
pub fn origin(fill: &Fill, data_type: DataType, element: &[u8]) -> Option<Origin> {
    let size = element_size(data_type);
    if element.len() != size {
        return None;
    }
    let mut word = [0; 8];
    word[..size].copy_from_slice(element);
    let bits = u64::from_le_bytes(word);
    match fill {
        Fill::Iota => {
            let period = iota_period(data_type);
            let number = number(bits, data_type)?;
            (1..=period).contains(&number).then(|| Origin { first: number - 1, period: Some(period) })
        }
        // A later pass repeats each group of bits over consecutive elements, which is no arithmetic
        // progression.
        Fill::Coordinates { pass: 0 } => {
            Some(Origin { first: bits, period: 1_u64.checked_shl(size as u32 * 8) })
        }
        Fill::Coordinates { .. } | Fill::Random { .. } | Fill::Special { .. } | Fill::Explicit(_) => None,
    }
}

/// The value of an element, if it is an integer and not negative.
fn number(bits: u64, data_type: DataType) -> Option<u64> {
    let value = match (data_type.number_kind()?, element_size(data_type)) {
        (NumberKind::Float, 2) => float16::to_f64(bits as u16),
        (NumberKind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
        (NumberKind::Float, _) => f64::from_bits(bits),
        // Integers that are negative, read as unsigned, exceed every period.
        _ => return Some(bits),
    };
    ((0.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_of_a_counting_fill_finds_itself() {
        for data_type in DataType::all().filter(|data_type| data_type.element_size().is_some()) {
            let size = element_size(data_type);
            for fill in [Fill::Iota, Fill::Coordinates { pass: 0 }] {
                let mut memory = vec![0; 3000 * size];
                crate::fill::write(&fill, data_type, &mut memory);
                for (index, element) in (0..).zip(memory.chunks(size)) {
                    let origin = origin(&fill, data_type, element).unwrap();
                    assert!(origin.candidates(3000).any(|found| found == index), "{data_type} {index}");
                    for candidate in origin.candidates(3000) {
                        assert_eq!(memory[candidate as usize * size..][..size], *element);
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_that_a_fill_never_writes_have_no_origin() {
        assert_eq!(origin(&Fill::Iota, DataType::FLOAT32, &0.5_f32.to_le_bytes()), None);
        assert_eq!(origin(&Fill::Iota, DataType::FLOAT32, &f32::NAN.to_le_bytes()), None);
        assert_eq!(origin(&Fill::Iota, DataType::INT8, &[0]), None);
        assert_eq!(origin(&Fill::Iota, DataType::INT8, &[0x80]), None);
        assert_eq!(origin(&Fill::Iota, DataType::FLOAT32, &[1]), None, "no element of this type");
        assert_eq!(origin(&Fill::Random { seed: 1 }, DataType::UINT8, &[1]), None);
        assert_eq!(origin(&Fill::Coordinates { pass: 1 }, DataType::UINT8, &[1]), None);
    }
}
