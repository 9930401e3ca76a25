//! The data for the script of a page, as JSON: the listed cases.
//!
//! Texts that many cases share are stored once. Nothing in the JSON can end the element that holds it, since
//! `<` is written as an escape.

use std::collections::HashMap;

use dmlcts_diagnose::Finding;
use dmlcts_model::printable;
use dmlcts_results::{CaseLog, ChangeKind, Listed};
use dmlcts_runner::Class;
use dmlcts_spec::Validity;
use serde_json::{Value, json};

use crate::Replay;

/// The names of the columns of a row, in order.
const COLUMNS: [&str; 13] = [
    "index", "line", "verdict", "class", "finding", "clause", "validity", "known", "operator", "what",
    "change", "old", "new",
];

/// Texts by their first use.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    places: HashMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: &str) -> usize {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.all.len();
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

/// The JSON for the listed cases of a log, without a character that means something in HTML. Empty if no case
/// is listed.
pub(super) fn island(log: &CaseLog, findings: &[Finding], replay: &Replay) -> String {
    if log.listed().is_empty() {
        return String::new();
    }
    let mut texts = Texts::default();
    let members = log.members(findings);
    let rows: Vec<Value> = log
        .listed()
        .iter()
        .zip(members)
        .map(|(listed, member)| {
            let finding = member.and_then(|place| findings.get(place));
            row(listed, finding.map_or("", |finding| &finding.id), &mut texts)
        })
        .collect();
    let island = json!({
        "columns": COLUMNS,
        "texts": texts.all,
        "rows": rows,
        "command": replay.of_run(&[], &[] as &[String]),
    });
    escape(&island.to_string())
}

/// Escapes what could end the element, or start a comment in it. To some readers, line separators end a line.
fn escape(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            letter => text.push(letter),
        }
    }
    text
}

fn row(listed: &Listed, finding: &str, texts: &mut Texts) -> Value {
    let mut text = |text: &str| texts.place(&printable(text, usize::MAX));
    let validity = match listed.validity {
        Some(Validity::Valid) => "valid",
        Some(Validity::Invalid) => "invalid",
        Some(Validity::Open) => "open",
        None => "",
    };
    // As in other columns, the empty text stands for no value.
    let none = listed.violates.is_empty().then_some("");
    let clauses: Vec<usize> = listed.violates.iter().map(String::as_str).chain(none).map(&mut text).collect();
    let mut row = vec![
        json!(listed.index),
        json!(listed.line),
        json!(text(listed.verdict.id())),
        json!(text(listed.class.map_or("", Class::id))),
        json!(text(finding)),
        json!(clauses),
        json!(text(validity)),
        json!(text(listed.known.as_deref().unwrap_or_default())),
        json!(text(listed.line.split(' ').next().unwrap_or_default())),
        json!(text(&listed.what)),
    ];
    if let Some(change) = &listed.change {
        row.extend([
            json!(text(change.kind.map_or("same", id))),
            json!(text(&change.old)),
            json!(text(&change.new)),
        ]);
    }
    json!(row)
}

/// The name of a kind in the table of cases.
pub(super) fn id(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Broken => "broken",
        ChangeKind::Changed => "changed",
        ChangeKind::NewFailing => "new-failing",
        ChangeKind::Answered => "answered",
        ChangeKind::Fixed => "fixed",
        ChangeKind::New => "new",
        ChangeKind::Gone => "gone",
    }
}
