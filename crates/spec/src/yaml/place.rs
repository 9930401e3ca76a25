//! Walking to a place in a file, and pointing at what is wrong there.

use std::ops::Range;

use super::tree::{Kind, Node};
use crate::{Diagnostic, source::Located};

/// A place in a file that was read. Walking never fails: what is not there is reported at what is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    source: &'a Located,
    node: &'a Node,
    /// The bytes to point at where they are not the node's own: those of a key.
    key: Option<(usize, usize)>,
}

impl<'a> Place<'a> {
    pub(super) fn new(source: &'a Located, node: &'a Node) -> Self {
        Self { source, node, key: None }
    }

    /// The value behind a key.
    #[must_use]
    pub fn key(self, name: &str) -> Self {
        self.node.get(name).map_or(self, |(_, node)| Self { node, key: None, ..self })
    }

    /// The key itself rather than the value behind it.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.node.get(name).map_or(self, |(key, node)| Self {
            node,
            key: Some((key.span.start, key.span.end)),
            ..self
        })
    }

    /// The value at a place of a list.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        match &self.node.kind {
            Kind::Sequence(items) => items.get(index).map_or(self, |node| Self { node, key: None, ..self }),
            _ => self,
        }
    }

    /// The bytes of the place.
    fn span(self) -> Range<usize> {
        self.key.map_or_else(|| self.node.span.clone(), |(start, end)| start..end)
    }

    /// A mistake that concerns the whole value.
    #[must_use]
    pub fn mistake(self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        let span = self.span();
        // Of a value that spans lines, the first says where it is.
        let text = self.source.text.get(span.clone()).unwrap_or_default();
        let first_line = text.find('\n').unwrap_or(text.len());
        Diagnostic::new(self.source, span.start..span.start + first_line, message, label)
    }

    /// A mistake within a scalar: `within` counts bytes of its value, after quotes, folds and escapes.
    #[must_use]
    pub fn mistake_within(
        self,
        within: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let Kind::Scalar { value, .. } = &self.node.kind else { return self.mistake(message, label) };
        let start = self.offset(value, within.start);
        let end = match within.end.checked_sub(1) {
            Some(last) if last >= within.start => self.offset(value, last) + 1,
            _ => start,
        };
        Diagnostic::new(self.source, start..end.max(start), message, label)
    }

    /// Where a byte of a scalar's value stands in the file. The value's characters are found one after the
    /// other in what was written: quotes, escapes, indentation and line breaks are what lies between them. A
    /// character that was written as an escape is not found, and stands where its predecessor does.
    fn offset(self, value: &str, at: usize) -> usize {
        let span = self.node.span.clone();
        let Some(written) = self.source.text.get(span.clone()) else { return span.start };
        let mut from = match written.as_bytes().first() {
            Some(b'"' | b'\'') => 1,
            // The header of a block scalar is not part of it.
            Some(b'|' | b'>') if written.contains('\n') => written.find('\n').unwrap_or(0),
            _ => 0,
        };
        let mut found = from;
        for (index, character) in value.char_indices() {
            if index > at {
                break;
            }
            if character.is_whitespace() {
                // White space may have been folded; the next character finds its own place.
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
