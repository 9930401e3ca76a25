//! DirectML on Direct3D 12: the library that the pages describe. It needs Windows; on other systems, opening
//! it returns an error.
//!
//! ```no_run
//! use dmlcts_directml::{DirectMl, Options};
//!
//! let directml = DirectMl::open(&Options::default())?; // the most powerful GPU
//! let backend = directml.backend(); // one a thread; all share the device
//! # Ok::<(), dmlcts_directml::OpenError>(())
//! ```
//!
//! [`Options`] selects the adapter and the execution flags for compiling operators. `DirectML.dll` is loaded
//! at run time: the file next to the program, or the file that the variable `DMLCTS_DIRECTML` names, or the
//! system's.
//!
//! # The path of a batch
//!
//! Each desc is [marshalled](marshal) and passed to `CreateOperator`. This crate does not validate it. If it
//! has runs, it is compiled once for all jobs of a batch with the same desc, and the result is kept for later
//! batches. Runs are gathered into flights. A flight is one command list: it copies the upload to one buffer
//! for inputs and one for outputs, initialises new operators, dispatches each run, and copies both buffers
//! back whole, with the poison and the guards of the runner. The next batch is prepared in the meantime. A
//! large case runs alone, and so does a case whose flight failed.
//!
//! An operator is initialised once, by the first flight that uses it, into a persistent resource of its own.
//! Until that flight is submitted, only the batch that compiled the operator uses it. In later flights, the
//! device waits for that flight first. If that flight does not start, the operator is dropped and compiled
//! again. An operator that owns its input is bound to it at its initialisation, so each run has an operator
//! of its own.
//!
//! Many cases share a buffer. So the binding offsets of a case are kept modulo 256 bytes, or modulo the
//! alignment that the tensor promises if that is greater.
//!
//! # Outcomes
//!
//! | event | outcome |
//! |---|---|
//! | `CreateOperator` or `CompileOperator` fails | rejected, with the phase and the `HRESULT` |
//! | another call fails | failed, with the phase, the call and the `HRESULT` |
//! | the device is removed | each case in flight on it, of any batch, runs again alone on a fresh device. A case that removes the device again has failed, with the device's own reason. If none does, one of the cases reports the removal |
//! | a flight takes longer than [`Options::timeout`] | the device is given up and removed, and its cases run again alone. A case that takes too long again has timed out |
//! | no fresh device can be opened | the run ends |
//! | a desc cannot be represented in C | unsupported: a list has another length than its count while all counts agree, or a count is above [`marshal::MOST_DIMENSIONS`], which a library might trust |
//!
//! The device itself reports what it *supports*: its feature level, and an answer for each data type. If the
//! library is too old for the question, the assumption is noted after its version. If the answer is any other
//! error, nothing is known, and nothing starts.
//!
//! With the word `debug`, a failure includes the newest messages of the debug layers. For creating and
//! compiling operators, they are about one call. For flights of several threads, they are not separated. An
//! error message without a failure is a note on standard error, which a host shows to the user of the run:
//! the first message in full, and later ones by their number.
//!
//! # Limits
//!
//! - Operators are compiled one by one. Graphs (`IDMLDevice1::CompileGraph`) are not a goal: the tests are
//!   about single operators.
//! - The crate is developed on Linux and has never run with the real library. There it runs under Wine, with
//!   the project's own stand-in for `DirectML.dll` (`crates/directml/stand-in`). The stand-in identifies
//!   itself: its results are reported as `directml-stand-in`.
//!
//! # Removed devices
//!
//! Everything that a backend has in flight keeps the device at a `gate`. The gate gives a backend exclusive
//! access only after the flights of all others have ended. So a case that loses the device while it is alone
//! caused the loss. All losses of other backends are known by then, and no other backend holds the removed
//! device when it is replaced. Windows requires this: Direct3D has one device for each adapter and process,
//! and creating one fails while anything holds a removed one.
//!
//! Memory that a device may still write to is never freed. A device that does not finish in time is removed,
//! which ends its work. If that does not help, as on Wine 10, the resources of the flight are leaked, and the
//! device with them.
//!
//! # Unsafe code
//!
//! The unsafe code of this crate is in `direct3d/`, which a test of the project checks. A desc's pointers
//! exist only while [`marshal::Marshalled::with`] runs. A flight owns everything that its command list refers
//! to, and waits before it drops it. Only flights, the `gate`, backends that have entered it, and leaked
//! flights hold a device. A backend with exclusive access is the last holder, unless something was leaked.
//!
//! [`raw`] declares the parts of `DirectML.h` that this project passes to the library, on every system, so
//! that layouts can be compared with the header without Windows. The COM interfaces are those of the crate
//! `windows`, which has all of them (`Win32::AI::MachineLearning::DirectML`). It lacks only PADDING1 and the
//! newer constants.

#[cfg(any(windows, test))]
mod arrival;
mod error;
#[cfg(any(windows, test))]
mod gate;
#[cfg(any(windows, test))]
mod loss;
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
