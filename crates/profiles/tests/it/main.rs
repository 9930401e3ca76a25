//! Statements about whole runs, on backends that behave as their test says.

#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;
#[expect(dead_code, reason = "most of it is for the tests of the runner")]
#[path = "../../../runner/tests/it/fixture.rs"]
mod fixture;
mod schema;
mod statement;
