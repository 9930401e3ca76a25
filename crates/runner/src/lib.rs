//! Runs cases on a backend, compares its answers with the spec, and reports through events.
//!
//! A run has a number of *workers* and one *collector*. Each worker has its own thread and its own backend. A
//! worker takes a batch of consecutive case indices and reads the cases from the [`CaseSource`]. It judges
//! each case, fills its input and computes the expected output. Then the backend runs the batch, and the
//! worker gives each case a verdict ([`verdict_on`] is the table). The collector puts the results of the
//! batches in the order of the cases. It runs the first failure of each group again alone, and emits
//! [`Event`]s. Its reports do not depend on the number of threads. After the cases, [`run_then`] lends the
//! backend to those who explain the failures.
//!
//! The runner detects these faults of a backend:
//!
//! * *Not writing.* Output memory is poisoned before each run. Where the expected output looks like the first
//!   poison, the operator runs again over another poison.
//! * *Writing out of bounds.* Every output lies between guard bytes, and inputs are compared with a copy.
//! * *Remembering.* A sample of the created operators runs again on other data.
//! * *Calling supported descs unsupported.* The outcome is compared with the
//!   [capabilities](dmlcts_backend::Capabilities) that the backend declared.
//! * *Panicking.* The panic is caught, the cases of the batch run one by one to find the case that causes it,
//!   and the run goes on with a fresh backend.
//!
//! [`reconcile`] and [`conclude`] compare the results with the known failures of the backend.
//!
//! Memory is constant: a window of bounded width holds the results that wait, and the number of failure
//! groups is bounded. A case that is larger than the memory budget of a case is created but not run.

mod answers;
mod batch_result;
mod batch_sizer;
mod case_result;
mod cases_to_failure;
mod closed;
mod collect;
mod compare;
mod configuration;
mod deal;
mod desc_pool;
mod digest;
mod event;
mod examiner;
mod executor;
pub mod expect;
mod failure;
mod flake;
mod found;
mod judge_batch;
mod known;
mod panics;
mod partition;
mod prepare;
mod prepared_batch;
mod refusals;
mod run;
mod run_outcomes;
mod sensitivity;
mod shared;
mod side_by_side;
mod skipped;
mod source;
mod stop;
mod tally;
mod timings;
mod totals;
mod trace;
mod trials;
mod tried;
mod verdict;
mod worker;

pub use answers::{AnswerCount, Answers, CaseAnswer, FirstCase, QuestionAnswers};
pub use case_result::{CaseResult, CaseResults, Details};
pub use cases_to_failure::cases_to_failure;
pub use closed::Closed;
pub use compare::{Difference, Differences, Poison, WrongElement};
pub use configuration::{Configuration, Factory, Run, Runs};
pub use digest::{CaseDigest, Digest};
pub use event::{CutPart, Event, Summary};
pub use examiner::Examination;
pub use failure::{Evidence, Failure, Group};
pub use flake::Rate;
pub use found::{Found, FoundGroups, GroupKey};
pub use known::{
    Applies, BoundsForm, CauseKind, Conclusion, Fit, KnownCounts, KnownEntry, KnownFailure, KnownFailures,
    KnownTally, Smallest, SmallestCase, Status, compare_versions, conclude, is_version, reconcile,
};
pub use panics::silence_caught_panics;
pub use partition::{Partition, PartitionError};
pub use prepare::{OTHER_DATA, runs_on_other_data};
pub use prepared_batch::RunKind;
pub use refusals::{Refusal, Refusals};
pub use run::{Ended, RunError, run, run_then};
pub use run_outcomes::{Passes, RunOutcomes};
pub use sensitivity::{Sensitivities, Sensitivity};
pub use side_by_side::side_by_side;
pub use skipped::{Skipped, Undeclared};
pub use source::{CaseSource, Cursor, Listed, SuiteSource};
pub use stop::{Ending, Stop};
pub use tally::{Notes, Progress, Tally, Work};
pub use timings::Timings;
pub use totals::{Totals, Unexpected};
pub use trace::{Reads, first_wrong, origins, reads};
pub use trials::{Place, Rerun, Trials, Way};
pub use tried::{DataOf, Replayed, Tried};
pub use verdict::{Class, Ruling, Seen, Verdict, verdict_on};
