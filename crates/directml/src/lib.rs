//! DirectML itself, on Direct3D 12: the library that the pages describe.
//!
//! [`raw`] spells the parts of `DirectML.h` that this project passes to the library, on every system, so that layouts
//! can be checked against the header where there is no Windows. The COM interfaces are those of the crate `windows`,
//! which has all of them (`Win32::AI::MachineLearning::DirectML`) and lacks only PADDING1 and the newer numbers.

pub mod marshal;
pub mod raw;
