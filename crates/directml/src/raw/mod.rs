//! What `DirectML.h` declares, as far as this project passes it to the library: spelled as there, and laid out as there.
//!
//! It is written by hand, since the crate `windows` lacks PADDING1, WRAP and every feature level above 5.0, and compiles
//! on Windows only. [`assertions`] states all of it in C++, for a compiler to hold against the header.

#![expect(non_camel_case_types, non_snake_case, reason = "the names are those of DirectML.h")]

mod assertions;
mod enumerations;
mod structures;

pub use assertions::assertions;
pub use enumerations::*;
pub use structures::*;

/// `DML_TENSOR_DIMENSION_COUNT_MAX1`: the most dimensions that any operator takes.
pub const DML_TENSOR_DIMENSION_COUNT_MAX1: u32 = 8;

/// `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`: what a binding's offset must be a multiple of, in bytes.
pub const DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT: u32 = 16;

/// `DML_TEMPORARY_BUFFER_ALIGNMENT`: what the offset of a temporary resource must be a multiple of, in bytes.
pub const DML_TEMPORARY_BUFFER_ALIGNMENT: u32 = 256;

/// `DML_PERSISTENT_BUFFER_ALIGNMENT`: what the offset of a persistent resource must be a multiple of, in bytes.
pub const DML_PERSISTENT_BUFFER_ALIGNMENT: u32 = 256;
