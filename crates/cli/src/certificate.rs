//! What a complete run of exhaustive parts proves: the bounds, the counts, and the spec's hash.

use dmlcts_generate::{Certificate, Row};
use dmlcts_report::grouped;

/// The certificate, line by line. Ranks with equal counts share a line.
pub(crate) fn lines(certificate: &Certificate) -> Vec<String> {
    let mut lines = vec![format!(
        "{} cases, each one within the bounds below, by the spec {:.12}",
        number(certificate.cases()),
        certificate.spec_hash
    )];
    for part in &certificate.parts {
        let cases = part.rows.iter().map(|row| row.cases).sum();
        lines.push(format!("{}: {} cases, where on every axis", part.id, number(cases)));
        lines.extend(part.bounds.iter().map(|bound| format!("    {bound}")));
        let mut rows = part.rows.iter().peekable();
        while let Some(first) = rows.next() {
            let mut last = first;
            while let Some(next) = rows.next_if(|next| continues(first, last, next)) {
                last = next;
            }
            let name = format!("{} {}", first.operator, first.setting);
            let (ranks, each) = if first.rank == last.rank {
                (format!("rank {}", first.rank), "")
            } else {
                (format!("ranks {} to {}", first.rank, last.rank), " each")
            };
            lines.push(format!("  {:<30} {ranks}: {} cases{each}", name.trim_end(), number(first.cases)));
        }
    }
    lines
}

/// Whether the row `next`, of the next rank, is equal to the rows from `first` to `last`.
fn continues(first: &Row, last: &Row, next: &Row) -> bool {
    (&next.operator, &next.setting, next.cases) == (&first.operator, &first.setting, first.cases)
        && next.rank == last.rank + 1
}

/// A count that may be larger than any number of cases that runs.
pub(crate) fn number(count: u128) -> String {
    u64::try_from(count).map_or_else(|_| count.to_string(), grouped)
}
