//! From a suite and the spec to a stream of cases.

mod certificate;
pub mod draw;
mod expansion;
pub mod fill;
mod lower;
mod pool;
pub mod radix;
mod shrink;
mod solve;
mod space;
mod strategy;
pub mod suite;

pub use certificate::Certificate;
pub use expansion::{Expansion, Length, Part};
pub use shrink::shrink;
pub use strategy::Row;
pub use suite::{Strategy, Suite, SuiteError};
