//! The case line: a case as one line of text that a person can read, type and mail, and that rebuilds the
//! case exactly, on any machine. This page is the format's specification.
//!
//! ```text
//! SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota
//! ```
//!
//! # Form
//!
//! A line is words, separated by blanks or tabs. The first is an operator, the second a data type, and all
//! others are `key=value`, in any order, each key at most once. No word contains a blank, a quote or another
//! character that a shell would touch, so that a line needs one pair of quotes in sh, PowerShell and cmd.
//!
//! # Keys
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `in`, `out` | the tensor's `Sizes`: a list | an error, unless the tensor is null |
//! | `InputTensor`, `OutputTensor` | `null`: the pointer to the tensor desc is null, and no other key may speak of the tensor | the pointer is not null |
//! | `InputTensor.DataType` | a data type | the line's second word |
//! | `InputTensor.DimensionCount` | `UINT` | the number of sizes; 0 where they are null |
//! | `InputTensor.Flags` | `UINT` | 0 |
//! | `InputTensor.Strides` | a list | null |
//! | `InputTensor.TotalTensorSizeInBytes` | `UINT64` | what sizes, strides and data type need, see [`Tensor::usual_total_size`](crate::Tensor::usual_total_size) |
//! | `InputTensor.GuaranteedBaseOffsetAlignment` | `UINT` | 0 |
//! | `OutputTensor.…` | the same for the output | the same |
//! | a list member, such as `StartPadding` | a list | an error |
//! | an enumeration, such as `PaddingMode` | an enumerator's name, or an `INT` | an error |
//! | `DimensionCount` and other counts | `UINT` | the number of `in` sizes; 0 where there are none |
//! | a data type, such as `PaddingValueDataType` | a data type | the line's second word |
//! | a scalar union, such as `PaddingValue` | a scalar | all zero |
//! | another integer member | `UINT` or `INT` | 0 |
//! | `InputBinding.Offset`, `OutputBinding.Offset` | `UINT64`, in bytes | 0 |
//! | `fill` | a fill | `iota` |
//!
//! Which members an operator has, and of what kind, comes from its [`Signature`](crate::Signature).
//!
//! # Values
//!
//! - **Integers** are decimal, with a `-` where they are negative. One that its C type cannot hold is an error:
//!   `UINT` and `INT` have 32 bits, `UINT64` has 64.
//! - **Lists** are integers with commas between them, `UINT`s but for the `INT` members of an operator. Nothing
//!   at all is an empty list, and `null` is a null pointer. A list may have any length up to
//!   [`MAX_LIST_LENGTH`], whatever the other lists have.
//! - **Data types** are named as in `DirectML.h` without `DML_TENSOR_DATA_TYPE_`; `UNKNOWN` is code 0, and a
//!   bare number is a code.
//! - **Scalars** are a number of the line's data type, as [`element_from_text`](crate::element_from_text) reads
//!   it, with zeroes in the bytes above it; or `0x` and up to 16 hex digits, which are all eight bytes of the
//!   union as one number, most significant digit first.
//! - **Fills** are `iota`, `coordinates` (the first pass) or `coordinates:PASS` (from 0), `random:SEED`,
//!   `special:SEED` and `explicit:BYTES`, with the bytes as two hex digits each, in the order of memory. See
//!   [`Fill`](crate::Fill) for what they put into the input.
//!
//! A line says what a desc holds, not what it should hold: an invalid desc is a legal line. The same goes for
//! its fill: `explicit` may give any number of bytes, of which those beyond the input are not looked at, and what
//! they leave of the input is zero; and a pass of `coordinates` beyond the 64 bits of an index is all zero.
//!
//! # The canonical form
//!
//! [`write()`] writes the operator, the data type (the input's, or the output's where the input is null, or
//! `UNKNOWN`), `in`, `out`, the fields of both tensors that are unusual, the members in the order of the
//! struct, the binding offsets and the fill, with one blank between them. Lists, enumerations and the fill
//! are always written; everything else only where its value is not the one that leaving it out means. An
//! enumerator or data type that has a name is written by it, and a scalar is a number wherever that says all
//! eight bytes. Reading the canonical form gives the case back, bit for bit.
//!
//! # Stability
//!
//! A line that reads today will read as the same case in every later version. Later versions may add keys,
//! names and kinds of fill, and they will not change what is meant where one is left out. The canonical form of
//! a case may only change where a new key is needed to say it.

mod error;
mod parse;
#[cfg(test)]
mod tests;
mod words;
mod write;

use std::fmt;

pub use error::LineError;

use crate::{Case, Signatures};

/// The most values that a list in a line may have. No list of DirectML has more than eight; a line is typed
/// or generated with a purpose, and one with a longer list is an accident.
pub const MAX_LIST_LENGTH: usize = 64;

/// Reads a line. See the [module's documentation](self) for the form.
pub fn parse(line: &str, signatures: &Signatures) -> Result<Case, LineError> {
    parse::parse(line, signatures)
}

/// Appends the canonical form of a case, without a line break.
pub fn write(case: &Case, out: &mut String) {
    write::write(case, out);
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        write(self, &mut line);
        f.pad(&line)
    }
}
