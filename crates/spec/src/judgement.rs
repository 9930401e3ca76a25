//! What judging says of a desc: which clauses it breaks, keeps and meets exactly, and which questions it
//! raises. Sets of bits, so that a run of millions of cases copies them without a thought.

use std::fmt;

/// A set of places in [`Operator::clauses`](crate::Operator::clauses) or
/// [`Operator::questions`](crate::Operator::questions).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IdSet(u128);

impl IdSet {
    /// How many places can be told apart; a spec with more clauses does not load.
    pub const CAPACITY: usize = 128;
    /// Nothing.
    pub const EMPTY: Self = Self(0);

    /// The set as a number: bit `n` stands for place `n`.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// The set that a number stands for.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The set of one place, which lies below [`IdSet::CAPACITY`].
    #[must_use]
    pub fn of(place: usize) -> Self {
        debug_assert!(place < Self::CAPACITY);
        Self(1 << (place % Self::CAPACITY))
    }

    /// The first places, so many of them.
    #[must_use]
    pub fn first(count: usize) -> Self {
        if count < Self::CAPACITY { Self((1 << count) - 1) } else { Self(u128::MAX) }
    }

    /// Adds a place.
    pub fn insert(&mut self, place: usize) {
        self.0 |= Self::of(place).0;
    }

    /// Takes a place out.
    pub fn remove(&mut self, place: usize) {
        self.0 &= !Self::of(place).0;
    }

    /// Whether a place is in the set.
    pub fn contains(self, place: usize) -> bool {
        place < Self::CAPACITY && self.0 >> place & 1 == 1
    }

    /// Whether every place of the other set is in this one.
    pub fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether the sets share a place.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What either set holds.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets hold.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What this set holds and the other does not.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many places are in it.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The places, in ascending order.
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

/// What judging one desc at one feature level says. Clauses that are in none of the three sets were not
/// judged: a clause that they build on (`given`) is broken, or what they say is undefined for this desc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judgement {
    /// The clauses that the desc breaks.
    pub violated: IdSet,
    /// The clauses that it keeps.
    pub satisfied: IdSet,
    /// The clauses that it keeps, but with nothing to spare: a step further and they break.
    pub boundary: IdSet,
    /// The questions that it raises.
    pub questions: IdSet,
}

impl Judgement {
    /// The verdict in one word. Violations outrank questions: a desc that breaks a clause is invalid,
    /// whatever else it leaves open.
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
    /// It keeps every clause and raises no question: it must be accepted.
    Valid,
    /// It breaks a clause: it must be refused.
    Invalid,
    /// It breaks none, but the pages leave open what becomes of it.
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
