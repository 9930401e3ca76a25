//! What a complete run of exhaustive parts proves: bounds, counts, and the spec's hash.

use dmlcts_generate::{Length, suite::Strategy};
use dmlcts_runner::Parts;
use dmlcts_spec::Library;

/// One line for each exhaustive part, and one with the spec's hash; none where the suite has no such part.
pub(crate) fn of(parts: &Parts, strategies: &[Strategy], library: &Library) -> Vec<String> {
    if !strategies.is_empty() && !strategies.contains(&Strategy::Exhaustive) {
        return Vec::new();
    }
    let exhaustive = parts.expansion().parts().iter().filter(|part| part.strategy() == Strategy::Exhaustive);
    let mut lines: Vec<String> = exhaustive
        .filter_map(|part| match part.length() {
            Length::Finite(length) => {
                let form = part.form();
                let bounds: Vec<String> = form
                    .bounds
                    .iter()
                    .flatten()
                    .map(|bound| match &bound.operator {
                        Some(operator) => format!("{operator}: {}", bound.that),
                        None => bound.that.clone(),
                    })
                    .collect();
                let ranks = form.ranks.map_or_else(String::new, |ranks| {
                    if ranks.min == ranks.max {
                        format!(", rank {}", ranks.min)
                    } else {
                        format!(", ranks {} to {}", ranks.min, ranks.max)
                    }
                });
                let bounds =
                    if bounds.is_empty() { String::new() } else { format!(" where {}", bounds.join("; ")) };
                let count = dmlcts_report::counted(u64::try_from(length).unwrap_or(u64::MAX), "valid case");
                Some(format!("{}: all {count}{ranks}{bounds}", part.id()))
            }
            Length::Endless => None,
        })
        .collect();
    if !lines.is_empty() {
        lines.push(format!("by the spec {}", library.hash()));
    }
    lines
}
