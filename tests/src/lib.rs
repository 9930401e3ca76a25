//! Helpers that tests of several crates share. The library depends on nothing, so that every crate can use
//! it. Tests of the project as a whole are in `tests/tests/it/`, one file for each subject.

mod at_once;
#[cfg(target_os = "linux")]
mod locks;
mod scratch;
mod wait;

pub use at_once::at_once;
#[cfg(target_os = "linux")]
pub use locks::is_awaited;
pub use scratch::Scratch;
pub use wait::wait_until;
