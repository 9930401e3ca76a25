//! The search for causes, on faults with known causes.

mod causes;
mod faults;
mod learn;
