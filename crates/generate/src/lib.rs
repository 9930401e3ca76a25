//! From a suite and the spec to a stream of cases.

pub mod draw;
pub mod fill;
pub mod radix;
