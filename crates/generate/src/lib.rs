//! Generates a stream of cases from a suite and the spec, and shrinks failing cases.
//!
//! A [`Suite`] is a recipe in YAML: a list of parts, each a [`Strategy`] within bounds. [`Suite::expand`]
//! applies it to a spec and returns at once. The [`Expansion`] is lazy and has random access. Case `i`
//! depends only on the spec, the suite, the seed and `i`. Threads can therefore share the work without a
//! list, and a part with a billion cases needs no memory.
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
//! The crate knows no operator by name. Clauses on axes are *lowered* to constraints over an axis's sizes and
//! list values. A small *solver* finds tuples that satisfy them. It solves for unknowns that occur linearly
//! and enumerates the others, on one axis at a time. A desc consists of a setting (a value for each
//! enumeration), a data type and a tuple for each axis. Every proposal of the solver is judged before it
//! becomes a case.
//!
//! | module | content |
//! |---|---|
//! | [`suite`] | the YAML form of suites, and its checks |
//! | `expansion`, `certificate` | a suite applied to a spec; the coverage of a complete run |
//! | `space`, `pool` | an operator's descs as settings, types and tuples; tuples to draw from |
//! | `lower`, `solve` | constraints on one axis, lowered from clauses; their solutions |
//! | `strategy` | one file per strategy; `driver` and `neighbour` are shared by several |
//! | [`vectors`] | the test vectors of other projects, compared with the oracle |
//! | `crossed` | the factors that ways to break a clause are crossed with |
//! | `impossible` | the pairs of a way and a factor's value that no desc shows |
//! | [`fill`](mod@fill) | the content of inputs, and the origin of a wrong element; from `dmlcts-model` |
//! | [`draw`], [`radix`] | random numbers and mixed-radix numbers that never change |
//! | [`edit`] | the edits of descs that strategies, `mutate` and `shrink` share |
//! | `mutate` | one random change to a case |
//! | `shrink` | a smaller case that fails in the same way |

mod certificate;
mod crossed;
pub mod draw;
pub mod edit;
mod expansion;
mod impossible;
mod length;
mod lower;
mod mutate;
mod order;
mod pool;
pub mod radix;
mod shrink;
mod solve;
mod space;
mod strategy;
pub mod suite;
pub mod vectors;

pub use certificate::Certificate;
pub use crossed::{Crossed, Unmet};
pub use dmlcts_model::fill;
pub use expansion::{Expansion, Part};
pub use impossible::{Impossible, ImpossibleForm};
pub use length::Length;
pub use mutate::mutate;
pub use order::{Order, Sequence};
pub use shrink::{shrink, smaller};
pub use strategy::{Omitted, Row};
pub use suite::{Strategy, Suite, SuiteError};
