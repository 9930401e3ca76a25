//! The folder of known findings of a run, and what a run changes in it.

use dmlcts_diagnose::Diagnosis;
use dmlcts_results::{FolderForm, SelectionForm};
use dmlcts_runner::KnownFailures;
use dmlcts_snapshots::plain;
use dmlcts_spec::{Library, Source};
use dmlcts_store::{AcceptedRun, FailedCases, Folder, Stored};

use crate::{arguments::VerdictArguments, exit::Exit, problem::Problem};

/// The findings that a run expects.
pub(crate) struct Expected {
    folder: Option<Folder>,
    /// The name that the folder must have, if that is not the backend's.
    name: Option<String>,
    stored: Vec<Stored>,
}

impl Expected {
    /// Reads and checks the folder of a run. If the run accepts findings, it may not exist yet.
    pub(crate) fn load(arguments: &VerdictArguments) -> Result<Self, Problem> {
        let folder = arguments.findings.as_ref().map(Folder::new);
        let library = Library::embedded();
        let stored = match &folder {
            Some(folder) if arguments.accept => folder.read_or_none(library)?,
            Some(folder) => folder.read(library)?,
            None => Vec::new(),
        };
        Ok(Self { folder, name: arguments.name.clone(), stored })
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
    // Several commands take a folder, each in its own way.
    let beside = match path.file_name() {
        Some(_) => path.with_file_name(&wanted),
        None => path.join("..").join(&wanted),
    };
    Err(Problem::usage(
        format!(
            "{} is called `{own}`, and the folder of the backend `{backend}` is called `{wanted}`",
            path.display()
        ),
        format!("name the folder {}, or keep this one by --name {own}", beside.display()),
    ))
}

/// Whether a selection has every case of a suite.
pub(crate) fn is_whole(selection: &SelectionForm) -> bool {
    selection.suite.is_some() && selection.has_all_cases()
}

/// What became of a folder that accepts a run.
pub(crate) struct Acceptance {
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
    (diagnosis, failed): (&Diagnosis, &FailedCases),
    is_whole: bool,
    ids: &[String],
) -> Result<Acceptance, Problem> {
    let exit = Exit::of(&diagnosis.summary, is_whole);
    if matches!(exit, Exit::Broken | Exit::Interrupted) {
        let text = "nothing was accepted: the run did not come to a good end\n".to_owned();
        return Ok(Acceptance { exit, text, ids: Vec::new() });
    }
    let run = AcceptedRun { diagnosis, failed: &failed.0, is_whole };
    let accepted = dmlcts_store::accept_run(folder, &run, ids)?.map_err(|id| {
        Problem::usage(
            format!("neither the run nor the folder has a finding `{id}`"),
            "name one that the run reports, or none for all",
        )
    })?;
    let exit = if accepted.refused.is_empty() { Exit::Success } else { Exit::Unexpected };
    let text = accepted.text(folder.path());
    let ids = accepted.changes.into_iter().map(|change| change.id).collect();
    Ok(Acceptance { exit, text, ids })
}
