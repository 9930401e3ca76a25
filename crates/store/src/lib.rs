//! The folder of the findings of a backend: what is known to fail on it, one file a finding.
//!
//! People review the files, and a run with `--findings` expects what they say. [`FindingFile`] is the format,
//! field by field. [`Folder`] reads and writes the files, [`accept`] makes them from a recorded run, and
//! [`merge`] joins two folders.
//!
//! The folder may hold what a stranger put there: no link in it is followed, every file is checked against
//! its schema and the spec, and a file with mistakes is never replaced.

mod accept;
mod apply;
mod campaign;
mod check;
mod error;
mod folder;
mod form;
mod merge;
mod write;

pub use accept::{Accepted, AcceptedRun, Change, FailedCase, Refused, accept, add, regress};
pub use apply::{FailedCases, accept_run, add_run, cases, merge_folders, regress_findings, sentences};
pub use campaign::{Position, PositionFile};
pub use error::StoreError;
pub use folder::{Folder, Stored};
pub use form::{EvidenceForm, FindingFile, SeenForm};
pub use merge::{Conflict, Merged, merge};
