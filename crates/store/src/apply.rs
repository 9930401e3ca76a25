//! Writes what a run shows into a folder, and says what was written.

use std::{fmt::Write as _, path::Path};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::escaped;
use dmlcts_results::CaseForm;
use dmlcts_runner::{CaseResult, Event};
use dmlcts_spec::Library;

use crate::{
    Accepted, AcceptedRun, Change, Conflict, FailedCase, FindingFile, Folder, Merged, StoreError, Stored,
    accept, add, merge, regress,
};

/// The schema of a finding's file, from the root of this repository.
const SCHEMA: &str = "findings/schema.json";

/// The failed cases of a run.
#[derive(Clone, Debug, Default)]
pub struct FailedCases(pub Vec<FailedCase>);

impl FailedCases {
    /// Adds the failures of an event.
    pub fn on_event(&mut self, event: &Event<'_>) {
        if let Event::Cases { cases, .. } = event {
            self.0.extend(cases.iter().filter_map(failed));
        }
    }

    /// Adds the case of a line of a results file, if it failed.
    pub fn on_line(&mut self, line: &[u8]) {
        let passed = br#""verdict":"pass""#;
        if line.windows(passed.len()).any(|part| part == passed) {
            return;
        }
        let Some(form) = CaseForm::of_line(line) else { return };
        let outcome = form.outcome.as_ref().and_then(|outcome| outcome.outcome().ok());
        self.0.extend(form.class.zip(outcome).map(|(class, outcome)| FailedCase {
            line: form.line.to_string(),
            verdict: form.verdict,
            class,
            outcome,
            known: form.known.clone(),
        }));
    }
}

fn failed(case: CaseResult<'_>) -> Option<FailedCase> {
    let details = case.details?;
    Some(FailedCase {
        line: case.line.to_owned(),
        verdict: case.verdict,
        class: details.class?,
        outcome: details.outcome.clone(),
        known: details.known.as_ref().map(|known| known.id.clone()),
    })
}

/// Writes what a run changes in a folder. `ids` selects some findings; none selects all. The inner error is
/// an id that neither the run nor the folder has.
///
/// # Errors
///
/// The folder cannot be read or written.
pub fn accept_run(
    folder: &Folder,
    run: &AcceptedRun<'_>,
    ids: &[String],
) -> Result<Result<Accepted, String>, StoreError> {
    let library = Library::embedded();
    let schema = schema(folder.path());
    let is_known = |id: &String, stored: &[Stored]| {
        run.diagnosis.findings.iter().any(|finding| finding.id == *id)
            || stored.iter().any(|one| one.file.finding == *id)
    };
    folder.change(library, |stored| {
        if let Some(id) = ids.iter().find(|id| !is_known(id, stored)) {
            return (Vec::new(), Err(id.clone()));
        }
        let accepted = accept(stored, run, ids, (library, schema.as_deref()));
        (files(&accepted.changes), Ok(accepted))
    })
}

impl Accepted {
    /// What was written into a folder, and what was left out.
    pub fn text(&self, folder: &Path) -> String {
        let mut text = sentences(folder, &self.changes);
        for refused in &self.refused {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "left out  {}: {}", escaped(&refused.id), escaped(&refused.why));
        }
        if text.is_empty() {
            text = as_it_was(folder, "the run shows nothing new");
        }
        text
    }
}

/// Writes what a run of a campaign found into a folder.
///
/// # Errors
///
/// The folder cannot be read or written.
pub fn add_run(
    folder: &Folder,
    diagnosis: &Diagnosis,
    failed: &[FailedCase],
) -> Result<Accepted, StoreError> {
    let run = AcceptedRun { diagnosis, failed, is_whole: false };
    let library = Library::embedded();
    let schema = schema(folder.path());
    folder.change(library, |stored| {
        let added = add(stored, &run, (library, schema.as_deref()));
        (files(&added.changes), added)
    })
}

/// Makes findings new that were fixed and fail again.
///
/// # Errors
///
/// The folder cannot be read or written.
pub fn regress_findings(folder: &Folder, ids: &[String]) -> Result<Accepted, StoreError> {
    let schema = schema(folder.path());
    folder.change(Library::embedded(), |stored| {
        let again = stored.iter().filter(|one| ids.contains(&one.file.finding));
        let changes: Vec<Change> = again.map(|one| regress(one, schema.as_deref())).collect();
        (files(&changes), Accepted { changes, refused: Vec::new() })
    })
}

/// Merges the findings of a folder into another one. Returns a text that says what was written.
///
/// # Errors
///
/// One of the folders cannot be read, or the first one cannot be written.
pub fn merge_folders(folder: &Folder, from: &Folder) -> Result<(Merged, String), StoreError> {
    let library = Library::embedded();
    let others = from.read(library)?;
    // A folder with mistakes is named before it is made or changed.
    folder.read_or_none(library)?;
    let merged = folder.change(library, |stored| {
        let merged = merge(stored, &others);
        (files(&merged.changes), merged)
    })?;
    let mut text = sentences(folder.path(), &merged.changes);
    for (own, other) in &merged.twins {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "same case {} and {}", escaped(own), escaped(other));
    }
    for Conflict { paths: [own, other], why } in &merged.conflicts {
        let _ = writeln!(text, "conflict  {} and {}: {why}", escaped(own), escaped(other));
    }
    if text.is_empty() {
        text = as_it_was(folder.path(), &format!("{} has nothing new", from.path().display()));
    }
    Ok((merged, text))
}

/// The names and texts of files to write.
fn files(changes: &[Change]) -> Vec<(String, String)> {
    changes.iter().map(|change| (change.id.clone(), change.text.clone())).collect()
}

/// What became of the files of a folder.
pub fn sentences(folder: &Path, changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let path = folder.join(format!("{}.yaml", change.id)).display().to_string();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{:<9} {}", change.what, escaped(&path));
        let (class, cases) = (change.file.class.join(" or "), cases(&change.file));
        let of = if change.file.filter.is_some() { " where " } else { ": " };
        let flaky = if change.file.flaky { "flaky, " } else { "" };
        let _ = writeln!(text, "          {flaky}{class}{of}{}", escaped(&cases));
    }
    text
}

fn as_it_was(folder: &Path, why: &str) -> String {
    format!("{} is as it was: {}\n", escaped(&folder.display().to_string()), escaped(why))
}

/// The predicate of a finding, or the number of its cases.
pub fn cases(file: &FindingFile) -> String {
    let listed = || match file.cases.len() {
        0 => "1 case listed".to_owned(),
        others => format!("{} cases listed", others + 1),
    };
    file.filter.clone().unwrap_or_else(listed)
}

/// The path of the schema, relative to a folder: in the nearest parent folder that has it, as in this
/// repository.
fn schema(folder: &Path) -> Option<String> {
    let folder = std::path::absolute(folder).ok()?;
    let (up, _) = folder.ancestors().enumerate().find(|(_, folder)| folder.join(SCHEMA).is_file())?;
    Some("../".repeat(up) + SCHEMA)
}
