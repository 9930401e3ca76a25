//! The host of backends in other processes, which speak the [protocol](crate::protocol).
//!
//! A process is not trusted. Every frame is checked before anything is done with it; what a process sends, prints or
//! leaves out is its own failure, written down as the outcome of a case, and a fresh process goes on with the next one. The
//! host itself never waits longer than the deadline of a case, takes no memory on a process's word, and gives every job of
//! every batch an outcome.

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

use declared::Declared;
