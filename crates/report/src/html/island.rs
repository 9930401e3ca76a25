//! The data for the script of a page, as JSON: the listed cases, and the names that a filter may use.
//!
//! Texts that many cases share are stored once. Nothing in the JSON can end the element that holds it, since
//! `<` is written as an escape.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dmlcts_diagnose::{Finding, Membership};
use dmlcts_model::{MemberKind, Signature, line, printable};
use dmlcts_runner::{Class, Verdict};
use dmlcts_spec::{Operator, Validity};
use serde_json::{Value, json};

use super::log::{CaseLog, Listed};
use crate::{Replay, command};

/// The names of the columns of a row, in order.
const COLUMNS: [&str; 12] = [
    "index", "line", "verdict", "class", "finding", "clauses", "validity", "known", "what", "change", "old",
    "new",
];

/// The maximum length of the id of a finding.
const LONGEST_ID: usize = 200;

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

/// The JSON for the listed cases of a log, without a character that means something in HTML.
pub(super) fn island(log: &CaseLog, findings: &[Finding], replay: &Replay) -> String {
    let mut membership = Membership::new(findings, log.library(), log.level());
    let mut texts = Texts::default();
    let rows: Vec<Value> = log
        .listed()
        .iter()
        .map(|listed| {
            let place = finding_of(listed, log, &mut membership);
            let finding = place.and_then(|place| findings.get(place));
            row(listed, finding.map_or("", |finding| &finding.id), &mut texts)
        })
        .collect();
    let mut words = vec!["dmlcts".to_owned(), "run".to_owned()];
    words.extend_from_slice(&replay.options);
    let island = json!({
        "columns": COLUMNS,
        "texts": texts.all,
        "rows": rows,
        "leftOut": log.left_out(),
        "command": command(&words),
        "operators": operators(log),
        "definitions": definitions(log),
        "values": values(log, findings),
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

fn finding_of(listed: &Listed, log: &CaseLog, membership: &mut Membership<'_>) -> Option<usize> {
    let case = line::parse(&listed.line, log.library().signatures()).ok()?;
    let (class, outcome) = (listed.class?, listed.outcome.as_ref()?);
    membership.finding_of(&case, (listed.verdict, class, outcome))
}

fn row(listed: &Listed, finding: &str, texts: &mut Texts) -> Value {
    let mut text = |text: &str| texts.place(&printable(text, usize::MAX));
    let validity = match listed.validity {
        Some(Validity::Valid) => "valid",
        Some(Validity::Invalid) => "invalid",
        Some(Validity::Open) => "open",
        None => "",
    };
    let clauses: Vec<usize> = listed.violates.iter().map(|clause| text(clause)).collect();
    let mut row = vec![
        json!(listed.index),
        json!(listed.line),
        json!(text(listed.verdict.id())),
        json!(text(listed.class.map_or("", Class::id))),
        json!(text(finding)),
        json!(clauses),
        json!(text(validity)),
        json!(text(listed.known.as_deref().unwrap_or_default())),
        json!(text(&listed.what)),
    ];
    if let Some(change) = &listed.change {
        row.extend([json!(text(change.kind)), json!(text(&change.old)), json!(text(&change.new))]);
    }
    json!(row)
}

/// For each operator, its members and their kinds, as the script reads them from a line.
fn operators(log: &CaseLog) -> Value {
    let members = |signature: &Signature| -> Value {
        let kind = |kind: &MemberKind| match kind {
            MemberKind::U32List | MemberKind::I32List => "list",
            MemberKind::Count => "count",
            MemberKind::Enumeration(_) | MemberKind::DataType => "name",
            MemberKind::Scalar => "scalar",
            _ => "integer",
        };
        signature.members.iter().map(|member| (member.name.clone(), json!(kind(&member.kind)))).collect()
    };
    let all = log.library().operators().iter();
    all.map(|operator| (operator.name().to_owned(), members(operator.signature()))).collect()
}

/// For each operator, its definitions, which are names in predicates.
fn definitions(log: &CaseLog) -> Value {
    let of = |operator: &Operator| -> Value {
        let all = operator.scope().definitions().iter();
        all.map(|definition| (definition.name.clone(), json!(definition.expression.to_string()))).collect()
    };
    log.library().operators().iter().map(|operator| (operator.name().to_owned(), of(operator))).collect()
}

/// The values that a filter compares names with, by name.
fn values(log: &CaseLog, findings: &[Finding]) -> Value {
    let operators = log.library().operators();
    let clauses = operators.iter().flat_map(Operator::clauses).map(|clause| clause.id.clone());
    let types = operators.iter().flat_map(Operator::support).flat_map(|row| &row.types);
    let ids = findings.iter().map(|finding| printable(&finding.id, LONGEST_ID).into_owned());
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::from([
        ("operator", operators.iter().map(|operator| operator.name().to_owned()).collect()),
        ("verdict", Verdict::ALL.map(|verdict| verdict.id().to_owned()).into()),
        ("class", Class::ALL.map(|class| class.id().to_owned()).into()),
        ("clause", clauses.collect()),
        ("InputTensor.DataType", types.map(ToString::to_string).collect()),
        ("finding", ids.collect()),
    ]);
    for (operator, mode) in
        operators.iter().flat_map(|operator| operator.modes().iter().map(move |mode| (operator, mode)))
    {
        if let Some(member) = operator.signature().members.get(mode.member) {
            values.entry(&member.name).or_default().insert(mode.name.clone());
        }
    }
    json!(values)
}
