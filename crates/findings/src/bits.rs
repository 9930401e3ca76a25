//! Sets of cases, a bit each. A search compares thousands of such sets.

/// A set of numbers below a bound. Sets that are combined have the same bound.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// All numbers below a bound.
    pub(crate) fn all(bound: usize) -> Self {
        Self::of(&vec![(); bound], |()| true)
    }

    /// The indices of the items for which `holds` is true.
    pub(crate) fn of<T>(items: &[T], holds: impl Fn(&T) -> bool) -> Self {
        let word = |items: &[T]| items.iter().rev().fold(0, |word, item| word << 1 | u64::from(holds(item)));
        Self(items.chunks(64).map(word).collect())
    }

    /// The indices in both sets.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// The number of indices.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The number of indices in both sets.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    /// Whether an index is in the set.
    pub(crate) fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// Whether the set has no index.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_they_were_made_of() {
        let places: Vec<usize> = (0..130).collect();
        let of = |divisor: usize| Bits::of(&places, |place| place % divisor == 0);
        let (even, third) = (of(2), of(3));
        assert_eq!((even.count(), third.count(), even.common(&third)), (65, 44, 22));
        assert_eq!(even.and(&third), of(6));
        assert!(Bits::of(&places, |_| false).is_empty() && !even.is_empty());
        assert_eq!((Bits::all(130).count(), Bits::all(130).common(&third)), (130, 44));
    }
}
