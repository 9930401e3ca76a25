//! The parts of `DirectML.h` that this project passes to the library, with the header's names and layouts.
//!
//! They are written by hand, because the crate `windows` lacks PADDING1, WRAP and every feature level above
//! 5.0, and compiles only on Windows. [`assertions`] states all of them in C++, so that a compiler can
//! compare them with the header.

#![expect(non_camel_case_types, non_snake_case, reason = "the names are those of DirectML.h")]

mod assertions;
mod enumerations;
mod structures;

pub use assertions::assertions;
pub use enumerations::*;
pub use structures::*;

/// `DML_TENSOR_DIMENSION_COUNT_MAX1`: the maximum number of dimensions of any operator.
pub const DML_TENSOR_DIMENSION_COUNT_MAX1: u32 = 8;

/// `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`: the offset of a binding is a multiple of this many bytes.
pub const DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT: u32 = 16;

/// `DML_TEMPORARY_BUFFER_ALIGNMENT`: the offset of a temporary resource is a multiple of this many bytes.
pub const DML_TEMPORARY_BUFFER_ALIGNMENT: u32 = 256;

/// `DML_PERSISTENT_BUFFER_ALIGNMENT`: the offset of a persistent resource is a multiple of this many bytes.
pub const DML_PERSISTENT_BUFFER_ALIGNMENT: u32 = 256;
