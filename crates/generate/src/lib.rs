//! From a suite and the spec to a stream of cases.

pub mod draw;
mod expansion;
pub mod fill;
pub mod radix;
mod strategy;
pub mod suite;

pub use expansion::{Expansion, Length, Part};
pub use suite::{Strategy, Suite, SuiteError};
