//! Mistakes in a text and their positions. A mistake is plain data: code that knows the file displays the
//! source line.

/// A range of bytes in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to but not including `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A mistake at a position in a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}{}", help.as_ref().map(|help| format!("; {help}")).unwrap_or_default())]
pub struct Mistake {
    /// The position.
    pub span: Span,
    /// What was found and what was expected, as a lower-case fragment.
    pub message: String,
    /// Advice on how to fix it.
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake without advice.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
