//! Known failures: the failures that are expected on a backend, so that only other failures fail a run.
//!
//! A [`KnownEntry`] selects cases, by a predicate or one by one, and says how they fail. [`reconcile`]
//! compares it with the result of a case, and [`conclude`] says what became of all its cases. Both functions
//! are in `table.rs`.

mod bounds;
mod failure;
mod kind;
mod list;
mod table;
mod tally;

pub use bounds::{Applies, BoundsForm, compare_versions, is_version};
pub use failure::KnownFailure;
pub use kind::{CauseKind, Status};
pub(crate) use list::Match;
pub use list::{KnownEntry, KnownFailures};
pub use table::{Conclusion, Fit, conclude, reconcile};
pub use tally::{KnownCounts, KnownTally, Smallest, SmallestCase};
