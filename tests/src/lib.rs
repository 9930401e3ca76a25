//! Tests that look at the house as a whole live in `tests/tests/`, a file a subject. This library has what tests of several
//! crates share, and depends on nothing, so that any of them can have it.

mod scratch;

pub use scratch::Scratch;
