//! Checks a tree against the JSON Schema of its form, and finds every unknown key, missing key and wrong type
//! at once. It supports only the schemas that `schemars` generates for plain structs; serde checks everything
//! else.

use dmlcts_model::closest;
use serde_json::Value;

use super::tree::{Key, Node, NodeKind};
use crate::{
    Diagnostic,
    names::{all, list},
    source::Located,
};

/// All mistakes in the shape of a file.
pub(super) fn check(source: &Located, root: &Node, schema: &Value) -> Vec<Diagnostic> {
    let mut checker = Checker { source, root: schema, mistakes: Vec::new() };
    checker.node(root, schema, "the file");
    checker.mistakes.sort_by_key(|mistake| mistake.span().start);
    checker.mistakes
}

struct Checker<'a> {
    source: &'a Located,
    root: &'a Value,
    mistakes: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    /// Resolves `$ref`. For a nullable value, takes the part of the schema that is not null.
    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        loop {
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                let Some(target) = reference.strip_prefix('#').and_then(|path| self.root.pointer(path))
                else {
                    return schema;
                };
                schema = target;
            } else if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
                let other = choices.iter().find(|choice| type_names(choice) != ["null"]);
                let Some(other) = other else { return schema };
                schema = other;
            } else {
                return schema;
            }
        }
    }

    fn wrong(&mut self, node: &Node, what: &str, expected: &str) {
        let text = self.source.text.get(node.span.clone()).unwrap_or_default();
        let end = node.span.start + text.find('\n').unwrap_or(text.len());
        let message = format!("{what} is {}, where {expected} is expected", describe(node));
        let mut mistake =
            Diagnostic::new(self.source, node.span.start..end, message, format!("not {expected}"));
        if expected == "a text" && matches!(node.kind, NodeKind::Scalar { plain: true, .. }) {
            mistake = mistake.help(format!("put it in quotes: \"{}\"", text.trim()));
        }
        self.mistakes.push(mistake);
    }

    fn node(&mut self, node: &Node, schema: &'a Value, what: &str) {
        if is_null(node) && allows_null(schema) {
            return;
        }
        let schema = self.resolve(schema);
        if let Some(names) = choices(schema) {
            match &node.kind {
                NodeKind::Scalar { value, .. } if names.contains(&value.as_str()) => {}
                NodeKind::Scalar { value, .. } => {
                    let message = format!("{what} is `{value}`, which is not one of its values");
                    let expected = format!("expected {}", list(names.iter().copied()));
                    let mistake = Diagnostic::new(self.source, node.span.clone(), message, expected);
                    self.mistakes.push(mistake.near(closest(value, names)));
                }
                _ => self.wrong(node, what, "a word"),
            }
            return;
        }
        let types = type_names(schema);
        let types: Vec<&str> = types.into_iter().filter(|&name| name != "null").collect();
        match types.as_slice() {
            ["object"] => self.mapping(node, schema, what),
            ["array"] => match &node.kind {
                NodeKind::Sequence(items) => {
                    let Some(each) = schema.get("items") else { return };
                    for item in items {
                        self.node(item, each, &format!("an item of {what}"));
                    }
                }
                _ => self.wrong(node, what, "a list"),
            },
            ["string"] if !is_text(node) => self.wrong(node, what, "a text"),
            ["boolean"] if plain(node).is_none_or(|text| !matches!(text, "true" | "false")) => {
                self.wrong(node, what, "true or false");
            }
            ["number"] if plain(node).is_none_or(|text| !is_number(text)) => {
                self.wrong(node, what, "a number");
            }
            ["integer"] => self.integer(node, schema, what),
            _ => {}
        }
    }

    fn integer(&mut self, node: &Node, schema: &Value, what: &str) {
        let Some(value) = plain(node).and_then(integer) else {
            return self.wrong(node, what, "a whole number");
        };
        let (unsigned, bits) = match schema.get("format").and_then(Value::as_str) {
            Some("uint8") => (true, 8),
            Some("uint16") => (true, 16),
            Some("uint32") => (true, 32),
            Some("uint64" | "uint") => (true, 64),
            Some("int32") => (false, 31),
            Some("int64") => (false, 63),
            _ => return,
        };
        let least = if unsigned { 0 } else { -(1_i128 << bits) };
        let greatest = (1_i128 << bits) - 1;
        if !(least..=greatest).contains(&value) {
            let message = format!("{what} is {value}, which it cannot hold");
            let label = format!("expected {least} to {greatest}");
            self.mistakes.push(Diagnostic::new(self.source, node.span.clone(), message, label));
        }
    }

    fn mapping(&mut self, node: &Node, schema: &'a Value, what: &str) {
        let NodeKind::Mapping(entries) = &node.kind else {
            return self.wrong(node, what, "a mapping");
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.and_then(|properties| properties.get(name));
        let others = schema.get("additionalProperties");
        for (key, value) in entries {
            match known(&key.name).or(others) {
                Some(Value::Bool(false)) => {
                    let names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                    self.unknown(key, names.collect(), entries, what);
                }
                Some(schema) => self.node(value, schema, &format!("`{}`", key.name)),
                None => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<&str> = required.filter(|name| node.get(name).is_none()).collect();
        let Some(first) = missing.first() else { return };
        // The mistake points at the mapping's first key.
        let span = entries.first().map_or_else(|| node.span.clone(), |(key, _)| key.span.clone());
        let message = format!("{what} lacks {}", all(missing.iter().copied()));
        let mut mistake = Diagnostic::new(self.source, span, message, "missing here");
        let description = known(first).and_then(|schema| schema.get("description")?.as_str());
        if let Some(text) = description.and_then(|text| text.split(['.', ';']).next()) {
            mistake = mistake.help(format!("`{first}`: {}", text.replace('\n', " ")));
        }
        self.mistakes.push(mistake);
    }

    fn unknown(&mut self, key: &Key, names: Vec<&str>, entries: &[(Key, Node)], what: &str) {
        let unused = names.into_iter().filter(|&name| entries.iter().all(|(key, _)| key.name != name));
        let unused: Vec<&str> = unused.collect();
        let message = format!("{what} has no key `{}`", key.name);
        let label = format!("expected {}", list(unused.iter().copied()));
        let mistake = Diagnostic::new(self.source, key.span.clone(), message, label);
        self.mistakes.push(mistake.near(closest(&key.name, unused)));
    }
}

/// The names in a schema's `type`.
fn type_names(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn allows_null(schema: &Value) -> bool {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    type_names(schema).contains(&"null")
        || choices.is_some_and(|choices| choices.iter().any(|choice| type_names(choice) == ["null"]))
}

/// The values of an enumeration.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(Value::as_str).collect();
    }
    schema.get("oneOf")?.as_array()?.iter().map(|choice| choice.get("const")?.as_str()).collect()
}

/// The text of an unquoted scalar.
fn plain(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar { value, plain: true } => Some(value),
        _ => None,
    }
}

