//! The number of cases of a suite or a part, which may be endless.

use std::fmt;

/// The number of cases.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Length {
    /// This number of cases.
    Finite(u128),
    /// Infinitely many cases.
    Endless,
}

impl Length {
    /// Whether there is a case at this index.
    pub fn contains(self, index: u128) -> bool {
        match self {
            Self::Finite(length) => index < length,
            Self::Endless => true,
        }
    }

    /// The sum of both lengths; saturates.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Finite(one), Self::Finite(other)) => Self::Finite(one.saturating_add(other)),
            _ => Self::Endless,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(length) => length.fmt(f),
            Self::Endless => f.write_str("endless"),
        }
    }
}
