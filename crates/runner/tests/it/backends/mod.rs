//! Backends that misbehave in the way that the test's name says, and the results of their runs.

mod answers;
mod course;
mod in_flight;
mod known;
mod outputs;
mod questions;
mod record;
mod timings;
