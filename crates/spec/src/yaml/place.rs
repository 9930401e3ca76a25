//! Finds places in a file, and creates mistakes that point at them.

use std::ops::Range;

use dmlcts_model::line::LineError;

use super::tree::{Node, NodeKind};
use crate::{Diagnostic, expression::Mistake, source::Located};

/// A place in a parsed file. Navigation never fails: if a key or index is absent, the place stays the same.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    source: &'a Located,
    node: &'a Node,
    /// The byte range of the value, or of its key.
    span: &'a Range<usize>,
}

impl<'a> Place<'a> {
    pub(super) fn new(source: &'a Located, node: &'a Node) -> Self {
        Self { source, node, span: &node.span }
    }

    /// The value of a key.
    #[must_use]
    pub fn key(self, name: &str) -> Self {
        self.node.get(name).map_or(self, |(_, node)| Self { node, span: &node.span, ..self })
    }

    /// The key itself rather than its value.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.node.get(name).map_or(self, |(key, node)| Self { node, span: &key.span, ..self })
    }

    /// The value at this index of a list.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        match &self.node.kind {
            NodeKind::Sequence(items) => {
                items.get(index).map_or(self, |node| Self { node, span: &node.span, ..self })
            }
            _ => self,
        }
    }

    /// A mistake that concerns the whole value.
    #[must_use]
    pub fn mistake(self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        let span = self.span;
        // For a value with several lines, the mistake points at the first.
        let text = self.source.text.get(span.clone()).unwrap_or_default();
        let first_line = text.find('\n').unwrap_or(text.len());
        Diagnostic::new(self.source, span.start..span.start + first_line, message, label)
    }

    /// A mistake within a scalar. `within` counts bytes of its value, after quotes, folding and escapes are
    /// resolved.
    #[must_use]
    pub fn mistake_within(
        self,
        within: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let NodeKind::Scalar { value, .. } = &self.node.kind else { return self.mistake(message, label) };
        let start = self.offset(value, within.start);
        let end = match within.end.checked_sub(1) {
            Some(last) if last >= within.start => self.offset(value, last) + 1,
            _ => start,
        };
        Diagnostic::new(self.source, start..end.max(start), message, label)
    }

    /// A mistake in the expression that a scalar holds.
    #[must_use]
    pub fn mistaken(self, mistake: Mistake) -> Diagnostic {
        let diagnostic = self.mistake_within(mistake.span.start..mistake.span.end, mistake.message, "");
        mistake.help.into_iter().fold(diagnostic, Diagnostic::help)
    }

    /// A mistake in the case line that a scalar holds.
    #[must_use]
    pub fn misread(self, error: LineError) -> Diagnostic {
        let diagnostic = self.mistake_within(error.span, error.message, "");
        if error.help.is_empty() { diagnostic } else { diagnostic.help(error.help) }
    }

    /// The file offset of a byte of a scalar's value. Searches the value's characters in order in the source
    /// text, and skips quotes, escapes, indentation and line breaks between them. A character that was
    /// written as an escape gets the offset of the character before it.
    fn offset(self, value: &str, at: usize) -> usize {
        let span = self.node.span.clone();
        let Some(written) = self.source.text.get(span.clone()) else { return span.start };
        let mut from = match written.as_bytes().first() {
            Some(b'"' | b'\'') => 1,
            // Skips the header of a block scalar.
            Some(b'|' | b'>') if written.contains('\n') => written.find('\n').unwrap_or(0),
            _ => 0,
        };
        let mut found = from;
        for (index, character) in value.char_indices() {
            if index > at {
                break;
            }
            if character.is_whitespace() {
                // White space may have been folded. The next character is searched for on its own.
                found = from;
                if written[from..].starts_with(character) && character != '\n' {
                    from += character.len_utf8();
                }
            } else if let Some(skipped) = written[from..].find(character) {
                found = from + skipped;
                from = found + character.len_utf8();
            }
        }
        let past_the_end = at >= value.len();
        span.start + if past_the_end { from } else { found }
    }
}
