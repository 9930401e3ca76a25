//! The error of a text that is not a case line. It is plain data, so that a program can underline the
//! position and a test can compare it.

use std::ops::Range;

/// The reason why a text is not a case line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LineError {
    /// The byte range of the mistake in the line; empty, at the end, if something is missing.
    pub span: Range<usize>,
    /// The mistake, as a lower-case fragment.
    pub message: String,
    /// Advice on how to fix it; empty if the message suffices.
    pub help: String,
}

impl LineError {
    /// An error with advice.
    pub(super) fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }
}
