//! Backends that misbehave, each in the way that its test's name says, and what a run makes of them.

mod answers;
mod course;
mod fixture;
mod in_flight;
mod known;
mod outputs;
mod questions;
mod record;
mod statement;
