//! The host of backend processes from outside, and the schemas of the protocol.

#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;
mod process;
mod schema;
