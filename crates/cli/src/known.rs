//! The folder of known findings of a run, and what a run changes in it.

use std::{fmt::Write as _, path::Path};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::escaped;
use dmlcts_report::counted;
use dmlcts_results::{CaseForm, FolderForm, SelectionForm};
use dmlcts_runner::{CaseResult, Event, KnownFailures};
use dmlcts_spec::{Library, Source};
use dmlcts_store::{
    Accepted, Change, Conflict, FailedCase, FindingFile, Folder, Merged, Run, Stored, accept, add, merge,
    regress,
};

use crate::{exit::Exit, names::plain, problem::Problem};

/// The schema of a finding's file, from the root of this repository.
const SCHEMA: &str = "findings/schema.json";

/// The findings that a run expects.
pub(crate) struct Known {
    folder: Option<Folder>,
    /// The name that the folder must have, if that is not the backend's.
    name: Option<String>,
    stored: Vec<Stored>,
}

impl Known {
    /// Reads and checks a folder. `accepts` is whether it may not exist yet.
    pub(crate) fn load(dir: Option<&str>, name: Option<&str>, accepts: bool) -> Result<Self, Problem> {
        let folder = dir.map(Folder::new);
        let library = Library::embedded();
        let stored = match &folder {
            Some(folder) if accepts => folder.read_or_none(library)?,
            Some(folder) => folder.read(library)?,
            None => Vec::new(),
        };
        Ok(Self { folder, name: name.map(str::to_owned), stored })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// The findings, as a run expects them.
    pub(crate) fn failures(&self) -> KnownFailures {
        self.stored.iter().cloned().collect()
    }

    /// The folder, as a results file records it.
    pub(crate) fn form(&self) -> Option<FolderForm> {
        let path = self.folder.as_ref()?.path().display().to_string();
        let texts: String = self.stored.iter().map(|stored| stored.text.as_str()).collect();
        Some(FolderForm { hash: Source::new(path.clone(), texts).hash(), path, name: self.name.clone() })
    }

    /// Checks that the folder is the one of a backend with this name.
    pub(crate) fn check(&self, backend: &str) -> Result<(), Problem> {
        self.folder.as_ref().map_or(Ok(()), |folder| check_name(folder, self.name.as_deref(), backend))
    }
}

/// Checks that a folder is the one of a backend. `name` is the name that it must have, if it is another one.
pub(crate) fn check_name(folder: &Folder, name: Option<&str>, backend: &str) -> Result<(), Problem> {
    let wanted = name.map_or_else(|| plain(backend), str::to_owned);
    let own = folder.name().unwrap_or_default();
    if own == wanted {
        return Ok(());
    }
    let path = folder.path();
    if let Some(name) = name {
        return Err(Problem::usage(
            format!("the folder {} is not called `{name}`, as --name says", path.display()),
            format!("write --name {own}, or name another folder"),
        ));
    }
    let beside = path.with_file_name(&wanted).display().to_string();
    Err(Problem::usage(
        format!("{} is not called `{wanted}`, as the folder of the backend `{backend}` is", path.display()),
        format!("write --findings {beside}, or keep the name by --name {own}"),
    ))
}

/// Whether a selection has every case of a suite.
pub(crate) fn is_whole(selection: &SelectionForm) -> bool {
    selection.suite.is_some() && selection.has_all_cases()
}

/// The failed cases of a run.
#[derive(Default)]
pub(crate) struct Failed(pub(crate) Vec<FailedCase>);

impl Failed {
    /// Adds the failures of an event.
    pub(crate) fn on_event(&mut self, event: &Event<'_>) {
        if let Event::Cases { cases, .. } = event {
            self.0.extend(cases.iter().filter_map(failed));
        }
    }

