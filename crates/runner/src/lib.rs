//! Runs cases on a backend, holds what it does against what the spec says, and tells about it in events.
//!
//! A run has any number of *workers*, each on its own thread with its own backend, and one *collector*. A
//! worker takes a chunk of consecutive case indices, reads the cases from the [`Source`], judges each,
//! fills its input, computes what its output must be, has the backend run the batch, and rules on every case
//! ([`rule`] is the table). The collector puts the results of chunks in the order of the cases, runs the first
//! failure of each group again alone, looks for a smaller one, and emits [`Event`]s. What it reports does not
//! depend on the number of threads.
//!
//! What a backend cannot get away with:
//!
//! * *Not writing.* Output memory is poisoned before each run, and a second run with another poison follows
//!   where the expected output looks like the first.
//! * *Writing elsewhere.* Every output lies between guard bytes, and inputs are compared with a copy.
//! * *Remembering.* A sample of the created operators runs again with other data.
//! * *Calling things unsupported.* That is held against the [capabilities](dmlcts_backend::Capabilities) that
//!   it declared.
//! * *Panicking.* The panic is caught, the case that causes it is found by running the batch's cases one by one,
//!   and the run goes on with a fresh backend.
//!
//! What is known to fail on a backend is held against what happened by [`reconcile`] and [`conclude`]. What a run says of a
//! backend's conformance to a [`Profile`] is a [`Statement`].
//!
//! Memory is constant: results wait in a window of bounded width, failures are kept in a bounded number of
//! groups, and a case that is larger than its budget is created but not run.

mod alone;
mod answers;
mod batch_sizer;
mod case_result;
mod closed;
mod collect;
mod compare;
mod configuration;
mod deal;
mod desc_pool;
mod event;
mod executor;
mod expect;
mod flake;
mod found;
mod judge;
mod known;
mod panics;
mod partition;
mod prepare;
mod prepared_batch;
mod profile;
mod run;
mod sensitivity;
mod skipped;
mod source;
mod stop;
mod totals;
mod trace;
mod verdict;
mod worker;

pub use answers::{AnswerCount, Answers, Recorded, Said};
pub use case_result::{CaseResult, CaseResults, Details};
pub use compare::{Difference, Differences, Poison, WrongElement};
pub use configuration::{Configuration, Factory, Run, Runs};
pub use event::{CutPart, Event, Evidence, Failure, Group, Notes, Progress, Summary, Tally, Work};
pub use flake::Rate;
pub use found::{Found, FoundGroups, GroupKey};
pub use known::{
    BlessError, Blessed, Blessing, BoundsForm, Conclusion, Fit, Kind, KnownCounts, KnownFailure,
    KnownFailureForm, KnownFailures, KnownFailuresForm, KnownTally, conclude, reconcile,
};
pub use panics::is_caught_here;
pub use partition::{Partition, PartitionError};
pub use prepared_batch::RunKind;
pub use profile::{
    Claim, Conformity, Failing, Outdated, Profile, ProfileForm, PromisedForm, Reservation, ReservationKind,
    Statement, Withheld, promised,
};
pub use run::{RunError, run};
pub use sensitivity::{Sensitivities, Sensitivity};
pub use skipped::{Skipped, Undeclared};
pub use source::{Cursor, Listed, Source, SuiteSource};
pub use stop::{Ending, Stop};
pub use totals::{Totals, Unexpected};
pub use trace::{Reads, origins, reads};
pub use verdict::{Class, Ruling, Seen, Verdict, rule};
