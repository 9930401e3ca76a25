//! `DML_FEATURE_LEVEL`: the features that a device promises to support.

use std::{fmt, str::FromStr};

/// A `DML_FEATURE_LEVEL`, stored as its code: `0x2100` is level 2.1. Each level includes all earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureLevel(u32);

/// The codes of `DirectML.h`, in order.
const LEVELS: [FeatureLevel; 15] = {
    let mut levels = [FeatureLevel(0); 15];
    let codes = [
        0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000, 0x5100, 0x5200, 0x6000, 0x6100,
        0x6200, 0x6300, 0x6400,
    ];
    let mut i = 0;
    while i < codes.len() {
        levels[i] = FeatureLevel(codes[i]);
        i += 1;
    }
    levels
};

impl FeatureLevel {
    /// The newest level of `DirectML.h`.
    pub const NEWEST: Self = LEVELS[LEVELS.len() - 1];

    /// Every level of `DirectML.h`, oldest first.
    pub fn all() -> &'static [Self] {
        &LEVELS
    }

    /// The code in `DirectML.h`, such as `0x2100`.
    pub fn code(self) -> u32 {
        self.0
    }

    /// The level with this code.
    pub fn from_code(code: u32) -> Option<Self> {
        LEVELS.into_iter().find(|level| level.0 == code)
    }
}

/// A text that is not a feature level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a feature level; the levels are {all}", all = LEVELS.map(|level| level.to_string()).join(", "))]
pub struct FeatureLevelError(pub String);

impl FromStr for FeatureLevel {
    type Err = FeatureLevelError;

    /// Parses a level such as `2.1`, in the form of the pages' headings.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        LEVELS
            .into_iter()
            .find(|level| level.to_string() == text)
            .ok_or_else(|| FeatureLevelError(text.to_owned()))
    }
}

impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 >> 12, (self.0 >> 8) & 0xf)
    }
}

impl fmt::Debug for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_order_is_by_age() {
        for pair in LEVELS.windows(2) {
            assert!(pair[0] < pair[1]);
        }
        for level in LEVELS {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("2.2".parse::<FeatureLevel>().unwrap_err().to_string().contains("2.1"));
    }
}
