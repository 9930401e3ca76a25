//! `--ledger PATH`: records a run's answers to open questions in a file, and compares them with the file's
//! answers of the same backend.

use dmlcts_report::command;
use dmlcts_results::{Ledger, LedgerEntry, LedgerError, LedgerNews, SelectionForm};
use dmlcts_runner::{Ending, Summary};
use dmlcts_spec::Library;

use crate::problem::Problem;

/// A ledger, to which a run is added when it has ended.
pub(crate) struct LedgerOfRun {
    path: String,
    suite: String,
    /// The options beside the suite that affect the choice of cases.
    options: String,
}

impl LedgerOfRun {
    /// Checks that the file is a ledger or does not exist, and can be written. A run of hours must not end
    /// with an error that could have been reported at its start.
    pub(crate) fn open(path: Option<&String>, selection: &SelectionForm) -> Result<Option<Self>, Problem> {
        let Some(path) = path else { return Ok(None) };
        let Some(suite) = &selection.suite else {
            return Err(Problem::usage(
                "--ledger compares the answers to all cases of a suite, and these cases were given one by one",
                "leave out --ledger: the summary names the answers; or name their suite by --suite, and choose them by --where",
            ));
        };
        Ledger::prepare(path)?;
        let options = command(&selection.words_of_answers());
        Ok(Some(Self { path: path.clone(), suite: suite.name.clone(), options }))
    }

    /// Adds a run, and returns the changes.
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

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}
