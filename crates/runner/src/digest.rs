//! Digests of failures: 64-bit numbers that change if a case fails in another way or with other bytes.
//!
//! They are compared with those of files that other versions wrote: the hash must stay as it is.

use std::fmt;

use crate::Class;

/// An odd constant with bits in no order: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Digest(pub u64);

impl Digest {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut state = scramble(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            state = scramble(state ^ u64::from_le_bytes(word));
        }
        Self(state)
    }

    /// The hash of two hashes, in this order.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(scramble(scramble(self.0) ^ other.0))
    }

    /// The digest that [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

fn scramble(word: u64) -> u64 {
    let word = word.wrapping_add(STEP);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The digest of a failed case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseDigest {
    /// Of its line, and of the class of its failure.
    pub case: Digest,
    /// Of the output of the run that went wrong, if there was one.
    pub output: Option<Digest>,
}

impl CaseDigest {
    /// The digest of the case with this line, which failed in this way and with this output.
    pub fn new(line: &str, class: Class, output: Option<Digest>) -> Self {
        let case = Digest::of(line.as_bytes()).with(Digest::of(class.id().as_bytes()));
        Self { case, output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count_and_the_hash_stays() {
        let hashes = [&b""[..], b"\0", b"\0\0", b"12345678", b"123456789", b"123456780"].map(Digest::of);
        for (place, one) in hashes.iter().enumerate() {
            assert!(!hashes[..place].contains(one), "{place}");
        }
        // SplitMix64 of 0, as published; accepted files hold digests.
        assert_eq!(Digest::of(b"").to_string(), "e220a8397b1dcdaf");
        assert_eq!(Digest::parse("e220a8397b1dcdaf"), Some(Digest::of(b"")));
        for text in ["", "+220a8397b1dcdaf", "e220a8397b1dcda", "e220a8397b1dcdafa"] {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
    }
}
