//! Sets of cases, a bit each. A search compares thousands of such sets.

/// A set of numbers below a bound. Sets that are combined have the same bound.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// The indices at which `held` is true.
    pub(crate) fn new(held: impl IntoIterator<Item = bool>) -> Self {
        let (mut words, mut word, mut count) = (Vec::new(), 0, 0);
        for held in held {
            word |= u64::from(held) << count;
            count += 1;
            if count == 64 {
                words.push(word);
                (word, count) = (0, 0);
            }
        }
        if count > 0 {
            words.push(word);
        }
        Self(words)
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
        let of = |divisor: usize| Bits::new((0..130).map(|place| place % divisor == 0));
        let (even, third) = (of(2), of(3));
        assert_eq!((even.count(), third.count(), even.common(&third)), (65, 44, 22));
        assert_eq!(even.and(&third), of(6));
        assert!(Bits::new([false; 70]).is_empty() && !even.is_empty());
    }
}
