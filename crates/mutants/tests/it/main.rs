//! The mutants: their faults have witnesses, and without a fault they are right.

mod faultless;
mod witnesses;
