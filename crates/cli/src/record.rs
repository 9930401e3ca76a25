//! The record of a run: the results file that it goes into, anew or where it was cut off.

use dmlcts_results::{Asked, Error, Header, SelectionForm, Unfinished, Writer};
use dmlcts_runner::{Claim, Event, Summary, Totals};
use dmlcts_spec::Library;

use crate::{arguments::RunArguments, exit::Exit, problem::Problem};

/// What a run is recorded into.
pub(crate) struct Record {
    file: RecordFile,
    strategies: Vec<String>,
    selection: SelectionForm,
    /// The command that runs the same again.
    command: String,
    /// Who is asked, and how.
    asked: Asked,
    /// What the run is to show.
    claim: Option<Claim>,
}

/// The file before and after the run has said what it is.
enum RecordFile {
    /// A new one, which becomes a results file with its header.
    Writing(Writer),
    /// One that another run left behind, which is left alone until both are known to run the same.
    Unfinished(Box<Unfinished>),
    /// There was an error, and nothing more is recorded.
    Lost,
}

impl Record {
    /// Opens what the arguments name, for a run of this selection by this command, whose strategies have these names; `None` where nothing
    /// is to be recorded.
    pub(crate) fn open(
        arguments: &RunArguments,
        (selection, command): (SelectionForm, String),
        strategies: Vec<String>,
        claim: Option<Claim>,
    ) -> Result<Option<Self>, Problem> {
        let file = if let Some(path) = &arguments.resume {
            let unfinished = Unfinished::open(path)?;
            let header = unfinished.header();
            let mut found = selection.disagreements(&header.selection);
            found.extend(arguments.asked().disagreements(&header.asked()));
            let again = dmlcts_report::command(&[path]);
            agree(&found, path, || format!("go on with: {} --resume {again}", header.command))?;
            RecordFile::Unfinished(Box::new(unfinished))
        } else if let Some(path) = &arguments.results {
            let library = Library::embedded();
            RecordFile::Writing(Writer::create(path, arguments.overwrite, library, strategies.clone())?)
        } else {
            return Ok(None);
        };
        Ok(Some(Self { file, strategies, selection, command, asked: arguments.asked(), claim }))
    }

    /// What the run came to before, where it goes on.
    pub(crate) fn totals(&self) -> Result<Option<Totals>, Problem> {
        let RecordFile::Unfinished(unfinished) = &self.file else { return Ok(None) };
        if unfinished.header().spec != Library::embedded().hash() {
            // Places and names may mean something else by another spec; the header says it best.
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
        Ok(Some(unfinished.totals(Library::embedded(), &self.strategies)?))
    }

    /// Records an event. After an error nothing more is recorded.
    pub(crate) fn hear(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        let heard = self.record(event);
        if heard.is_err() {
            self.file = RecordFile::Lost;
        }
        heard
    }

    fn record(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Started { capabilities, level, cases } => {
                let what = (self.selection.clone(), self.command.clone());
                let spec = Library::embedded().hash();
                let header = Header::new(what, spec, *cases, *level, (&self.asked, capabilities));
                match std::mem::replace(&mut self.file, RecordFile::Lost) {
                    RecordFile::Writing(mut writer) => {
                        writer.header(&header)?;
                        self.file = RecordFile::Writing(writer);
                    }
                    RecordFile::Unfinished(unfinished) => {
                        let (path, earlier) = (unfinished.path(), unfinished.header());
                        agree(&header.disagreements(earlier), path, || {
                            // It is asked for as it was, and the command of then would find this one again.
                            "go on with dmlcts and the backend as they were when the run was started, or start anew by --results"
                                .to_owned()
                        })?;
                        let writer = unfinished.go_on(Library::embedded(), self.strategies.clone())?;
                        self.file = RecordFile::Writing(writer);
                    }
                    RecordFile::Lost => {}
                }
            }
            Event::Cases { cases, totals, groups } => {
                if let RecordFile::Writing(writer) = &mut self.file {
                    writer.cases(cases, *totals, groups)?;
                }
            }
            Event::Pause { totals, groups } => {
                if let RecordFile::Writing(writer) = &mut self.file {
                    writer.pause(totals, groups)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes what a run came to that has ended, and how the program ends after it: nothing that is still to be done may change that.
    pub(crate) fn finish(&mut self, summary: &Summary, exit: Exit) -> Result<(), Problem> {
        let RecordFile::Writing(writer) = &mut self.file else { return Ok(()) };
        let stated = self.claim.as_ref().map(|claim| claim.state(Library::embedded(), summary));
        Ok(writer.finish(summary, exit.code(), stated.as_ref().map(Into::into))?)
    }
}

/// Says in what a run differs from the one that it is to go on with, where it does, and what helps.
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

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Results(error)
    }
}
