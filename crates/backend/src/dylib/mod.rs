//! Backends in shared libraries, which implement the ABI of `include/dmlcts_backend.h`.
//!
//! [`Dylib`] loads a library. A library can do anything to the process that loads it, so `dmlcts` loads it in
//! worker processes, where a crash harms only the worker.
//!
//! [`export!`](crate::export!) defines the functions of the ABI for a backend in Rust.

mod abi;
#[cfg(any(feature = "host", test))]
mod desc;
#[doc(hidden)]
pub mod export;
#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use host::{Dylib, DylibBackend, DylibError, DylibOperator};
