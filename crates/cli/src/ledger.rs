//! `--ledger PATH`: what a run answers to open questions, compared with what a file has of the same backend, and kept there.

use dmlcts_report::command;
use dmlcts_results::{Ledger, LedgerEntry, LedgerError, LedgerNews, SelectionForm};
use dmlcts_runner::{Ending, Summary};
use dmlcts_spec::Library;

use crate::problem::Problem;

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
                "--ledger compares the answers to all cases of a suite, and these cases were given one by one",
                "leave out --ledger: the summary names the answers; or name their suite by --suite, and choose them by --where",
            ));
        };
        Ledger::prepare(path)?;
        let options = command(&selection.words_of_answers());
        Ok(Some(Self { path: path.clone(), suite: suite.name.clone(), options }))
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

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}
