//! A part of a run that several machines share.
//!
//! A case belongs to a part by the hash of its line, not by its index. So adding cases to a suite moves no
//! other case to another part, and one machine runs a case that two strategies make. Any program can compute
//! the part of a line: the first eight bytes of its BLAKE3 hash, least significant first, modulo the number
//! of parts. Cases of other parts are generated, too, which is cheap compared with running them.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// One part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Partition {
    /// The number of the part, from 1.
    part: u64,
    /// The number of parts.
    of: u64,
}

/// A text that is not a partition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no partition; write which of how many, such as 3/16: the first number from 1 to the second, and that at \
     most {most}",
    most = Partition::MOST
)]
pub struct PartitionError(pub String);

impl Partition {
    /// The maximum number of parts.
    pub const MOST: u64 = 1_000_000;

    /// Part `part` of `of` parts, counted from 1; `None` if there is no such part.
    pub fn new(part: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&part).then_some(Self { part, of }).filter(|_| of <= Self::MOST)
    }

    /// The number of this part, from 1.
    pub fn part(self) -> u64 {
        self.part
    }

    /// The number of parts.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Whether the case with this line belongs to this part.
    pub fn holds(self, line: &str) -> bool {
        let hash = blake3::hash(line.as_bytes());
        let first = hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        first % self.of == self.part - 1
    }
}

/// In the form `3/16`.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl<'de> Deserialize<'de> for Partition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Unchecked {
            part: u64,
            of: u64,
        }
        let Unchecked { part, of } = Unchecked::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format_args!("the part `{part}/{of}` is unknown to this program"));
        Self::new(part, of).ok_or_else(unknown)
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let digits =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let read = || {
            let (part, of) = text.split_once('/')?;
            Self::new(digits(part)?, digits(of)?)
        };
        read().ok_or_else(|| PartitionError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_read_and_written() {
        for text in ["1/1", "3/16", "16/16", "1/1000000"] {
            assert_eq!(text.parse::<Partition>().map(|partition| partition.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "3",
            "0/4",
            "5/4",
            "1/0",
            "-1/4",
            "+1/4",
            "1/ 4",
            "1/1000001",
            "1/2/3",
            "1/99999999999999999999",
        ] {
            assert!(text.parse::<Partition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_line_belongs_to_exactly_one_part_whatever_stands_around_it() {
        for of in [1, 2, 3, 16] {
            let mut sizes = vec![0; of as usize];
            for number in 0..1_000 {
                let line = format!("SLICE FLOAT32 in={number} out=1 fill=iota");
                let parts: Vec<u64> = (1..=of)
                    .filter(|part| Partition::new(*part, of).is_some_and(|part| part.holds(&line)))
                    .collect();
                assert_eq!(parts.len(), 1, "{line}");
                sizes[parts[0] as usize - 1] += 1;
            }
            assert!(sizes.iter().all(|size| size * of > 700), "{sizes:?}");
        }
    }

    /// Results that several versions of the program wrote can be merged, so the hash must never change.
    #[test]
    fn the_part_of_a_line_is_fixed() {
        let line = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
        let part = (1..=1_000).find(|part| Partition::new(*part, 1_000).is_some_and(|part| part.holds(line)));
        // Computed with the Python package `blake3`.
        assert_eq!(part, Some(692));
    }
}
