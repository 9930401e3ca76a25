//! The reasons for skipped cases: each thing that the backend did not declare, one line for each reason.

use std::collections::BTreeSet;

use dmlcts_model::{DataType, FeatureLevel};
use dmlcts_runner::{Summary, Undeclared, Verdict};
use dmlcts_spec::{Library, Operator};

use crate::numbers::{counted, grouped};

/// One line for each reason, with the number of cases of each operator.
pub(crate) fn skipped(library: &Library, summary: &Summary) -> Vec<String> {
    let skipped = &summary.totals.skipped;
    let mut left = summary.tally().of(Verdict::Skip);
    let mut lines = Vec::new();
    let reasons: BTreeSet<Undeclared> = skipped.iter().map(|(_, undeclared, _)| undeclared).collect();
    for undeclared in reasons {
        let each = library
            .operators()
            .iter()
            .map(|operator| (operator, skipped.of(operator.position(), undeclared)));
        let each: Vec<(&Operator, u64)> = each.filter(|(_, cases)| *cases > 0).collect();
        let cases: u64 = each.iter().map(|(_, cases)| cases).sum();
        if cases == 0 {
            continue;
        }
        left = left.saturating_sub(cases);
        let what = what(undeclared, library, summary.level, summary);
        if matches!(undeclared, Undeclared::Lack(_)) {
            // The declaration names its operator.
            lines.push(format!("{} {what}", counted(cases, "case")));
            continue;
        }
        let each: Vec<String> =
            each.iter().map(|(operator, cases)| format!("{} {}", operator.name(), grouped(*cases))).collect();
        lines.push(format!("{} {what}: {}", counted(cases, "case"), each.join(", ")));
    }
    if left > 0 {
        lines.push(format!("{} for a reason that was not recorded", counted(left, "case")));
    }
    lines
}

/// The reasons for one operator, in a few words.
pub(crate) fn skipped_of(operator: &Operator, library: &Library, summary: &Summary) -> String {
    let own = summary.totals.skipped.iter().filter(|(place, ..)| *place == operator.position());
    let reasons = own.map(|(_, undeclared, cases)| {
        format!("{} {}", grouped(cases), what(undeclared, library, summary.level, summary))
    });
    reasons.collect::<Vec<_>>().join(", ")
}

/// Describes the cases that a backend skips for this reason.
pub(crate) fn what(
    undeclared: Undeclared,
    library: &Library,
    level: FeatureLevel,
    summary: &Summary,
) -> String {
    let backend = &summary.capabilities;
    match undeclared {
        Undeclared::Operator => "of operators that it does not have".to_owned(),
        Undeclared::DataType => {
            let missing = missing_types(library, level, summary);
            let missing = if missing.is_empty() { missing } else { format!(" ({missing})") };
            format!("of data types that it does not have{missing}")
        }
        Undeclared::Rank => {
            let (least, most) = (backend.ranks.start(), backend.ranks.end());
            format!("of ranks that it does not have (it has {least} to {most})")
        }
        Undeclared::Lack(place) => {
            let lack = backend.lacks.get(place).map(ToString::to_string).unwrap_or_default();
            format!("of {lack}")
        }
        Undeclared::BareArrays => "of invalid descs that bare arrays of C cannot say".to_owned(),
    }
}

/// The data types that some operator has at this level and the backend lacks.
fn missing_types(library: &Library, level: FeatureLevel, summary: &Summary) -> String {
    let backend = &summary.capabilities;
    let mut missing: Vec<DataType> = Vec::new();
    let rows = library.operators().iter().filter_map(|operator| operator.support_at(level));
    for data_type in rows.flat_map(|row| &row.types) {
        if !backend.data_types.contains(data_type) && !missing.contains(data_type) {
            missing.push(*data_type);
        }
    }
    missing.iter().map(DataType::to_string).collect::<Vec<_>>().join(", ")
}
