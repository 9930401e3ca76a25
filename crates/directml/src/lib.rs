//! DirectML itself, on Direct3D 12: the library that the pages describe. On Windows; elsewhere it says that it is not there.
//!
//! ```no_run
//! use dmlcts_directml::{DirectMl, Options};
//!
//! let directml = DirectMl::open(&Options::default())?; // the most powerful GPU
//! let backend = directml.backend(); // one a thread; all share the device
//! # Ok::<(), dmlcts_directml::OpenError>(())
//! ```
//!
//! [`Options`] says which adapter it is, and with which execution flags operators are compiled. `DirectML.dll` is loaded at
//! run time: the one beside the program, or the one that the variable `DMLCTS_DIRECTML` names, or the system's.
//!
//! # How a batch goes
//!
//! Each desc is [marshalled](marshal) and put to `CreateOperator`; nothing here judges it. Where it has runs, it is compiled, once
//! for all jobs of a batch with the same desc, and for later batches, too. Runs are gathered into flights. A flight is one
//! command list: what was uploaded is copied to one buffer for inputs and one for outputs, operators that are new are
//! initialised, each run is dispatched, and both buffers come back whole, with the poison and the guards that the runner put
//! there. The next batch is prepared meanwhile. A case that is large, and one whose flight did not arrive, runs alone.
//!
//! An operator is initialised once, by the first flight that has it, into a persistent resource of its own. Until that flight is
//! submitted, only the batch that compiled the operator knows of it; whoever uses it later has the device wait for that flight.
//! Where that flight does not start, the operator is dropped, and compiled afresh. An operator that owns its input is bound to
//! it when it is initialised, so each run has one of its own.
//!
//! What a case's binding offsets are kept to: modulo 256 bytes, or modulo the alignment that the tensor promises where that is
//! more, since many cases share a buffer.
//!
//! # How it ends
//!
//! | what happens | outcome |
//! |---|---|
//! | `CreateOperator` or `CompileOperator` fails | rejected, with the phase and the `HRESULT` |
//! | anything else fails | failed, with the phase, the call and the `HRESULT` |
//! | the device is removed | each case that was under way on it, whoever's, runs again alone, on a fresh device; the one that loses it again has failed, with the device's own reason; where none does, one of them tells of it |
//! | a flight takes longer than [`Options::timeout`] | the device is given up and removed, and the same holds; the one that takes as long again has timed out |
//! | no fresh device can be had | the run ends |
//! | a desc cannot be said in C | unsupported: a list that is longer or shorter than its count while all counts agree, or a count above [`marshal::MOST_DIMENSIONS`], which a library might believe |
//!
//! What is *supported* is what the device says: its feature level, and its answer for each data type. Where it is too old to be
//! asked, what is assumed stands behind its version; where it answers with any other error, nothing is known, and nothing starts.
//!
//! With the word `debug`, a failure is told with what the debug layers said of it, the newest messages only. They are about one
//! call where operators are created and compiled; what flights of several threads do is not told apart. An error of theirs with which nothing
//! failed is noted on standard error, the first as it is and others by their number, which a host tells whoever watches the run.
//!
//! # What it is not
//!
//! - Operators are compiled one by one. Graphs (`IDMLDevice1::CompileGraph`) are no goal: what is tested is the operator.
//! - It has never met the real library where this project is developed, which is on Linux. There it runs under Wine, with a
//!   stand-in for `DirectML.dll` of the project's own (`crates/directml/stand-in`), which calls itself one: results on it are
//!   reported as `directml-stand-in`.
//!
//! # When the device goes
//!
//! Whatever a backend has under way keeps it at a `gate`, which lets somebody be alone on the device only after all others have landed
//! and left. So a case that loses the device while it is alone did that itself, the losses of all others are known by then, and
//! whoever puts a fresh device in the place of the one that is gone is the last to hold on to that. On Windows it must be so:
//! Direct3D has one device an adapter and process, and fails to create one while anything holds on to a removed one.
//!
//! Memory that a device may still write to is never given back. A device that does not finish in time is removed, which ends what is
//! under way on it; where that does not help, as on Wine 10, what the flight uses is leaked, and the device with it.
//!
//! # Unsafe code
//!
//! The unsafe code of this crate lies in `direct3d/`, and a test of the project's walls sees to it. A desc's pointers exist only while
//! [`marshal::Marshalled::with`] runs. A flight owns what its command list refers to, and waits before it drops it. What holds on to
//! a device are flights, the `gate` and whoever is behind it, and what was leaked. Whoever is alone behind it is the last of them, unless
//! something was leaked.
//!
//! [`raw`] spells the parts of `DirectML.h` that this project passes to the library, on every system, so that layouts
//! can be held against the header where there is no Windows. The COM interfaces are those of the crate `windows`,
//! which has all of them (`Win32::AI::MachineLearning::DirectML`) and lacks only PADDING1 and the newer numbers.

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
