//! DirectML itself, on Direct3D 12: the library that the pages describe.
//!
//! [`raw`] spells the parts of `DirectML.h` that this project passes to the library, on every system, so that layouts
//! can be checked against the header where there is no Windows. The COM interfaces are those of the crate `windows`,
//! which has all of them (`Win32::AI::MachineLearning::DirectML`) and lacks only PADDING1 and the newer numbers.

#[cfg(any(windows, test))]
mod arrival;
mod error;
#[cfg(any(windows, test))]
mod gate;
pub mod marshal;
mod options;
#[cfg(any(windows, test))]
mod placement;
pub mod raw;

#[cfg(windows)]
mod direct3d;
#[cfg(not(windows))]
mod elsewhere;

#[cfg(windows)]
pub use self::direct3d::{DirectMl, DirectMlBackend};
#[cfg(not(windows))]
pub use self::elsewhere::{DirectMl, DirectMlBackend};
pub use error::OpenError;
pub use options::{Adapter, Options, OptionsError};
