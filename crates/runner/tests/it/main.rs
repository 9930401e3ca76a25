//! Whole runs, on backends that behave as their test says.

mod backends;
mod bounds;
mod fixture;
