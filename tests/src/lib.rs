//! Tests that look at the house as a whole live in `tests/tests/`, a file a subject. This library has what tests of several
//! crates share, and depends on nothing, so that any of them can have it.

mod at_once;
#[cfg(target_os = "linux")]
mod locks;
mod scratch;

pub use at_once::at_once;
#[cfg(target_os = "linux")]
pub use locks::is_awaited;
pub use scratch::Scratch;
