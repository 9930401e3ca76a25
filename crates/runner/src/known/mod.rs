//! Known failures: the failures that are expected on a backend, so that only other failures fail a run.
//!
//! A file names a backend and its failures ([`KnownFailuresForm`] is the format, field by field). An entry
//! selects cases, by a predicate or one by one, and says how they fail. [`reconcile`] compares an entry with
//! the result of a case. After a complete run, [`conclude`] says whether the entry is still true. An entry
//! that is not true is an error with a suggested edit, so that lists stay current. Both functions are in
//! `table.rs`. A [`Blessing`] makes entries from the failures of a complete run.

mod again;
mod bless;
mod bounds;
mod entry;
mod failure;
mod form;
mod group;
mod keep;
mod list;
mod table;
mod tally;
mod write;

pub use bless::{BlessError, Blessed, Blessing};
pub use failure::KnownFailure;
pub use form::{BoundsForm, Kind, KnownFailureForm, KnownFailuresForm};
pub use list::KnownFailures;
pub(crate) use list::Match;
pub use table::{Conclusion, Fit, conclude, reconcile};
pub use tally::{KnownCounts, KnownTally};
