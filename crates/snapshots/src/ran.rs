//! Compares a run with the accepted snapshots of its backend, and writes those that changed.

use std::collections::BTreeMap;

use dmlcts_diagnose::{Diagnosis, EarlierFinding};
use dmlcts_results::{CaseForm, Header};
use dmlcts_runner::CaseResults;
use dmlcts_spec::Library;

use crate::{
    Changes, Examples, Folder, Snapshot, SnapshotError, check_name, compare, compare_examples, plain,
};

/// The name of the file of the examples.
pub(crate) const EXAMPLES: &str = "examples";

/// A run of a whole suite.
#[derive(Debug)]
pub struct Ran {
    /// What ran, and where.
    pub header: Header,
    /// What it came to.
    pub run: Diagnosis,
    /// The results of the examples of the pages, by line.
    pub examples: BTreeMap<String, CaseForm<'static>>,
}

impl Examples {
    /// The results of the examples among the cases, by line. `strategies` are the names of the run's
    /// strategies.
    pub fn among(
        cases: &CaseResults,
        strategies: &[String],
    ) -> impl Iterator<Item = (String, CaseForm<'static>)> {
        let examples = cases.iter().filter(|case| Self::has(case.line));
        examples.map(|case| {
            let form = CaseForm::of_result(&case, Library::embedded(), strategies);
            (case.line.to_owned(), form.into_owned())
        })
    }
}

impl Folder {
    /// The findings of the accepted snapshot of a suite in the folder of a backend. A run keeps their ids
    /// and predicates.
    ///
    /// # Errors
    ///
    /// A name is not that of a snapshot, or the file cannot be read.
    pub fn findings(&self, backend: &str, suite: &str) -> Result<Vec<EarlierFinding>, SnapshotError> {
        let path = self.accepted(&place(backend, suite)?);
        let Some(text) = self.text(&path)? else { return Ok(Vec::new()) };
        Ok(Snapshot::parse(&path.display().to_string(), &text)?.earlier(Library::embedded()))
    }

    /// Makes the snapshots of a run, and writes those that changed into the folder of a backend, for a
    /// review. Returns each with its name.
    ///
    /// # Errors
    ///
    /// The run does not show what the backend does, or a file cannot be read or written.
    pub fn propose_run(&self, backend: &str, ran: &Ran) -> Result<Vec<(String, Changes)>, SnapshotError> {
        let Ran { header, run, examples } = ran;
        let suite = header.selection.suite.as_ref().map_or("given", |suite| suite.name.as_str());
        let suite = place(backend, suite)?;
        // Before anything is written.
        Snapshot::new(header, run, None)?;
        let changes = self.propose(&suite, |path, text| {
            let old = text.map(|text| Snapshot::parse(path, text)).transpose()?;
            let mut new = Snapshot::new(header, run, old.as_ref())?;
            let changes = compare(old.as_ref(), &new);
            new.about.description = description(&changes);
            Ok((Some(new.to_text()).filter(|_| !changes.is_empty()), changes))
        })?;
        let mut all = vec![(suite, changes)];
        if let Some(mut new) = Examples::new(header, examples) {
            let place = format!("{backend}/{EXAMPLES}");
            let changes = self.propose(&place, |path, text| {
                let old = text.map(|text| Examples::parse(path, text)).transpose()?;
                if let Some(old) = &old {
                    new.keep(old);
                }
                let changes = compare_examples(old.as_ref(), &new);
                new.about.description = description(&changes);
                Ok((Some(new.to_text()).filter(|_| !changes.is_empty()), changes))
            })?;
            all.push((place, changes));
        }
        Ok(all)
    }
}

/// The name of the snapshot of a suite in the folder of a backend.
fn place(backend: &str, suite: &str) -> Result<String, SnapshotError> {
    let file = plain(suite);
    [backend, &file].into_iter().try_for_each(check_name)?;
    if file == EXAMPLES {
        return Err(SnapshotError::Reserved { suite: suite.to_owned() });
    }
    Ok(format!("{backend}/{file}"))
}

/// Why a file is written.
fn description(changes: &Changes) -> String {
    format!("{}; {}", changes.counts(), changes.cause)
}
