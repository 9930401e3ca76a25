//! The offsets of a flight's tensors in its buffers on the device.
//!
//! A case has binding offsets for its tensors, and a tensor may promise that its offset is a multiple of a
//! power of two. Many cases share one buffer, so an offset is kept modulo 256 bytes, or modulo the promised
//! alignment if that is greater.

use std::ops::Range;

/// The number of arena bytes that are uploaded before and after every tensor, so that writes out of bounds
/// are detected.
pub(crate) const GUARD: u64 = 32;

/// Offsets are kept modulo at least this.
const MODULUS: u64 = 256;

/// The offset of a tensor that is bound at `offset`, after the used part of the buffer, which ends at `end`.
/// `None` on overflow. `alignment` is what the tensor promises.
pub(crate) fn place(end: u64, offset: u64, alignment: u32) -> Option<u64> {
    let alignment = u64::from(alignment);
    let modulus = if alignment.is_power_of_two() { alignment.max(MODULUS) } else { MODULUS };
    let rest = offset % modulus;
    // At the start of a buffer, a tensor that promises more than `MODULUS` keeps its offset. Otherwise it
    // would move by a whole alignment.
    let least = if end == 0 && modulus > MODULUS { 0 } else { end.checked_add(GUARD)? };
    let rounds = least.saturating_sub(rest).div_ceil(modulus);
    rounds.checked_mul(modulus)?.checked_add(rest)
}

/// The location of a tensor's memory: in an arena of the batch, and on the device.
#[derive(Clone)]
pub(crate) struct ArenaPart {
    /// The range in the arena, with guards.
    pub(crate) whole: Range<usize>,
    /// The range in the arena, without guards.
    pub(crate) tensor: Range<usize>,
    /// The offset of the tensor on the device.
    pub(crate) at: u64,
}

impl ArenaPart {
    /// The part for a tensor at offset `at` on the device. `arena` is the size of the arena in bytes.
    pub(crate) fn new(arena: usize, tensor: &Range<usize>, at: u64) -> Self {
        let guard = GUARD as usize;
        let before = guard.min(tensor.start).min(at as usize);
        let whole = tensor.start - before..tensor.end.saturating_add(guard).min(arena);
        Self { whole, tensor: tensor.clone(), at }
    }

    /// The range on the device of a range within the part.
    pub(crate) fn on_device(&self, range: &Range<usize>) -> Range<usize> {
        // This does not underflow: before the tensor, a part has no more bytes than the device has.
        let start = self.at as usize + range.start - self.tensor.start;
        start..start + range.len()
    }

    /// The range of the tensor on the device.
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
