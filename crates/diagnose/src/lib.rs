//! Explains the failures of a run: turns them into findings. (The command `dmlcts explain` is another
//! thing: it shows what the spec says of a case.)
//!
//! A [`Finding`] is a set of failures with one cause, as far as a run can tell: a predicate that separates
//! them from the passes, and a small case. [`run()`] runs the cases and explains their failures while the
//! backend is still there. A [`RecordedRun`] is explained without a backend.
//!
//! The steps:
//!
//! 1. The outcomes of the run become labels for the search for predicates, which `dmlcts-findings` does. The
//!    search asks for fresh cases, which run alone.
//! 2. A finding that an earlier run found keeps its id and its words ([`EarlierFinding`]).
//! 3. Some failures of each finding run again alone. Those that come and go become a finding of their own.
//! 4. The first failure of each finding runs in a fresh backend. If it passes there, trials look for the
//!    cases that must run before it.
//! 5. A case of each finding is shrunk, as long as its predicate holds and it fails in the same way.
//!
//! What all this costs is limited by numbers of cases, and by the backend's time. [`LeftOut`] says what a
//! limit left out.

mod blind;
mod counterexample;
mod diagnosis;
mod earlier;
mod explain;
mod finding;
mod left_out;
mod membership;
mod options;
mod outcomes;
mod pattern;
mod predecessors;
mod recorded;
mod run;
mod shrink;
mod spending;
mod wording;

pub use diagnosis::Diagnosis;
pub use earlier::EarlierFinding;
pub use finding::{Counterexample, Finding, OtherFailures, Rule, Severity};
pub use left_out::{LeftOut, Limit};
pub use membership::Membership;
pub use options::ExplainOptions;
pub use pattern::{Pattern, pattern};
pub use recorded::RecordedRun;
pub use run::{Event, run};
