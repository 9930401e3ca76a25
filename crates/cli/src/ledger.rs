//! `--ledger PATH`: what a run answers to open questions, compared with what a file has of the same backend, and kept there.

use dmlcts_report::command;
use dmlcts_results::{Ledger, LedgerEntry, LedgerError, LedgerNews, SelectionForm};
use dmlcts_runner::{Ending, Summary};
use dmlcts_spec::Library;

use crate::{arguments::RunArguments, problem::Problem};

/// A ledger that a run is entered in when it has ended.
pub(crate) struct LedgerOfRun {
    path: String,
    suite: String,
    /// The options beyond the suite that bear on which cases ran.
    options: String,
}

impl LedgerOfRun {
    /// Makes sure that the file is a ledger or none yet, and can be written: a run of hours must not end with a mistake that could
    /// have been told at once.
    pub(crate) fn open(path: Option<&String>, selection: &SelectionForm) -> Result<Option<Self>, Problem> {
        let Some(path) = path else { return Ok(None) };
        let Some(suite) = &selection.suite else {
            return Err(Problem::usage(
                "a ledger has the answers to the cases of a suite, and these were given one by one",
                "run a suite, or leave out --ledger",
            ));
        };
        Ledger::prepare(path)?;
        Ok(Some(Self { path: path.clone(), suite: suite.name.clone(), options: options(selection) }))
    }

    /// Enters a run, and says what changed.
    pub(crate) fn record(&self, summary: &Summary) -> Result<LedgerNews, Problem> {
        let is_complete =
            matches!(summary.ending, Ending::Complete | Ending::Limit) && summary.abandoned.is_empty();
        let run = LedgerEntry::new(
            &summary.capabilities,
            summary.level,
            (&self.suite, &self.options),
            Library::embedded().hash(),
            &summary.recorded,
        );
        Ok(Ledger::record(&self.path, run, is_complete)?)
    }
}

/// What was chosen of the suite, as options of `run`; nothing where it is the whole suite as usual.
fn options(selection: &SelectionForm) -> String {
    let mut words = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([option.to_owned(), value]);
        }
    };
    add("--where", selection.filter.clone());
    add("--strategy", Some(selection.strategies.join(",")).filter(|names| !names.is_empty()));
    add("--seed", Some(selection.seed).filter(|seed| *seed != 0).map(|seed| seed.to_string()));
    add("--feature-level", selection.feature_level.clone());
    add("--partition", selection.partition.map(|partition| partition.to_string()));
    add("--limit", selection.limit.map(|limit| limit.to_string()));
    let memory = Some(selection.memory).filter(|memory| *memory != RunArguments::DEFAULT_MEMORY);
    add("--memory", memory.map(|memory| memory.to_string()));
    command(&words)
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}
