//! A named text, and mistakes at positions in it.
//!
//! Every mistake that a person can make in a file becomes a [`Diagnostic`]: where it is, what is wrong, what
//! was expected and which names are similar. Its `Display` shows the file, line, column, source line and a
//! caret, without colour, so that it reads the same in a log, a test and a terminal. Programs that need more
//! read its parts.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

/// A text and its name: a file's path, or a label such as `--where`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name that messages show.
    pub name: String,
    /// The text itself.
    pub text: String,
}

impl Source {
    /// A text with this name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The BLAKE3 hash of the text, in hex. Line endings do not matter: a checkout on Windows has the same
    /// hash.
    pub fn hash(&self) -> String {
        blake3::hash(self.with_line_feeds().as_bytes()).to_hex().to_string()
    }

    /// The text with every `\r\n` replaced by `\n`.
    pub(crate) fn with_line_feeds(&self) -> Cow<'_, str> {
        if self.text.contains("\r\n") {
            Cow::Owned(self.text.replace("\r\n", "\n"))
        } else {
            Cow::Borrowed(&self.text)
        }
    }
}

/// One mistake at one position of one source.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    source: Located,
    span: Range<usize>,
    message: String,
    label: String,
    help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a range of bytes. A range beyond the text points at its end.
    pub(crate) fn new(
        source: &Located,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        let start = floor_boundary(&source.text, span.start);
        let end = floor_boundary(&source.text, span.end.max(start));
        Self {
            source: source.clone(),
            span: start..end,
            message: message.into(),
            label: label.into(),
            help: None,
        }
    }

    /// Adds advice on how to fix the mistake.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Advises the name that is close to the one that is written, if there is one.
    #[must_use]
    pub(crate) fn near(self, near: Option<&str>) -> Self {
        match near {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// The description of the mistake.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text at the caret, such as what was expected there; may be empty.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Advice on how to fix the mistake.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The name of the file or text.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The range of bytes in the text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Line and column, both from 1; columns count characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = &self.source.text[..self.span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// The greatest character boundary that is at most `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The number of bytes of the source line that are shown on each side of the caret. Lines in files can
/// be arbitrarily long.
const WIDEST: usize = 160;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { name, text } = &self.source;
        let (line, column) = self.line_and_column();
        let line_start = text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[line_start..].find('\n').map_or(text.len(), |at| line_start + at);
        let shown_start = floor_boundary(text, line_start.max(self.span.start.saturating_sub(WIDEST)));
        let shown_end = floor_boundary(text, line_end.min(self.span.start + WIDEST)).max(shown_start);
        let shown = &text[shown_start..shown_end].trim_end();
        let before = text[shown_start..self.span.start].chars();
        let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marked = &text[self.span.start..self.span.end.min(shown_end).max(self.span.start)];
        let carets = "^".repeat(marked.trim_end().chars().count().max(1));
        let margin = " ".repeat(line.to_string().len());
        writeln!(f, "{name}:{line}:{column}: {}", self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {shown}")?;
        write!(f, "{margin} | {indent}{carets}")?;
        if !self.label.is_empty() {
            write!(f, " {}", self.label)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{margin} = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// A source that diagnostics share.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    name: Arc<str>,
    pub(crate) text: Arc<str>,
}

impl Located {
    pub(crate) fn new(source: &Source) -> Self {
        Self { name: source.name.as_str().into(), text: source.text.as_str().into() }
    }
}

/// All mistakes of one load, with a blank line between two; never empty.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
pub struct LoadError {
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl LoadError {
    /// Returns `Ok` if there are no mistakes.
    pub fn check(mistakes: Vec<Diagnostic>) -> Result<(), Self> {
        if mistakes.is_empty() { Ok(()) } else { Err(Self { diagnostics: mistakes }) }
    }

    /// An error of one mistake.
    pub(crate) fn of(mistake: Diagnostic) -> Self {
        Self { diagnostics: vec![mistake] }
    }

    /// The mistakes, in the order in which they were found.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
