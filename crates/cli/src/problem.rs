//! A problem that ends the program with a message. It is data until the end, when it is printed once on
//! standard error. A message repeats text from arguments and files, so that all of it is escaped there.

use std::{
    borrow::Cow,
    fmt,
    io::{self, IsTerminal},
    ops::Range,
};

use dmlcts_model::{closest, escaped, line::LineError};
use dmlcts_runner::RunError;
use dmlcts_snapshots::SnapshotError;
use dmlcts_spec::{Diagnostic as Mistake, FileError, LoadError, expression};
use dmlcts_store::StoreError;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use crate::{colour, exit::Exit, remedy};

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// A problem that a sentence describes, with its remedy.
    #[error("{message}")]
    Usage {
        /// The message.
        message: String,
        /// The remedy; may be empty.
        help: String,
    },
    /// A mistake in a case line.
    #[error("`{line}` is not a case: {error}")]
    Line {
        /// The line.
        line: String,
        /// The location and the reason of the mistake.
        error: LineError,
    },
    /// A mistake in a case of a list.
    #[error("a line of {name} is not a case: {error}")]
    List {
        /// The name of the list: `standard input`, or the path of a file.
        name: String,
        /// The whole list.
        text: String,
        /// The location and the reason of the mistake.
        error: LineError,
    },
    /// A mistake in a predicate.
    #[error("`{text}` is not a predicate: {mistake}")]
    Predicate {
        /// The predicate.
        text: String,
        /// The location and the reason of the mistake.
        mistake: expression::Mistake,
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
    /// A backend that does not start, ends badly at its shutdown, or cannot be measured against.
    #[error("{message}")]
    Backend {
        /// The message.
        message: String,
        /// The remedy.
        help: String,
    },
    /// A results file could not be written or read.
    #[error("{0}")]
    Results(#[from] dmlcts_results::Error),
    /// A snapshot could not be made, read or written.
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    /// A report could not be written.
    #[error("cannot write the report {path}: {cause}")]
    Report {
        /// The file.
        path: String,
        /// The reason.
        cause: io::Error,
    },
    /// A folder of findings could not be read or written.
    #[error("{0}")]
    Store(StoreError),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Problem {
    /// A problem with a message and a remedy.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// A report that cannot be written to a file of this name.
    pub(crate) fn unopened_report(path: &str, error: &io::Error) -> Self {
        Self::usage(
            format!("cannot open the report {path}: {error}"),
            "name a file in a folder that exists, and that you may write to",
        )
    }

    /// A run that could not start, on a backend of this name.
    pub(crate) fn start(error: RunError, backend: &str) -> Self {
        let help = match &error {
            RunError::Backend(reason) => remedy::of_backend(backend, reason),
            RunError::Level { .. } | RunError::Lack { .. } => None,
        };
        match help {
            Some(help) => Self::Backend { message: error.to_string(), help },
            None => Self::Run(error),
        }
    }

    /// The program's exit because of it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            // A reader that closes the pipe early is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Self::Output(_)
            | Self::Report { .. }
            | Self::Backend { .. }
            | Self::Store(StoreError::Write { .. })
            | Self::Run(RunError::Backend(_) | RunError::Lack { .. }) => Exit::Broken,
            Self::Results(error) if error.is_machine() => Exit::Broken,
            Self::Snapshot(error) if error.is_machine() => Exit::Broken,
            _ => Exit::Usage,
        }
    }

    /// The text for standard error; empty if there is nothing to print.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => String::new(),
            Self::Load(error) => render_all(error),
            Self::Snapshot(SnapshotError::Header(error)) => {
                let help = SnapshotError::Header(error.clone()).help();
                format!("{}  help: {help}\n", render_all(error))
            }
            Self::Line { line, error } => render_line("case", line, error),
            Self::List { name, text, error } => render_line(name, text, error),
            Self::Predicate { text, mistake } => render_expression("--where", text, mistake),
            Self::Run(RunError::Lack { backend, place, operator, condition, mistake }) => {
                let name = format!("lacks[{place}] ({operator}) of `{backend}`");
                render_expression(&name, condition, mistake)
            }
            _ => {
                let (error, help) = (self.to_string(), self.help());
                let help = help.map(|help| format!("  help: {}\n", escaped(&help)));
                format!("error: {}\n{}", escaped(&error), help.unwrap_or_default())
            }
        }
    }

    /// The remedy for a problem that a sentence describes.
    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Usage { help, .. } if help.is_empty() => return None,
            Self::Usage { help, .. } | Self::Backend { help, .. } => help.into(),
            Self::Results(error) => error.help(),
            Self::Snapshot(error) => error.help().into(),
            Self::File(error) => error.help().into(),
            Self::Report { .. } => {
                "make room, or name another file; `dmlcts merge` makes reports of a results file without a run".into()
            }
            Self::Store(error) => error.help().into(),
            Self::Output(_) => "make room where standard output goes, or send it elsewhere".into(),
            Self::Run(_) | Self::Load(_) | Self::Line { .. } | Self::List { .. } | Self::Predicate { .. } => return None,
        })
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Load(error) => Self::Load(error),
            error => Self::Store(error),
        }
    }
}

/// The program's exit after a command.
pub(crate) fn exit_after(ended: &Result<Exit, Problem>) -> Exit {
    ended.as_ref().map_or_else(Problem::exit, |exit| *exit)
}

