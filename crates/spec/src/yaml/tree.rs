//! A YAML file as a tree with the byte range of every key and value.

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span};

use super::{DEEPEST_NESTING, LARGEST_FILE};
use crate::{Diagnostic, source::Located};

/// A value and its byte range.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
}

/// The kind and content of a value.
#[derive(Debug)]
pub(super) enum NodeKind {
    Scalar {
        /// The value, after quotes and escapes are resolved.
        value: String,
        /// Whether it is unquoted, so that it may be a number, a boolean or null.
        plain: bool,
    },
    Sequence(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

/// The key of a mapping's entry.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) span: Range<usize>,
    pub(super) name: String,
}

impl Node {
    /// The entry with this key.
    pub(super) fn get(&self, name: &str) -> Option<&(Key, Self)> {
        let NodeKind::Mapping(entries) = &self.kind else { return None };
        entries.iter().find(|(key, _)| key.name == name)
    }
}

/// A collection whose end has not been reached.
struct Open {
    start: usize,
    items: Items,
}

enum Items {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<(Key, Node)>, key: Option<Key> },
}

/// Parses a file with one document, or returns the first mistake.
pub(super) fn parse(source: &Located) -> Result<Node, Diagnostic> {
    let text = &*source.text;
    if text.len() > LARGEST_FILE {
        let message = format!("the file has {} bytes, and at most {LARGEST_FILE} are read", text.len());
        return Err(Diagnostic::new(source, 0..0, message, "").help("split it into several files"));
    }
    let mut stack: Vec<Open> = Vec::new();
    let mut root = None;
    // Reports aliases without an anchor as events, so that every alias is refused.
    let options = granit_parser::options! { emit_unresolved_aliases: true };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(text.len());
            match error.kind() {
                ErrorKind::RecursionLimitExceeded => Diagnostic::new(source, at..at + 1, too_deep(), ""),
                _ => Diagnostic::new(source, at..at + 1, error.info(), "this is not YAML")
                    .help("correct it here or above, or restore the file from version control"),
            }
        })?;
        let span = bytes(span, text);
        if let Some(refused) = refuse(&event) {
            return Err(Diagnostic::new(source, span, refused, "").help("write the value out in full"));
        }
        let node = match event {
            Event::Scalar(value, style, ..) => Node {
                span: trimmed(span, text),
                kind: NodeKind::Scalar { value: value.into_owned(), plain: style == ScalarStyle::Plain },
            },
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if stack.len() == DEEPEST_NESTING {
                    return Err(Diagnostic::new(source, span, too_deep(), ""));
                }
                let items = match event {
                    Event::SequenceStart(..) => Items::Sequence(Vec::new()),
                    _ => Items::Mapping { entries: Vec::new(), key: None },
                };
                stack.push(Open { start: span.start, items });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = stack.pop() else { continue };
                let kind = match open.items {
                    Items::Sequence(items) => NodeKind::Sequence(items),
                    Items::Mapping { entries, .. } => NodeKind::Mapping(entries),
                };
                Node { span: trimmed(open.start..span.end, text), kind }
            }
            Event::DocumentStart(..) if root.is_some() => {
                let message = "the file holds a second document";
                return Err(Diagnostic::new(source, span, message, "").help("put it into a file of its own"));
            }
            _ => continue,
        };
        if let Some(open) = stack.last_mut() {
            attach(source, &mut open.items, node)?;
        } else {
            root = Some(node);
        }
    }
    root.ok_or_else(|| Diagnostic::new(source, 0..0, "the file is empty", ""))
}

fn too_deep() -> String {
    format!("values are nested more than {DEEPEST_NESTING} deep")
}

/// Adds a finished value to its collection: as a list item, as the value of a key, or as a key.
fn attach(source: &Located, items: &mut Items, node: Node) -> Result<(), Diagnostic> {
    match items {
        Items::Sequence(items) => items.push(node),
        Items::Mapping { entries, key } => match key.take() {
            Some(key) => entries.push((key, node)),
            None => match node.kind {
                NodeKind::Scalar { value: name, .. } => {
                    if entries.iter().any(|(key, _)| key.name == name) {
                        let message = format!("`{name}` is written twice in one mapping");
                        return Err(Diagnostic::new(source, node.span, message, "the second one")
                            .help("keep one of the two"));
                    }
                    *key = Some(Key { span: node.span, name });
                }
                _ => {
                    return Err(Diagnostic::new(source, node.span, "a key is a list or a mapping", "")
                        .help("keys are plain words"));
                }
            },
        },
    }
    Ok(())
}

/// The reason to refuse an event. Refuses features that make a large value of a small file, or that move a
/// value away from its position.
fn refuse(event: &Event<'_>) -> Option<&'static str> {
    let (anchor, tag) = match event {
        Event::Alias(_) | Event::UnresolvedAlias(_) => return Some("aliases are not allowed"),
        Event::Scalar(_, _, anchor, tag)
        | Event::SequenceStart(_, anchor, tag)
        | Event::MappingStart(_, anchor, tag) => (*anchor, tag),
        _ => return None,
    };
    if anchor != 0 {
        Some("anchors are not allowed")
    } else if tag.is_some() {
        Some("tags are not allowed")
    } else {
        None
    }
}

/// The byte range of an event.
fn bytes(span: Span, text: &str) -> Range<usize> {
    let start = span.start.byte_offset().unwrap_or(text.len()).min(text.len());
    let end = span.end.byte_offset().unwrap_or(text.len()).min(text.len());
    start..end.max(start)
}

/// The range without the white space at its end.
fn trimmed(span: Range<usize>, text: &str) -> Range<usize> {
    let length = text.get(span.clone()).map_or(0, |part| part.trim_end().len());
    span.start..span.start + length
}
