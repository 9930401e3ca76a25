//! What ends the program with a message: data until the very end, where it is shown once, on standard error.

use std::{
    fmt,
    io::{self, IsTerminal},
    ops::Range,
};

use dmlcts_model::line::LineError;
use dmlcts_runner::RunError;
use dmlcts_spec::{Diagnostic as Mistake, FileError, LoadError};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use crate::exit::Exit;

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// Something that can be said in a sentence, with its remedy.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do; may be empty.
        help: String,
    },
    /// A mistake in a case line.
    #[error("`{line}` is no case: {error}")]
    Line {
        /// The line.
        line: String,
        /// Where it is wrong, and why.
        error: LineError,
    },
    /// A mistake in a predicate.
    #[error("`{text}` is no predicate: {mistake}")]
    Predicate {
        /// The predicate.
        text: String,
        /// Where it is wrong, and why.
        mistake: dmlcts_spec::expression::Mistake,
    },
    /// Mistakes in YAML files.
    #[error("{0}")]
    Load(#[from] LoadError),
    /// A file could not be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// A run that could not start.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Problem {
    /// A problem that a sentence says, and another one solves.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// How the program ends because of it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            // A reader that has seen enough is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Self::Output(_) | Self::Run(RunError::Backend(_)) => Exit::Broken,
            _ => Exit::Usage,
        }
    }

    /// What to write on standard error; empty where there is nothing to say.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => String::new(),
            Self::Load(error) => {
                error.diagnostics().iter().map(|mistake| render(&Pointed::of(mistake))).collect()
            }
            Self::Line { line, error } => {
                let help = (!error.help.is_empty()).then_some(error.help.as_str());
                render(&Pointed::new("case", line, &error.message, help, error.span.clone()))
            }
            Self::Predicate { text, mistake } => {
                let span = mistake.span.start..mistake.span.end;
                render(&Pointed::new("--where", text, &mistake.message, mistake.help.as_deref(), span))
            }
            Self::Usage { message, help } if !help.is_empty() => {
                format!("error: {message}\n  help: {help}\n")
            }
            Self::File(error) => format!("error: {error}\n  help: {}\n", error.help()),
            _ => format!("error: {self}\n"),
        }
    }
}

/// A mistake at a place of a text.
#[derive(Debug)]
struct Pointed<'a> {
    message: String,
    help: Option<String>,
    source: Source<'a>,
    labels: Vec<LabeledSpan>,
}

#[derive(Debug)]
enum Source<'a> {
    Spec(&'a Mistake),
    Argument(miette::NamedSource<String>),
}

impl<'a> Pointed<'a> {
    fn of(mistake: &'a Mistake) -> Self {
        Self {
            message: mistake.message().to_owned(),
            help: mistake.help().map(|help| help.to_string()),
            labels: mistake.labels().into_iter().flatten().collect(),
            source: Source::Spec(mistake),
        }
    }

    fn new(name: &str, text: &str, message: &str, help: Option<&str>, span: Range<usize>) -> Self {
        Self {
            message: message.to_owned(),
            help: help.map(str::to_owned),
            labels: vec![LabeledSpan::underline(span)],
            source: Source::Argument(miette::NamedSource::new(name, text.to_owned())),
        }
    }
}

impl fmt::Display for Pointed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Pointed<'_> {}

impl Diagnostic for Pointed<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match &self.source {
            Source::Spec(mistake) => mistake.source_code(),
            Source::Argument(text) => Some(text),
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Whether standard error wants colours: it is a terminal, and `NO_COLOR` is not set.
fn theme() -> GraphicalTheme {
    if !io::stderr().is_terminal() {
        GraphicalTheme::none()
    } else if crate::output::no_color() {
        GraphicalTheme::unicode_nocolor()
    } else {
        GraphicalTheme::unicode()
    }
}

fn render(diagnostic: &dyn Diagnostic) -> String {
    let mut theme = theme();
    "error:".clone_into(&mut theme.characters.error);
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, diagnostic) {
        Ok(()) => text.trim_start().to_owned(),
        Err(_) => format!("error: {diagnostic}\n"),
    }
}
