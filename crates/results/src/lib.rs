//! Runs on disk. A results file is written during a run, and is read to resume it, to merge its parts, or to
//! compare two runs.
//!
//! # The format
//!
//! A results file is UTF-8 text with a JSON object per line. Each object has one key, which names the kind of
//! line. The types of this crate, and the types of the runner that they contain, are the specification of the
//! format; the JSON Schema `crates/results/schema/line.json` is generated from them.
//!
//! | line | when | what |
//! |---|---|---|
//! | `{"header":{…}}` | first | [`Header`]: everything needed to run the same cases again |
//! | `{"case":{…}}` | one per case, in the order of the cases | [`CaseForm`]: its index, line and verdict, and details unless it passed |
//! | `{"checkpoint":{…}}` | repeatedly | [`TotalsForm`]: the totals of all cases so far. `--resume` continues behind the last one |
//! | `{"summary":{…}}` | last | [`SummaryForm`]: why the run ended, and its totals |
//!
//! ```sh
//! jq -r '.case | select(.verdict == "fail") | .line' results.jsonl
//! ```
//!
//! New keys may appear without a new version, so readers ignore unknown keys. Verdicts, classes and similar
//! values are closed sets: an unknown value is an error of its line. A file without a summary belongs to a
//! run that was cut off; its last line may be incomplete and is ignored then.
//!
//! # Durability
//!
//! Lines are written as soon as a chunk of cases is done. A killed program loses the chunks in progress, and
//! no line that was written. A power cut loses at most the last [`UNSYNCED`] lines, since the writer syncs
//! the file before more lines are unsynced. A slow run syncs after each chunk.
//!
//! Each chunk ends with a checkpoint. If checkpoints would take more than a hundredth of the time, some
//! chunks have none. When no chunk follows, the missing checkpoint is written within a twentieth of a second.
//! `--resume` checks the number of lines against the checkpoints and runs the cases behind the last
//! checkpoint again. Unchanged lines stay in place. Changed ones are replaced once the same number of cases
//! has run again. So each case is in the file once, and a failed write leaves no fewer cases than before.

mod analysis;
mod convert;
mod count;
mod diff;
mod disagreement;
mod durable;
mod error;
mod file_lock;
mod findings;
mod folder;
mod form;
mod header;
mod line;
mod log;
mod merge;
mod read;
mod replace;
mod resume;
mod selection;
mod statement;
mod totals;
mod unknown_name;
mod write;

pub use analysis::Analysis;
pub use diff::{Change, ChangeKind, Compared, Comparison, Each, Side, Trend, compare};
pub use disagreement::Disagreement;
pub use durable::UNSYNCED;
pub use error::Error;
pub use file_lock::FileLock;
pub use findings::{FindingForm, RuleForm};
pub use folder::{check_file, entries, leftovers};
pub use form::{AnswerForm, CaseForm, DifferencesForm, OutcomeForm};
pub use header::{BackendForm, BackendOptions, Header, VERSION};
pub use line::{Line, SummaryForm};
pub use log::{CaseLog, Changed, Listed, OperatorCounts};
pub use merge::RunFiles;
pub use read::{Item, Reader};
pub use replace::{check_name, prepare_to_replace, replace, replace_entry};
pub use resume::Unfinished;
pub use selection::{Decides, FolderForm, GivenForm, ProfileEdition, SelectionForm, SuiteForm};
pub use statement::StatementForm;
pub use totals::{GroupForm, RefusalForm, SkippedForm, TotalsForm, VerdictsForm};
pub use unknown_name::UnknownName;
pub use write::Writer;
