//! The random words of fills. Cases must not change, so the generator is written here: SplitMix64 (Steele,
//! Lea and Flood, "Fast splittable pseudorandom number generators", 2014). It is not cryptographic.

/// The step between two states: 2^64 divided by the golden ratio, made odd.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finaliser: every bit of the result depends on every bit of the word.
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The word at `index` of the sequence of `seed`, in constant time.
#[inline]
pub fn word_at(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(STEP.wrapping_mul(index.wrapping_add(1))))
}
