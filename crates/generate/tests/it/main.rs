//! Suites and vectors from outside: the cases that they hold, and the messages about mistakes in them.

#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;
mod composition;
mod counts;
mod fourth_operator;
mod judged;
mod mistakes;
mod schema;
mod vectors;
