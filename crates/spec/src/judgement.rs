//! The result of judging a desc: the clauses that it breaks, keeps and keeps on their boundary, and the
//! questions that it raises. The sets are bit sets, so that copying them for millions of cases costs little.

use std::fmt;

/// A set of indices into [`Operator::clauses`](crate::Operator::clauses),
/// [`Operator::questions`](crate::Operator::questions) or the names of clauses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IdSet(u128);

impl IdSet {
    /// Indices are below this number; a spec with more clauses does not load.
    pub const CAPACITY: usize = 128;
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set as a number: bit `n` stands for index `n`.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// The set with these bits.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The set of one index, which must be below [`IdSet::CAPACITY`].
    #[must_use]
    pub fn of(place: usize) -> Self {
        debug_assert!(place < Self::CAPACITY);
        Self(1 << (place % Self::CAPACITY))
    }

    /// The indices below `count`.
    #[must_use]
    pub fn first(count: usize) -> Self {
        if count < Self::CAPACITY { Self((1 << count) - 1) } else { Self(u128::MAX) }
    }

    /// Adds an index.
    pub fn insert(&mut self, place: usize) {
        self.0 |= Self::of(place).0;
    }

    /// Removes an index.
    pub fn remove(&mut self, place: usize) {
        self.0 &= !Self::of(place).0;
    }

    /// Whether an index is in the set.
    pub fn contains(self, place: usize) -> bool {
        place < Self::CAPACITY && self.0 >> place & 1 == 1
    }

    /// The items of a list at these indices.
    pub fn items<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        self.iter().filter_map(|place| all.get(place))
    }

    /// Whether every index of the other set is in this one.
    pub fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// The indices that are in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The indices that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The indices that are in this set and not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of indices in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The indices, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let place = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                place
            })
        })
    }
}

impl FromIterator<usize> for IdSet {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let mut set = Self::EMPTY;
        places.into_iter().for_each(|place| set.insert(place));
        set
    }
}

impl fmt::Debug for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The result of judging one desc at one feature level. A clause that is in none of the first three sets was
/// not judged: one of its `given` clauses does not hold, or its condition is undefined for this desc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judgement {
    /// The clauses that the desc breaks.
    pub violated: IdSet,
    /// The clauses that it keeps.
    pub satisfied: IdSet,
    /// The clauses that the desc keeps on their boundary: a step of one would break them.
    pub boundary: IdSet,
    /// The questions that it raises.
    pub questions: IdSet,
}

impl Judgement {
    /// The verdict. Violations outrank questions: a desc that breaks a clause is invalid, even if it raises
    /// questions.
    pub fn validity(&self) -> Validity {
        if !self.violated.is_empty() {
            Validity::Invalid
        } else if self.questions.is_empty() {
            Validity::Valid
        } else {
            Validity::Open
        }
    }
}

/// Whether a desc is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Validity {
    /// The desc keeps every clause and raises no question. A backend must accept it.
    Valid,
    /// The desc breaks a clause. A backend must refuse it.
    Invalid,
    /// The desc breaks no clause, but raises a question.
    Open,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_list_what_was_put_in() {
        let set: IdSet = [127, 3, 64].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 127]);
        assert_eq!(set.len(), 3);
        assert!(set.contains(64) && !set.contains(4) && !set.contains(128));
        assert!(set.contains_all(IdSet::of(3)) && !IdSet::of(3).contains_all(set));
        assert_eq!(set.without(IdSet::of(3)).iter().next(), Some(64));
        assert_eq!(IdSet::EMPTY.iter().next(), None);
        assert_eq!(IdSet::first(3).iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((IdSet::first(0), IdSet::first(128).len()), (IdSet::EMPTY, 128));
    }

    #[test]
    fn violations_outrank_questions() {
        let open = Judgement { questions: IdSet::of(0), ..Judgement::default() };
        assert_eq!(Judgement::default().validity(), Validity::Valid);
        assert_eq!(open.validity(), Validity::Open);
        assert_eq!(Judgement { violated: IdSet::of(1), ..open }.validity(), Validity::Invalid);
    }
}
