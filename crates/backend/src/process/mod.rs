//! The host of backends in other processes, which speak the [protocol](crate::protocol).
//!
//! A process is not trusted. The host checks every frame before it uses it. Whatever a process sends, prints
//! or omits is recorded as the outcome of a case, and a fresh process goes on with the next case. The host
//! never waits longer than the deadline of a case, allocates no memory because a process says so, and gives
//! every job of every batch an outcome.

mod answers;
mod child;
mod command;
mod deadline;
mod declared;
mod fault_search;
mod group;
mod health;
mod host;
mod incidents;
mod launcher;
mod notes;
mod poison;
mod probe;
mod shutdown;
mod start_error;
mod tail;

pub use child::end_all;
pub use command::{Command, CommandError};
pub use deadline::Deadline;
pub use host::Host;
pub use incidents::Incidents;
pub use launcher::Launcher;
pub use shutdown::Shutdowns;
pub use start_error::StartError;

use std::sync::{Mutex, MutexGuard, PoisonError};

use declared::Declared;

/// Locks a mutex, even if a thread panicked while it held it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
