//! Where the tensors of a flight lie in its buffers on the device.
//!
//! A case says at which offset its tensors are bound, and a tensor may promise that its offset is a multiple of a power of
//! two. Many cases share one buffer, so an offset is kept modulo 256 bytes, or modulo what is promised where that is more.

use std::ops::Range;

/// Bytes of the batch's arena that go along before and behind every tensor, so that whoever writes beside it is found out.
pub(crate) const GUARD: u64 = 32;

/// What offsets are kept modulo at least.
const MODULUS: u64 = 256;

/// The place of a tensor of so many bytes that is bound at `offset`, behind what ends at `end`; `None` where it would lie
/// beyond all numbers. `alignment` is what the tensor promises.
pub(crate) fn place(end: u64, offset: u64, alignment: u32) -> Option<u64> {
    let alignment = u64::from(alignment);
    let modulus = if alignment.is_power_of_two() { alignment.max(MODULUS) } else { MODULUS };
    let rest = offset % modulus;
    // What promises this much lies at its offset and not a whole alignment behind it.
    let least = if end == 0 && modulus > MODULUS { 0 } else { end.checked_add(GUARD)? };
    let rounds = least.saturating_sub(rest).div_ceil(modulus);
    rounds.checked_mul(modulus)?.checked_add(rest)
}

/// Where a tensor's memory lies: in an arena of the batch, and on the device.
#[derive(Clone)]
pub(crate) struct Part {
    /// With its guards.
    pub(crate) whole: Range<usize>,
    /// Without.
    pub(crate) tensor: Range<usize>,
    /// Where the tensor starts on the device.
    pub(crate) at: u64,
}

impl Part {
    /// The part of an arena of so many bytes in which a tensor lies that starts at `at` on the device.
    pub(crate) fn new(arena: usize, tensor: &Range<usize>, at: u64) -> Self {
        let guard = GUARD as usize;
        let before = guard.min(tensor.start).min(at as usize);
        let whole = tensor.start - before..tensor.end.saturating_add(guard).min(arena);
        Self { whole, tensor: tensor.clone(), at }
    }

    /// Where a range of the part lies on the device.
    pub(crate) fn on_device(&self, range: &Range<usize>) -> Range<usize> {
        // No less than 0: a part takes along no more bytes before the tensor than there are on the device.
        let start = self.at as usize + range.start - self.tensor.start;
        start..start + range.len()
    }

    /// Where the tensor lies on the device.
    pub(crate) fn bytes(&self) -> Range<u64> {
        self.at..self.at + self.tensor.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_kept_modulo_what_matters() {
        assert_eq!(place(0, 0, 0), Some(256));
        assert_eq!(place(0, 64, 0), Some(64));
        assert_eq!(place(0, 16, 0), Some(272), "there is room for the guard");
        assert_eq!(place(300, 4, 16), Some(516), "an offset that is wrong stays wrong");
        assert_eq!(place(300, 64, 4096), Some(4160));
        assert_eq!(place(0, 0, 1 << 31), Some(0));
        assert_eq!(place(0, 64, 1 << 31), Some(64));
        assert_eq!(place(100, 64, 1 << 31), Some((1 << 31) + 64));
        assert_eq!(place(0, 100, 3), Some(100));
        assert_eq!(place(u64::MAX - 1, 0, 0), None);
        assert_eq!(place(u64::MAX - 40, 0, 1 << 31), None);
    }

    #[test]
    fn every_place_is_behind_the_end_and_its_guard() {
        for end in [1, 255, 256, 257, 1 << 20] {
            for offset in (0..2048).step_by(4) {
                let at = place(end, offset, 64).unwrap();
                assert!(at >= end + GUARD && at % 256 == offset % 256 && at < end + GUARD + 256);
            }
        }
    }
}
