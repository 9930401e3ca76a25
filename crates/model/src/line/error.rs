//! What is wrong with a text that should have been a case line: data, so that a program can underline the
//! place and a test can compare it.

use std::ops::Range;

/// Why a text is no case line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LineError {
    /// The bytes of the line that are at fault; empty, at the end, where something is missing.
    pub span: Range<usize>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do about it; empty where the message says it already.
    pub help: String,
}

impl LineError {
    /// An error with its remedy.
    pub(super) fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }
}
