//! The record of a run: a new results file, or the file of an interrupted run that continues.

use dmlcts_diagnose::Diagnosis;
use dmlcts_profiles::Claim;
use dmlcts_results::{BackendOptions, Header, SelectionForm, Unfinished, Writer};
use dmlcts_runner::{Event, RunOutcomes, Totals};
use dmlcts_spec::Library;

use crate::{arguments::RunArguments, exit::Exit, problem::Problem};

/// The results file of a run.
pub(crate) struct Record {
    file: RecordFile,
    strategies: Vec<String>,
    selection: SelectionForm,
    /// The command that repeats the run.
    command: String,
    /// The backend of the run and the options for it.
    options: BackendOptions,
    /// The profile that the run tests.
    claim: Option<Claim>,
}

/// The results file, before and after its header is written or checked.
enum RecordFile {
    /// A new file, which becomes a results file with its header.
    Writing(Writer),
    /// A file that an interrupted run left. It stays unchanged until both runs are known to be the same.
    Unfinished(Box<Unfinished>),
    /// A write failed, and nothing more is recorded.
    Lost,
}

/// What a record says of the cases of an interrupted run.
#[derive(Default)]
pub(crate) struct Earlier {
    pub(crate) resume: Option<Totals>,
    pub(crate) run_outcomes: RunOutcomes,
}

impl Record {
    /// Opens the file that the arguments name, for a run of this selection by this command; `strategies`
    /// holds the names of its strategies. Returns it with what it says of earlier cases; `None` if nothing is
    /// recorded.
    pub(crate) fn open(
        arguments: &RunArguments,
        (selection, command): (SelectionForm, String),
        strategies: Vec<String>,
        claim: Option<Claim>,
    ) -> Result<(Option<Self>, Earlier), Problem> {
        let file = if let Some(path) = &arguments.resume {
            let unfinished = Unfinished::open(path)?;
            let header = unfinished.header();
            let mut found = selection.disagreements(&header.selection);
            found.extend(arguments.backend_options().disagreements(&header.backend_options()));
            let again = dmlcts_report::command(&[path]);
            agree(&found, path, || {
                let command = &header.command;
                format!("limits such as --timeout are not recorded; go on with: {command} --resume {again}")
            })?;
            RecordFile::Unfinished(Box::new(unfinished))
        } else if let Some(path) = &arguments.results {
            let library = Library::embedded();
            RecordFile::Writing(Writer::create(path, arguments.overwrite, library, strategies.clone())?)
        } else {
            return Ok((None, Earlier::default()));
        };
        let options = arguments.backend_options();
        let record = Self { file, strategies, selection, command, options, claim };
        let earlier = record.earlier()?;
        Ok((Some(record), earlier))
    }

    /// What the file says of the cases of the interrupted run, if this run continues one.
    fn earlier(&self) -> Result<Earlier, Problem> {
        let RecordFile::Unfinished(unfinished) = &self.file else { return Ok(Earlier::default()) };
        if unfinished.header().spec != Library::embedded().hash() {
            // With another spec, indices and names may mean something else; the header names both specs.
            let spec = &unfinished.header().spec;
            return Err(Problem::usage(
                format!(
                    "{} is of another run: spec: {} here, {spec:.12} there",
                    unfinished.path(),
                    Library::embedded().short_hash()
                ),
                "go on with the version of dmlcts that started it, or start anew by --results",
            ));
        }
        Ok(Earlier {
            resume: Some(unfinished.totals(Library::embedded(), &self.strategies)?),
            run_outcomes: unfinished.run_outcomes(Library::embedded(), &self.strategies)?,
        })
    }

    /// Records an event. After an error, nothing more is recorded.
    pub(crate) fn on_event(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        let recorded = self.record(event);
        if recorded.is_err() {
            self.file = RecordFile::Lost;
        }
        recorded
    }

    fn record(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        match (event, &mut self.file) {
            (Event::Started { capabilities, level, cases }, _) => {
                let what = (self.selection.clone(), self.command.clone());
                let spec = Library::embedded().hash();
                let header = Header::new(what, spec, *cases, *level, (&self.options, capabilities));
                match std::mem::replace(&mut self.file, RecordFile::Lost) {
                    RecordFile::Writing(mut writer) => {
                        writer.header(&header)?;
                        self.file = RecordFile::Writing(writer);
                    }
                    RecordFile::Unfinished(unfinished) => {
                        let (path, earlier) = (unfinished.path(), unfinished.header());
                        agree(&header.disagreements(earlier), path, || {
                            // The file's own command would fail with the same error, so it is not shown.
                            "go on with dmlcts and the backend as they were when the run was started, or start anew by --results"
                                .to_owned()
                        })?;
                        let writer = unfinished.resume(Library::embedded(), self.strategies.clone())?;
                        self.file = RecordFile::Writing(writer);
                    }
                    RecordFile::Lost => {}
                }
            }
            (Event::Cases { cases, totals, groups }, RecordFile::Writing(writer)) => {
                writer.cases(cases, *totals, groups)?;
            }
            (Event::Pause { totals, groups }, RecordFile::Writing(writer)) => writer.pause(totals, groups)?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the summary of an ended run and the program's exit. Nothing that follows may change the exit.
    pub(crate) fn finish(&mut self, run: &Diagnosis, exit: Exit) -> Result<(), Problem> {
        let RecordFile::Writing(writer) = &mut self.file else { return Ok(()) };
        let stated = self.claim.as_ref().map(|claim| claim.state(Library::embedded(), &run.summary));
        Ok(writer.finish(run, exit.code(), stated.as_ref().map(Into::into))?)
    }
}

/// The error that a run differs from the run that it continues, with the differences and the remedy.
fn agree(
    disagreements: &[dmlcts_results::Disagreement],
    path: &str,
    help: impl FnOnce() -> String,
) -> Result<(), Problem> {
    if disagreements.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = disagreements.iter().map(|one| one.describe("here", "there")).collect();
    Err(Problem::usage(format!("{path} is of another run: {}", words.join("; ")), help()))
}
