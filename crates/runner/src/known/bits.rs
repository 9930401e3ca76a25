//! Sets of case indices, as bit sets.

/// A set of numbers below a bound.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The indices at which `held` is true.
    pub(super) fn new(held: impl IntoIterator<Item = bool>) -> Self {
        let mut words = Vec::new();
        for (place, held) in held.into_iter().enumerate() {
            if place % 64 == 0 {
                words.push(0);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(held) << (place % 64);
            }
        }
        Self(words)
    }

    /// The indices of the bytes that are not 0.
    pub(super) fn of_some(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 1 | u64::from(*byte != 0));
        Self(bytes.chunks(64).map(word).collect())
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    pub(super) fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one &= !other);
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The number of common elements.
    pub(super) fn common(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether this set is a superset of `other`.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| other & !one == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_they_were_made_of() {
        let bytes: Vec<u8> = (0..130).map(|place| place % 3).collect();
        let set = Bits::of_some(&bytes);
        assert!(set == Bits::new(bytes.iter().map(|byte| *byte != 0)));
        assert_eq!((set.count(), set.is_empty()), (86, false));
        let all = Bits::new(bytes.iter().map(|_| true));
        assert!(all.contains(&set) && !set.contains(&all));
        assert_eq!((all.common(&set), all.and(&set) == set), (86, true));
        let mut rest = all;
        rest.remove(&set);
        assert_eq!((rest.count(), rest.common(&set)), (44, 0));
    }
}
