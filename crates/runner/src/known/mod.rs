//! Known failures: what is expected to fail on a backend, so that only news fails a run.
//!
//! A file names a backend and its failures ([`KnownFailuresForm`] is the format, field by field). An entry says which
//! cases fail, by a predicate or one by one, and in which way. [`reconcile`] holds what it says against what a case came to,
//! and after a complete run [`conclude`] says whether the entry is still true: lists that nobody corrects rot, so an
//! entry that is not is an error with a suggested edit. Both stand in one table, `table.rs`. A [`Blessing`] makes entries of
//! what failed in a whole run.

mod again;
mod bits;
mod bless;
mod bounds;
mod candidates;
mod entry;
mod form;
mod group;
mod keep;
mod list;
mod separate;
mod table;
mod tally;
mod write;

pub use bless::{BlessError, Blessed, Blessing};
pub use form::{BoundsForm, Kind, KnownFailureForm, KnownFailuresForm};
pub(crate) use list::Match;
pub use list::{KnownFailure, KnownFailures};
pub use table::{Conclusion, Fit, conclude, reconcile};
pub use tally::{KnownCounts, KnownTally};
