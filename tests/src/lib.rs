//! Tests that look at the house as a whole. They live in `tests/tests/`, a file a subject; this library is
//! empty, so that the folder is a workspace member of its own and `cargo test --workspace` finds it.
