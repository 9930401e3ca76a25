//! A stand-in for `DirectML.dll`: a test double, and **not DirectML**.
//!
//! Whoever tests a client of DirectML needs a library to load. The real one is Microsoft's, its terms keep it
//! to Windows, and it does not fail when it is asked to. This crate is another library with the same entry
//! points, `DMLCreateDevice` and `DMLCreateDevice1`, and the interfaces that dmlcts uses, for the three
//! operators that dmlcts knows. Of Direct3D 12 it wants buffers and copies; it has been seen to work on
//! Wine's. What it answers says something about the *client*: whether descs arrive as they were meant,
//! whether everything is bound where it should be, and what happens when a library fails. It says nothing
//! about DirectML, and whoever runs it is told so on standard error.
//!
//! # How it works
//!
//! [`operator`] reads the raw structs through their pointers and refuses what the pages do not allow,
//! [`tensor`] what holds of any tensor, [`level`] what came with which feature level. [`moves`] lists which
//! bytes go where. The COM side, which is compiled for Windows alone, records each such move as a
//! `CopyBufferRegion`. All rules are written by hand for this crate: it shares the raw types with its client,
//! and no line of what either knows. An operator that takes more than [`moves::MOST_MOVES`] of them is too
//! large for it: compiling that one fails with E_OUTOFMEMORY, standard error says why, and the device goes
//! on.
//!
//! It is stricter than the real library where strictness finds faults of a client:
//!
//! - A binding has to be a buffer with unordered access, at an offset that suits it, long enough, and inside
//!   its resource. Otherwise DirectML's device is removed, and standard error says why.
//! - A removed device of Direct3D has to be let go of. On Windows no other is created before; Wine creates as
//!   many as it is asked for, so the stand-in takes over: while anything holds on to one that it removed, it
//!   creates no device of its own. (Wine 10 does not implement removing a device either: there, the stand-in
//!   misuses it until Direct3D gives it up, with DXGI_ERROR_INVALID_CALL. Fences of a device that is removed
//!   so are not signalled, other than on Windows.)
//! - PADDING1 keeps its value in a *persistent* resource, which only the operator's initialiser fills; so
//!   does an operator whose input it owns. SLICE1 and PADDING1 copy through a *temporary* resource.
//!   Initialising needs a temporary one, too.
//! - An operator has to be initialised once before it is dispatched, even where its initialiser has nothing
//!   to do, and never again; and it is dispatched with the persistent resource that its initialiser was
//!   given.
//! - Descriptors are written for all that is bound, into the part of the heap that the binding table was
//!   given. They are those of constant buffers, other than DirectML's, and nothing reads them; so it is
//!   remembered where those of each dispatch lie: another dispatch whose descriptors lie there, too, removes
//!   the device, until the first one's command list is recorded anew, with another binding table.
//! - A command list has the barriers that it needs. Transitions of its own order the stand-in's copies, so
//!   that one that a client forgets changes no result; so [`barriers`] follows each buffer through the list,
//!   by the rules of Direct3D and DirectML, and where a barrier is missing or wrong, the device is removed.
//!
//! A library is not told of the copies and barriers that a client records itself. The stand-in takes the
//! place of the functions for them, in the table that all command lists of the process share, so that it must
//! not be unloaded. On a Direct3D whose lists have a table each, barriers are not judged, and standard error
//! says so.
//!
//! # Figures
//!
//! `cargo bench -p dmlcts --bench directml -- stand-in` measures whole runs on the stand-in. These are no
//! figures of DirectML: they are of Wine 10 on lavapipe, on two cores that other programs used as well (load
//! 4.1 to 4.6). Thousands of cases a second, the median of five seconds, with the slowest and the fastest:
//!
//! | | 1 thread | 2 threads | 1 process | 2 processes |
//! |---|---|---|---|---|
//! | created and refused | 276 (264 to 350) | 323 (300 to 358) | 174 (147 to 231) | 208 (161 to 223) |
//! | created, compiled and dispatched | 16 (14 to 17) | 15 (13 to 18) | 10 (9 to 16) | 11 (9 to 18) |
//!
//! A second thread gains nothing with a dispatch: lavapipe executes one list at a time, on a thread of its
//! own.
//!
//! # Misbehaving on purpose
//!
//! The variable `DMLCTS_STAND_IN`, read when the first device is created, makes it fail: see
//! [`misbehaviour`].

use std::ffi::CStr;

pub mod barriers;
pub mod binding;
pub mod descriptors;
pub mod initialization;
pub mod level;
pub mod misbehaviour;
pub mod moves;
pub mod operator;
pub mod tensor;

#[cfg(windows)]
mod com;

/// What it calls itself, wherever it can say so.
pub const DESCRIPTION: &CStr = match CStr::from_bytes_with_nul(
    concat!("dmlcts stand-in ", env!("CARGO_PKG_VERSION"), ": a test double, not DirectML\0").as_bytes(),
) {
    Ok(description) => description,
    Err(_) => panic!("it ends with a zero, and has no other"),
};
