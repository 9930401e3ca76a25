//! Runs on disk: recorded while they go on, and read again to go on with them, to join and to compare them.
//!
//! # The format
//!
//! A results file is text in UTF-8, an object of JSON a line, each with one key that says what the line is. The types of
//! this crate are the format's specification, and `crates/results/schema/line.json` is the JSON Schema that follows from them.
//!
//! | line | when | what |
//! |---|---|---|
//! | `{"header":{…}}` | first | [`Header`]: everything that it takes to run the same again |
//! | `{"case":{…}}` | one a case, in the order of the cases | [`CaseForm`]: its index, its line, its verdict; what else there is to say where it did not just pass |
//! | `{"checkpoint":{…}}` | now and then | [`TotalsForm`]: what all cases so far came to. A run that was cut off goes on from the last one |
//! | `{"summary":{…}}` | last | [`SummaryForm`]: how the run ended, and what it came to |
//!
//! ```sh
//! jq -r '.case | select(.verdict == "fail") | .line' results.jsonl
//! ```
//!
//! Keys may be added without a new version, so readers pass over those that they do not know. Verdicts, classes and the like are closed
//! sets: a value outside of its set is an error of its line. A file without a summary is one whose run was cut off. Its last line may be torn, and is then no line.
//!
//! # What is kept of a run that is killed
//!
//! Lines are written when a chunk of cases is done, and a thread syncs the file to the disk without pause for as long as something in it is
//! not synced. A program that is killed loses what it was busy with, and nothing that was written. A machine that loses its power loses at
//! most [`UNSYNCED`] cases more, the last ones that were written: before there are more, the run waits for the disk.
//!
//! A checkpoint is written with the chunk that it stands behind. Only where chunks come so fast that checkpoints would take more than a hundredth
//! of the time, some have none, and then one follows as soon as no chunk does, within a twentieth of a second. Going on counts the
//! lines against the checkpoints and runs again what stands behind the last one: a torn chunk, or what a run that was to end has done behind a
//! case that it has not. What comes out the same stays where it is, and what does
//! not is replaced as soon as there are as many cases anew: every case stands in the file once, and where it cannot be written it has no
//! fewer cases than before.

mod convert;
mod count;
mod diff;
mod disagreement;
mod durable;
mod error;
mod form;
mod header;
mod known;
mod ledger;
mod merge;
mod read;
mod replace;
mod resume;
mod selection;
mod statement;
mod totals;
mod turn;
mod write;

pub use convert::Strange;
pub use diff::{Change, Comparison, Kind, Side, compare};
pub use disagreement::Disagreement;
pub use durable::UNSYNCED;
pub use error::Error;
pub use form::{AnswerForm, CaseForm, CutForm, DifferencesForm, Line, OutcomeForm, RateForm, SummaryForm};
pub use header::{Asked, BackendForm, Header, VERSION};
pub use known::{FirstForm, KnownForm};
pub use ledger::{
    Against, Ledger, LedgerAnswer, LedgerChange, LedgerEntry, LedgerError, LedgerForm, LedgerNews,
    LedgerQuestion,
};
pub use merge::Parts;
pub use read::{Item, Reader};
pub use replace::{check_name, prepare_to_replace, replace};
pub use resume::Unfinished;
pub use selection::{
    Decides, GivenForm, KnownFileForm, PartitionForm, ProfileEdition, SelectionForm, SuiteForm,
};
pub use statement::{FailingForm, ReservationForm, StatementForm};
pub use totals::{GroupForm, NotesForm, SkippedForm, TotalsForm, VerdictsForm, WorkForm};
pub use turn::Turn;
pub use write::Writer;