pub(super) fn is_null(node: &Node) -> bool {
    plain(node).is_some_and(|text| matches!(text, "" | "~" | "null" | "Null" | "NULL"))
}

/// Parses an integer as YAML's core schema does.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match (digits.strip_prefix("0x"), digits.strip_prefix("0o"), digits.strip_prefix("0b")) {
        (Some(hex), ..) => i128::from_str_radix(hex, 16),
        (_, Some(octal), _) => i128::from_str_radix(octal, 8),
        (_, _, Some(binary)) => i128::from_str_radix(binary, 2),
        _ if digits.starts_with(['+', '-']) => return None,
        _ => digits.parse(),
    };
    value.ok().map(|value| if negative { -value } else { value })
}

fn is_number(text: &str) -> bool {
    integer(text).is_some() || finite(text).is_some()
}

/// Parses a number that is neither infinite nor NaN.
pub(super) fn finite(text: &str) -> Option<f64> {
    let is_numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    text.parse().ok().filter(|number: &f64| is_numeric && number.is_finite())
}

/// Whether a value is read as a string: it is quoted, or it is plain and cannot be another type.
pub(super) fn is_text(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Scalar { plain: false, .. } => true,
        NodeKind::Scalar { value, .. } => {
            let boolean = matches!(value.as_str(), "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
            !is_null(node) && !boolean && !is_number(value)
        }
        _ => false,
    }
}

fn describe(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Sequence(_) => "a list",
        NodeKind::Mapping(_) => "a mapping",
        NodeKind::Scalar { .. } if is_null(node) => "empty",
        NodeKind::Scalar { .. } if is_text(node) => "a text",
        NodeKind::Scalar { value, .. } if integer(value).is_some() => "a whole number",
        NodeKind::Scalar { value, .. } if is_number(value) => "a number",
        NodeKind::Scalar { .. } => "true or false",
    }
}