    /// Adds the case of a line of a results file, if it failed.
    pub(crate) fn on_line(&mut self, line: &[u8]) {
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

/// What became of a folder that accepts a run.
pub(crate) struct AcceptedRun {
    /// The exit of the run.
    pub(crate) exit: Exit,
    /// What was written, and what was left out.
    pub(crate) text: String,
    /// The findings whose files were written.
    pub(crate) ids: Vec<String>,
}

/// Writes what a run changes in a folder.
pub(crate) fn accept_run(
    folder: &Folder,
    (diagnosis, failed): (&Diagnosis, &Failed),
    is_whole: bool,
    ids: &[String],
) -> Result<AcceptedRun, Problem> {
    let exit = Exit::of(&diagnosis.summary, is_whole);
    if matches!(exit, Exit::Broken | Exit::Interrupted) {
        let text = "nothing was accepted: the run did not come to a good end\n".to_owned();
        return Ok(AcceptedRun { exit, text, ids: Vec::new() });
    }
    let run = Run { diagnosis, failed: &failed.0, is_whole };
    let library = Library::embedded();
    let schema = schema(folder.path());
    let is_known = |id: &String, stored: &[Stored]| {
        diagnosis.findings.iter().any(|finding| finding.id == *id)
            || stored.iter().any(|one| one.file.finding == *id)
    };
    let (accepted, unknown) = folder.change(library, |stored| {
        if let Some(id) = ids.iter().find(|id| !is_known(id, stored)) {
            return (Vec::new(), (Accepted::default(), Some(id)));
        }
        let accepted = accept(stored, &run, ids, (library, schema.as_deref()));
        (files(&accepted.changes), (accepted, None))
    })?;
    if let Some(id) = unknown {
        return Err(Problem::usage(
            format!("neither the run nor the folder has a finding `{id}`"),
            "name one that the run reports, or none for all",
        ));
    }
    let exit = if accepted.refused.is_empty() { Exit::Success } else { Exit::Unexpected };
    let mut text = sentences(folder.path(), &accepted.changes);
    for refused in &accepted.refused {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "left out  {}: {}", escaped(&refused.id), escaped(&refused.why));
    }
    if text.is_empty() {
        text = as_it_was(folder.path(), "the run shows nothing new");
    }
    let ids = accepted.changes.into_iter().map(|change| change.id).collect();
    Ok(AcceptedRun { exit, text, ids })
}

/// Writes what a run of a campaign found into a folder.
pub(crate) fn add_run(
    folder: &Folder,
    diagnosis: &Diagnosis,
    failed: &[FailedCase],
) -> Result<Accepted, Problem> {
    let run = Run { diagnosis, failed, is_whole: false };
    let library = Library::embedded();
    let schema = schema(folder.path());
    Ok(folder.change(library, |stored| {
        let added = add(stored, &run, (library, schema.as_deref()));
        (files(&added.changes), added)
    })?)
}

/// Makes findings new that were fixed and fail again.
pub(crate) fn regress_findings(folder: &Folder, ids: &[String]) -> Result<Accepted, Problem> {
    let schema = schema(folder.path());
    Ok(folder.change(Library::embedded(), |stored| {
        let again = stored.iter().filter(|one| ids.contains(&one.file.finding));
        let changes: Vec<Change> = again.map(|one| regress(one, schema.as_deref())).collect();
        (files(&changes), Accepted { changes, refused: Vec::new() })
    })?)
}

/// Merges the findings of a folder into another one. Returns a text that says what was written.
pub(crate) fn merge_folders(folder: &Folder, from: &Folder) -> Result<(Merged, String), Problem> {
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
pub(crate) fn sentences(folder: &Path, changes: &[Change]) -> String {
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
pub(crate) fn cases(file: &FindingFile) -> String {
    let listed = || format!("{} listed", counted(1 + file.cases.len() as u64, "case"));
    file.filter.clone().unwrap_or_else(listed)
}

/// The path of the schema, relative to a folder: in the nearest parent folder that has it, as in this
/// repository.
fn schema(folder: &Path) -> Option<String> {
    let folder = std::path::absolute(folder).ok()?;
    let (up, _) = folder.ancestors().enumerate().find(|(_, folder)| folder.join(SCHEMA).is_file())?;
    Some("../".repeat(up) + SCHEMA)
}
