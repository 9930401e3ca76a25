//! The search for causes, on faults with known causes.

mod faults;
mod learn;
