//! `packed`: what `run` says in columns of JSON, as 32-bit words in the body, for backends that ask for it.
//! Most of what a tiny case takes on its way to a process and back is writing and reading numbers as text,
//! and words need neither.

mod read;
#[cfg(test)]
mod tests;
mod write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use read::read_packed;
pub(crate) use write::Packed;

/// The length of a list that is a null pointer.
const NULL: u32 = u32::MAX;

/// `packed`, to the backend: as `run`, but the body begins with words that say what `run` says in columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackedForm {
    /// How many cases.
    pub cases: u64,
    /// Which question it is, for a backend that says `ahead`; left out for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The operators' names. A case names one by its place in this list, from 0 on.
    pub operators: Vec<String>,
    /// How many words of four bytes each, little-endian, the body begins with. Behind them lies the inputs'
    /// memory.
    pub words: u64,
}

/// A word as it travels.
type Word = [u8; 4];
