//! Whole runs, on backends that behave as their test says.

mod backends;
#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;
mod bounds;
mod common;
mod schema;
