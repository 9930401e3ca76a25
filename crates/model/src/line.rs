//! The case line: a case as one line of text. People can read, type and send it, and it rebuilds the same
//! case on every machine. This page is the format's specification.
//!
//! ```text
//! SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota
//! ```
//!
//! # Form
//!
//! A line consists of words that are separated by spaces or tabs. The first word is an operator, and the
//! second a data type. All others are `key=value`, in any order, with each key at most once. No word contains
//! a space, a quote or another character with a meaning in a shell, so that a line needs one pair of quotes
//! in sh, PowerShell and cmd.
//!
//! # Keys
//!
//! | key | value | default |
//! |---|---|---|
//! | `in`, `out` | the tensor's `Sizes`: a list | required, unless the tensor is null |
//! | `InputTensor`, `OutputTensor` | `null`: the pointer to the tensor desc is null, and no other key may describe the tensor | the pointer is not null |
//! | `InputTensor.DataType` | a data type | the line's second word |
//! | `InputTensor.DimensionCount` | `UINT` | the number of sizes; 0 if they are null |
//! | `InputTensor.Flags` | `UINT` | 0 |
//! | `InputTensor.Strides` | a list | null |
//! | `InputTensor.TotalTensorSizeInBytes` | `UINT64` | the bytes up to the end of the last element, rounded up to a multiple of four; 0 if the sizes or strides are invalid |
//! | `InputTensor.GuaranteedBaseOffsetAlignment` | `UINT` | 0 |
//! | `OutputTensor.…` | the same for the output | the same |
//! | a list member, such as `StartPadding` | a list | required |
//! | an enumeration, such as `PaddingMode` | an enumerator's name, or an `INT` | required |
//! | `DimensionCount` and other counts | `UINT` | the number of `in` sizes; 0 if there are none |
//! | a data type, such as `PaddingValueDataType` | a data type | the line's second word |
//! | a scalar union, such as `PaddingValue` | a scalar | all zero |
//! | another integer member | `UINT` or `INT` | 0 |
//! | `InputBinding.Offset`, `OutputBinding.Offset` | `UINT64`, in bytes | 0 |
//! | `fill` | a fill | `iota` |
//!
//! The members of an operator are those of its struct in `DirectML.h`.
//!
//! # Values
//!
//! - **Integers** are decimal, with a `-` if they are negative. An integer that its C type cannot hold is an
//!   error: `UINT` and `INT` have 32 bits, `UINT64` has 64.
//! - **Lists** are integers with commas between them. They are `UINT`s, except for the `INT` members of an
//!   operator. An empty value is an empty list, and `null` is a null pointer. A list may have any length up
//!   to 64, independently of the other lists.
//! - **Data types** are named as in `DirectML.h` without `DML_TENSOR_DATA_TYPE_`; `UNKNOWN` is code 0, and a
//!   bare number is a code.
//! - **Scalars** have two forms. A number of the line's data type sets the low bytes; the bytes above it are
//!   zero. `0x` and up to 16 hex digits set all eight bytes of the union as one number, most significant
//!   digit first.
//! - **Numbers** of an integer type are decimal integers. Those of a float type are decimal, such as `-1.5`
//!   or `1e-45`, or `inf`, `-inf`, `nan`, or `nan:0x` and the bits of a NaN.
//! - **Fills** have a [section of their own](#fills).
//!
//! A line states what a desc holds, whether or not it is valid: an invalid desc is a legal line. The same
//! applies to its fill.
//!
//! # Fills
//!
//! A fill says what the memory of the input holds. Elements are counted in the order of memory, from 0 and
//! with the holes of a strided input. The same fill gives the same bytes on every machine.
//!
//! | fill | element number `i` is | the first elements of a FLOAT32 input |
//! |---|---|---|
//! | `iota` | the number `i + 1`; the count restarts at 1 behind the greatest number up to which the type has every integer (127 for INT8, 255 for UINT8, 2048 for FLOAT16) | `iota`: 1, 2, 3, 4 |
//! | `coordinates` | the lowest bits of `i`, as they are; in a float type, small `i` are therefore zero and denormals, not the numbers 0, 1, 2 | `coordinates`: 0, 1e-45, 3e-45, 4e-45 |
//! | `coordinates:PASS` | the bits of `i` above those of the earlier passes, each as wide as the type; pass 0 is `coordinates`, and a pass beyond the 64 bits of `i` is all zero | `coordinates:1`: 0, 0, 0, 0 |
//! | `random:SEED` | random bits that depend on the seed and the place in memory; they may be a NaN | `random:0`: 8.193624e35, -7.409002e20, -1.2563074e-18, 1.9235948e28 |
//! | `special:SEED` | one of sixteen values that arithmetic or a conversion changes, chosen by the seed | `special:0`: -3.4028235e38, inf, nan, 16777218 |
//! | `explicit:BYTES` | what these bytes hold, with two hex digits per byte; missing bytes are zero, and bytes beyond the input are ignored | `explicit:0000803f`: 1, 0, 0, 0 |
//!
//! A seed is a number from 0 to 2^64 - 1, and a pass is one from 0 to 255. The special values of a float type
//! are quiet and signalling NaNs with different bits, both infinities, 0 and -0, denormals, and normal
//! numbers at the bounds of the type. Those of an integer type are 0, 1, the extremes and their neighbours,
//! patterns of bits, and numbers that a conversion to a float rounds.
//!
//! # The canonical form
//!
//! The program writes these words, with one space between them:
//!
//! - the operator
//! - the data type: the input's, or the output's if the input is null, or `UNKNOWN` if both are
//! - `in` and `out`
//! - the fields of both tensors that differ from their defaults
//! - the members, in the order of the struct
//! - the binding offsets
//! - the fill
//!
//! Lists, enumerations and the fill are always written. Everything else is written only if it differs from
//! its default. An enumerator or data type is written by name if it has one. A scalar is written as a number
//! if that sets all eight bytes. Reading the canonical form returns the same case, bit for bit.
//!
//! # Stability
//!
//! A line that is legal today will mean the same case in every later version. Later versions may add keys,
//! names and kinds of fill, but will not change defaults. The canonical form of a case may change only if a
//! new key is required to express it.

mod error;
mod parse;
#[cfg(test)]
mod tests;
mod words;
mod write;

use std::fmt;

pub use error::LineError;
pub use parse::parse;
pub use write::write;

use crate::Case;

/// The largest number of values of a list in a line. No list of DirectML has more than eight values, so a
/// longer list is a mistake.
pub const MAX_LIST_LENGTH: usize = 64;

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        write(self, &mut line);
        f.pad(&line)
    }
}