/// A message for an unknown name, with a similar name and all known names.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let meant = closest(name, known.iter().copied())
        .map(|close| format!("did you mean `{close}`? "))
        .unwrap_or_default();
    format!("there is no {what} `{name}`; {meant}there are: {}", known.join(", "))
}

/// A mistake at a place of a text.
#[derive(Debug)]
struct Pointed {
    message: String,
    help: Option<String>,
    source: Clipped,
    label: LabeledSpan,
}

/// The maximum length of a line in bytes. Longer lines are cut: files and arguments hold lines of any length.
const WIDEST: usize = 160;
/// The number of bytes shown after the start of a mistake in a line that is cut; half of it is shown before.
const CUT: usize = 100;
/// The maximum length of a message, which may repeat a text of any length.
const LONGEST: usize = 600;

/// A text with long lines shown in part.
#[derive(Debug)]
struct Clipped {
    name: String,
    /// The lines around the mistake, each within the maximum length.
    text: String,
    /// The position of the mistake in the whole text: line and column, from 0.
    place: (usize, usize),
}

impl Clipped {
    /// The lines around a span, and the span in them.
    fn new(name: &str, whole: &str, span: Range<usize>) -> (Self, Range<usize>) {
        let start = floor(whole, span.start);
        let line_start = whole[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = whole[start..].find('\n').map_or(whole.len(), |at| start + at);
        let before = whole[..line_start].lines().next_back();
        let after = whole[line_end..].lines().nth(1);
        let (from, to) = if line_end - line_start <= WIDEST {
            (line_start, line_end)
        } else {
            let from = start.saturating_sub(CUT / 2).max(line_start);
            (floor(whole, from), floor(whole, (start + CUT).min(line_end)))
        };
        let mut text = before.map(|line| format!("{}\n", head(line))).unwrap_or_default();
        if from > line_start {
            text.push_str("... ");
        }
        let end = floor(whole, span.end.clamp(start, to)).max(start);
        text.push_str(&source(&whole[from..start]));
        let shown = text.len();
        text.push_str(&source(&whole[start..end]));
        let length = text.len() - shown;
        // The line may end with CR LF.
        let behind = &whole[end..to];
        text.push_str(&source(behind.strip_suffix('\r').unwrap_or(behind)));
        if to < line_end {
            text.push_str(" ...");
        }
        text.push('\n');
        text.extend(after.map(|line| format!("{}\n", head(line))));
        let place = (whole[..line_start].matches('\n').count(), whole[line_start..start].chars().count());
        (Self { name: escaped(name).into_owned(), text, place }, shown..shown + length)
    }
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The start of a line beside a mistake.
fn head(line: &str) -> String {
    let end = floor(line, WIDEST);
    let more = if end < line.len() { " ..." } else { "" };
    source(&line[..end]) + more
}

/// A part of a source line. Tabs stay, since the renderer aligns them.
fn source(part: &str) -> String {
    part.split('\t').map(escaped).collect::<Vec<_>>().join("\t")
}

impl SourceCode for Clipped {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, before, after)?;
        // The lines above the mistake are shown from their start, and each one has a smaller line number.
        let above = self.text[..span.offset()].matches('\n').count();
        let line = (self.place.0 + read.line()).saturating_sub(above);
        let column = if before == 0 { self.place.1 } else { read.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            *read.span(),
            line,
            column,
            read.line_count(),
        )))
    }
}

/// A message on one line, within the maximum length.
fn short(message: &str) -> String {
    let end = floor(message, LONGEST);
    let more = if end < message.len() { " ..." } else { "" };
    escaped(&message[..end]).into_owned() + more
}

impl Pointed {
    fn of(mistake: &Mistake) -> Self {
        let label = Some(mistake.label()).filter(|label| !label.is_empty()).map(short);
        let (name, message) = (mistake.source_name(), mistake.message());
        Self::new(name, mistake.text(), message, mistake.advice(), mistake.span(), label)
    }

    fn new(
        name: &str,
        text: &str,
        message: &str,
        help: Option<&str>,
        span: Range<usize>,
        label: Option<String>,
    ) -> Self {
        let (source, span) = Clipped::new(name, text, span);
        Self {
            message: short(message),
            help: help.map(short),
            label: LabeledSpan::new(label, span.start, span.len()),
            source,
        }
    }
}

impl fmt::Display for Pointed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Pointed {}

impl Diagnostic for Pointed {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
}

/// The style of mistakes on standard error: with drawn lines if it is a terminal, and with colours if it has
/// them.
fn theme() -> GraphicalTheme {
    let stderr = io::stderr();
    if colour::has_colour(&stderr) {
        GraphicalTheme::unicode()
    } else if stderr.is_terminal() {
        GraphicalTheme::unicode_nocolor()
    } else {
        GraphicalTheme::none()
    }
}

/// The mistakes of a file.
fn render_all(error: &LoadError) -> String {
    error.diagnostics().iter().map(|mistake| render(&Pointed::of(mistake))).collect()
}

/// A mistake in an expression.
fn render_expression(name: &str, text: &str, mistake: &expression::Mistake) -> String {
    let span = mistake.span.start..mistake.span.end;
    render(&Pointed::new(name, text, &mistake.message, mistake.help.as_deref(), span, None))
}

/// A mistake in a case line within a text.
fn render_line(name: &str, text: &str, error: &LineError) -> String {
    let help = (!error.help.is_empty()).then_some(error.help.as_str());
    render(&Pointed::new(name, text, &error.message, help, error.span.clone(), None))
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
