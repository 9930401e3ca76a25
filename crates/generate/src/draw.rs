//! Number ranges in general-purpose crates change between versions, and cases must not change. So this module
//! contains the reduction to a range. The generator is that of fills.

use dmlcts_model::fill::word::STEP;
pub use dmlcts_model::fill::word::{mix, word_at};

/// Derives a seed from a seed and a text, such as the name of a part of a suite.
pub fn derive(seed: u64, text: &str) -> u64 {
    text.bytes().fold(mix(seed ^ STEP), |seed, byte| mix(seed ^ u64::from(byte)).wrapping_add(STEP))
}

/// A number below `bound`, from the low sixteen bits of a word; 0 if `bound` is 0. `bound` is at most 2^16.
/// This takes one multiplication, for words that decide several small choices. The bias is at most `bound` /
/// 2^16.
#[inline]
pub fn cut(word: u64, bound: usize) -> usize {
    (((word & 0xFFFF) * bound as u64) >> 16) as usize
}

/// A stream of draws.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The stream of a seed.
    #[inline]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream of the case at `index`. Streams of neighbouring indices are unrelated.
    #[inline]
    pub fn of_case(seed: u64, index: u64) -> Self {
        Self { state: word_at(seed, index) }
    }

    /// 64 random bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `bound`; 0 if `bound` is 0. It multiplies instead of dividing (Lemire, "Fast random
    /// integer generation in an interval", 2019). The bias is at most `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// An index into a slice of this length.
    #[inline]
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true with a probability of `numerator` in `denominator`.
    #[inline]
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// One of the elements; `None` if there are none.
    #[inline]
    pub fn pick<'items, T>(&mut self, items: &'items [T]) -> Option<&'items T> {
        let place = self.place(items.len());
        items.get(place)
    }

    /// A number from `low` to `high`, both included; `low` if the range is empty.
    #[inline]
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low).wrapping_add(1);
        if high < low { low } else { low.wrapping_add(self.below(span as u64) as i64) }
    }

    /// Puts the elements in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = self.place(end + 1);
            items.swap(end, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        // The first outputs of SplitMix64 for seed 0, as published by its authors.
        let mut draws = Draws::new(0);
        let words: Vec<u64> = (0..3).map(|_| draws.word()).collect();
        assert_eq!(words, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
        assert_eq!(word_at(0, 2), words[2]);
    }

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut draws = Draws::new(7);
        let mut seen = [0; 6];
        for _ in 0..6_000 {
            seen[draws.between(-2, 3) as usize % 6] += 1;
            assert!((-2..=3).contains(&draws.between(-2, 3)));
            assert_eq!(draws.below(1), 0);
            assert_eq!(draws.between(5, 4), 5);
        }
        assert_eq!(draws.below(0), 0);
        assert!(draws.pick::<u8>(&[]).is_none());
        let mut counts = [0_u32; 6];
        for _ in 0..6_000 {
            counts[draws.place(6)] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1_150).contains(&count)), "{counts:?}");
        let whole = draws.between(i64::MIN + 1, i64::MAX);
        assert_ne!(whole, draws.between(i64::MIN + 1, i64::MAX));
    }

    #[test]
    fn cuts_stay_within_their_bounds_and_reach_them_evenly() {
        let mut counts = [0_u32; 11];
        for word in 0..1 << 16 {
            counts[cut(word | 0xABC << 16, 11)] += 1;
        }
        assert!(counts.iter().all(|count| (5957..=5958).contains(count)), "{counts:?}");
        assert_eq!((cut(u64::MAX, 1 << 16), cut(u64::MAX, 0)), ((1 << 16) - 1, 0));
    }

    #[test]
    fn derived_seeds_depend_on_both_parts() {
        assert_ne!(derive(0, "a"), derive(0, "b"));
        assert_ne!(derive(0, "a"), derive(1, "a"));
        assert_ne!(derive(0, "ab"), derive(0, "ba"));
    }

    #[test]
    fn shuffling_keeps_every_element() {
        let mut items: Vec<u32> = (0..40).collect();
        Draws::new(3).shuffle(&mut items);
        assert_ne!(items, (0..40).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..40).collect::<Vec<_>>());
    }
}
