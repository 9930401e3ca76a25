//! `packed`: the contents of `run` as 32-bit words in the body instead of columns of JSON, for backends that
//! ask for it. For a tiny case, most of the transfer time goes into numbers as text, and words avoid that.
//! With two processes, the reference answers a million cases of up to 64 elements 1.4 times as fast.

mod read;
#[cfg(test)]
mod tests;
mod write;

use serde::{Deserialize, Serialize};

pub use read::read_packed;
pub(crate) use write::Packed;

/// The length of a list that is a null pointer.
const NULL: u32 = u32::MAX;

/// `packed`, to the backend: like `run`, but words at the start of the body replace the columns of `run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PackedForm {
    /// The number of cases.
    pub cases: u64,
    /// The number of the question, for a backend that declares `ahead`; left out for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The operators' names. A case refers to an operator by its index in this list, from 0.
    pub operators: Vec<String>,
    /// The number of words at the start of the body, four bytes each, little-endian. The inputs' memory
    /// follows them.
    pub words: u64,
}

/// A word in a frame.
type Word = [u8; 4];
