//! From a suite and the spec to a stream of cases, and from a failing case to a small one.
//!
//! A [`Suite`] is a recipe in YAML: parts, each a [`Strategy`] within bounds. [`Suite::expand`] applies it to a spec
//! and returns at once, whatever the number of cases. The [`Expansion`] is lazy and random-access: case `i` is a
//! function of the spec, the suite, the seed and `i` alone, so that threads share the work without a list and a
//! partition of a billion cases needs no memory.
//!
//! ```
//! use dmlcts_generate::Suite;
//! use dmlcts_spec::Library;
//!
//! let suite = Suite::load("smoke")?;
//! let expansion = suite.expand(Library::embedded(), 0)?;
//! let mut case = expansion.blank().expect("the spec has operators");
//! expansion.case(0, &mut case);
//! println!("{case}");
//! # Ok::<(), dmlcts_generate::SuiteError>(())
//! ```
//!
//! # How cases are found
//!
//! No operator is known by name. Clauses that are stated on each axis are *lowered* to linear and other
//! constraints over that axis's sizes and list values, and a small *solver* finds tuples that keep them: it solves
//! for an unknown that occurs linearly, and enumerates one axis otherwise, never a whole case. A desc is a setting
//! (a value for each enumeration), a data type and a tuple for each axis; whatever the solver proposes is judged
//! before it becomes a case.
//!
//! | module | what it is |
//! |---|---|
//! | [`suite`] | the YAML form of suites, and what can be wrong with one |
//! | `expansion`, `certificate` | a suite applied to a spec; what a complete run has shown |
//! | `space`, `pool` | an operator's descs as settings, types and tuples; tuples to draw from |
//! | `lower`, `solve` | from clauses to constraints on one axis, and their solutions |
//! | `strategy` | one file a strategy |
//! | [`fill`] | what inputs hold, and where a wrong element came from |
//! | [`draw`], [`radix`] | random numbers and mixed-radix numbers that never change |
//! | `shrink` | a smaller case that fails alike |

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
