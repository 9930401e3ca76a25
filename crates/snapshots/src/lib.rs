//! Regression snapshots: what a backend does on a suite, as a text that a person reviews and accepts.
//!
//! The spec determines a case that passes, so a snapshot does not store it. A snapshot stores deviations and
//! choices: findings, answers to open questions, how invalid descs are refused, and what the backend declares
//! to lack. A second file has the examples of the pages with the backend's outputs.
//!
//! # The format
//!
//! A file is one of insta's: a YAML header between lines of `---`, and a body. `cargo insta review` can
//! review it. The header is shown and not compared. A pending file lies beside the accepted one, with
//! `.new` at the end of its name.
//!
//! | line of the body | what it says |
//! |---|---|
//! | `finding ID` | starts a finding, in the order of the ids |
//! | `  CLASS where PREDICATE` | how its cases fail, and which. ` among invalid descs` may follow |
//! | `  CLASS of OPERATORS` | the same without a predicate |
//! | `  N of M cases; digest D` | the failures among the cases for which the predicate holds, and their digest |
//! | `  e.g. CASE: SENTENCE` | the smallest case as `dmlcts run` takes it, and its first wrong element |
//! | `further findings: …` | counts the findings that have no room |
//! | `chance   OPERATOR, SEVERITY: N of M cases` | how often cases of an operator fail by chance |
//! | `answers  QUESTION: ANSWER (N)` | the answers to an open question, with the numbers of cases |
//! | `refuses  all clauses: at PHASE, CODE` | how most clauses are refused, then each exception |
//! | `lacks    WHAT` | what the backend declares not to support |
//!
//! The digest changes if a finding gets or loses a case, or if a case fails in another way or with other
//! bytes.
//!
//! An entry `chance` has the failures that come and go, and those whose bytes differ from run to run. It
//! stays as accepted up to ten times its rate, and if no case fails. The severity is `crash or memory` or
//! `other`. Answers may differ from the accepted ones by the cases that fail at such rates.
//!
//! `info.header` and `info.body` are the digests of the header's values and of the body. A file that was
//! edited by hand does not fit them, and is refused. `info.lines` has two digits for each value of the header
//! and each line of the body, so that the error names the edited line.

mod answered;
mod chance;
mod changes;
mod compare;
mod digests;
mod error;
mod examples;
mod files;
mod header;
mod make;
mod parse;
mod ran;
mod snapshot;
#[cfg(test)]
mod tests;
mod write;

pub use chance::Chance;
pub use changes::{Change, Changes, Transition};
pub use compare::{compare, compare_examples};
pub use error::SnapshotError;
pub use examples::{Example, Examples};
pub use files::{Folder, Stored, check_name, check_text, plain};
pub use header::Metadata;
pub use make::entries;
pub use ran::Ran;
pub use snapshot::{Counts, Finding, Further, Place, Snapshot, Statement};
