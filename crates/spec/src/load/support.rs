//! Checks support rows, and derives clauses from them.

use std::fmt::Write;

use dmlcts_model::{FeatureLevel, MemberKind, Signature};

use super::common::{Common, cite, data_type_at, level_at};
use crate::{Citation, Diagnostic, ModeSupport, Support, form::OperatorForm, yaml::Document};

/// The rows, oldest first. Values that a row leaves out are copied from the row before.
pub(super) fn rows(
    document: &Document<OperatorForm>,
    introduced: FeatureLevel,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Support> {
    let form = &document.value;
    let mut rows: Vec<Support> = Vec::new();
    for (index, row) in form.support.iter().enumerate() {
        let place = document.root().key("support").index(index);
        let Some(since) = level_at(place.key("since"), &row.since, wrong) else { continue };
        match rows.last() {
            Some(before) if before.since >= since => {
                let message = format!("the row for {since} stands below the one for {}", before.since);
                wrong.push(place.key("since").mistake(message, "rows stand oldest first, one a level"));
                continue;
            }
            None if since != introduced => {
                let message =
                    format!("the first row is for {since}, but the operator is as old as {introduced}");
                wrong.push(place.key("since").mistake(message, format!("expected \"{introduced}\"")));
            }
            _ => {}
        }
        let dimensions = row.dimensions.map(|range| {
            if range.min > range.max || range.max > 8 {
                let message = format!("{} to {} is no range of dimension counts", range.min, range.max);
                wrong.push(place.key("dimensions").mistake(message, "expected min <= max <= 8"));
            }
            range.min..=range.max
        });
        let types = row.types.as_ref().map(|types| {
            let place = place.key("types");
            let types = types.iter().enumerate();
            types
                .filter_map(|(index, name)| data_type_at(place.index(index), name, wrong))
                .collect::<Vec<_>>()
        });
        let before = rows.last();
        let (Some(dimensions), Some(types)) = (
            dimensions.or_else(|| before.map(|row| row.dimensions.clone())),
            types.or_else(|| before.map(|row| row.types.clone())),
        ) else {
            let message = "the first row says both `dimensions` and `types`";
            wrong.push(place.name("since").mistake(message, "one is missing from this row"));
            continue;
        };
        let cite = cite(row.page.as_ref(), &row.cite, &form.page);
        rows.push(Support { since, dimensions, types, cite, note: row.note.clone() });
    }
    if rows.is_empty() && form.support.is_empty() {
        wrong.push(
            document.root().name("support").mistake("an operator has a row of support", "add one here"),
        );
    }
    rows
}

/// The first feature level of each enumerator of each enumeration member.
pub(super) fn modes(common: &Common, signature: &Signature, introduced: FeatureLevel) -> Vec<ModeSupport> {
    let mut modes = Vec::new();
    for (member, kind) in signature.members.iter().enumerate().map(|(at, member)| (at, &member.kind)) {
        let MemberKind::Enumeration(enumeration) = kind else { continue };
        let Some(known) = common.enumeration(&enumeration.name) else { continue };
        for (enumerator, (since, cite)) in enumeration.enumerators.iter().zip(&known.since) {
            let since = since.unwrap_or(introduced).max(introduced);
            let (name, value) = (enumerator.name.clone(), enumerator.value);
            modes.push(ModeSupport { member, name, value, since, cite: cite.clone() });
        }
    }
    modes
}

/// A derived clause: its id without the operator's prefix, its condition, and its citation.
pub(super) struct SupportClause {
    pub(super) id: String,
    pub(super) given: Vec<String>,
    pub(super) text: String,
    pub(super) cite: Citation,
}

impl SupportClause {
    pub(super) fn new(id: &str, given: &[&str], text: String, cite: &Citation) -> Self {
        let given = given.iter().map(|&id| id.to_owned()).collect();
        Self { id: id.to_owned(), given, text, cite: cite.clone() }
    }
}

/// The clauses that are derived from support.
pub(super) fn clauses(
    signature: &Signature,
    introduced: FeatureLevel,
    rows: &[Support],
    modes: &[ModeSupport],
    introduced_at: &Citation,
) -> Vec<SupportClause> {
    let mut clauses =
        vec![SupportClause::new("introduced", &[], format!("level >= {introduced}"), introduced_at)];
    let mut by_rows = |id: &str, text: &dyn Fn(&Support) -> String| {
        // Rows that do not change this value would only make the clause longer.
        let mut changes: Vec<(&Support, String)> = rows.iter().map(|row| (row, text(row))).collect();
        changes.dedup_by(|(_, text), (_, before)| text == before);
        let [(oldest, text), later @ ..] = changes.as_slice() else { return };
        let mut whole = String::new();
        for (row, text) in later.iter().rev() {
            let _ = write!(whole, "if level >= {} then {text} else ", row.since);
        }
        whole.push_str(text);
        let cite = later.last().map_or(&oldest.cite, |(row, _)| &row.cite);
        clauses.push(SupportClause::new(id, &["input.present"], whole, cite));
    };
    by_rows("dimensions", &|row| {
        format!("{} <= InputTensor.DimensionCount <= {}", row.dimensions.start(), row.dimensions.end())
    });
    by_rows("types", &|row| {
        let names: Vec<String> = row.types.iter().map(ToString::to_string).collect();
        format!("InputTensor.DataType in [{}]", names.join(", "))
    });
    let mut members: Vec<usize> = modes.iter().map(|mode| mode.member).collect();
    members.dedup();
    for &member in &members {
        let name = &signature.members[member].name;
        let of_member = || modes.iter().filter(move |mode| mode.member == member);
        let old: Vec<&str> =
            of_member().filter(|mode| mode.since == introduced).map(|mode| mode.name.as_str()).collect();
        let mut text = String::new();
        if !old.is_empty() {
            let _ = write!(text, "{name} in [{}]", old.join(", "));
        }
        for mode in of_member().filter(|mode| mode.since > introduced) {
            let or = if text.is_empty() { "" } else { " or " };
            let _ = write!(text, "{or}{name} == {} and level >= {}", mode.name, mode.since);
        }
        let id = if members.len() == 1 { "mode".to_owned() } else { format!("{name}.mode") };
        if let Some(mode) = of_member().next() {
            clauses.push(SupportClause::new(&id, &[], text, &mode.cite));
        }
    }
    clauses
}
