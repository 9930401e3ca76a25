//! The differences between two recorded runs, cut to a length that a person reads.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_results::{Change, ChangeKind, Comparison, Side, Trend};
use dmlcts_runner::Ending;

use crate::{
    Style, Tone,
    markdown::{text as escaped_text, write_code},
    numbers::{counted, grouped},
};

/// The maximum number of changes shown for each [`ChangeKind`].
const SHOWN: usize = 8;
/// The maximum number of named differences between the runs themselves.
const NAMED: usize = 4;
/// The maximum number of findings.
const FINDINGS: usize = 20;

/// The kinds, the most serious first.
pub(crate) const KINDS: [(ChangeKind, &str, Tone); 7] = [
    (ChangeKind::Broken, "broken", Tone::Bad),
    (ChangeKind::Changed, "changed", Tone::Note),
    (ChangeKind::NewFailing, "new, bad", Tone::Bad),
    (ChangeKind::Answered, "answered", Tone::Note),
    (ChangeKind::Fixed, "fixed", Tone::Good),
    (ChangeKind::New, "new", Tone::Strong),
    (ChangeKind::Gone, "gone", Tone::Note),
];

/// Writes the comparison of two runs.
pub fn write_comparison(out: &mut dyn Write, comparison: &Comparison, style: Style) -> io::Result<()> {
    // The text of both files is untrusted.
    let mut line = |tone: Tone, head: &str, text: &str| {
        writeln!(out, "{} {}", style.paint(tone, format_args!("{head:<9}")), escaped(text))
    };
    line(Tone::Strong, "old", &side(&comparison.old))?;
    line(Tone::Strong, "new", &side(&comparison.new))?;
    let differences = comparison.old.header.disagreements(&comparison.new.header);
    for (place, difference) in differences.iter().take(NAMED).enumerate() {
        line(Tone::Strong, if place == 0 { "differ in" } else { "" }, &difference.describe("before", "now"))?;
    }
    for (kind, head, tone) in KINDS {
        let all = comparison.count(kind);
        if all == 0 {
            continue;
        }
        if kind == ChangeKind::Gone && comparison.is_left_open() {
            let open = "of which nobody knows what they come to, since the new run is not complete";
            line(Tone::Bad, head, &format!("{}, {open}", counted(all, "case")))?;
        } else {
            line(tone, head, &counted(all, "case"))?;
        }
        let of_kind = || comparison.changes.iter().filter(|change| change.kind == kind);
        for change in of_kind().take(SHOWN) {
            line(tone, "", &format!("{:>9}  {}", grouped(change.cases), describe(change)))?;
            line(tone, "", &format!("{:>9}  {}", "", change.example))?;
        }
        let further = of_kind().skip(SHOWN);
        let (kinds, cases) = further.fold((0, 0), |(kinds, cases), change| (kinds + 1, cases + change.cases));
        if kinds > 0 {
            let text = format!("{:>9}  in {}", grouped(cases), counted(kinds, "further kind"));
            line(tone, "", &text)?;
        }
    }
    line(Tone::Strong, "same", &counted(comparison.same, "case"))?;
    for (place, (trend, finding, [old, new])) in comparison.findings().into_iter().enumerate() {
        if place == FINDINGS {
            let left = comparison.findings().len() - FINDINGS;
            return line(Tone::Strong, "", &format!("and {}", counted(left as u64, "further finding")));
        }
        let (word, tone) = became(trend);
        let predicate = finding.rule.as_ref().map(|rule| format!(", where {}", rule.predicate));
        let (old, new) = (grouped(old), counted(new, "case"));
        let text = format!(
            "{word} {}: {}, {}: {old} before, now {new}{}",
            finding.id,
            finding.operators.join(", "),
            finding.failures.class,
            predicate.unwrap_or_default()
        );
        line(tone, if place == 0 { "findings" } else { "" }, &text)?;
    }
    Ok(())
}

/// Writes the comparison of two runs as Markdown: a heading with the number of cases of each kind, and the
/// text of [`write_comparison`].
pub fn write_markdown_comparison(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let kinds = KINDS.iter().map(|(kind, head, _)| (comparison.count(*kind), head.replace(", ", " and ")));
    let kinds: Vec<String> = kinds
        .filter(|(cases, _)| *cases > 0)
        .map(|(cases, head)| format!("{} {head}", grouped(cases)))
        .collect();
    let kinds = if kinds.is_empty() { "no case changed".to_owned() } else { kinds.join(", ") };
    let names = format!("{} → {}", comparison.old.path, comparison.new.path);
    writeln!(out, "## dmlcts: {}: {kinds}\n", escaped_text(&names))?;
    let mut whole = Vec::new();
    write_comparison(&mut whole, comparison, Style::PLAIN)?;
    // It is cut to a length that a person reads.
    write_code(out, &String::from_utf8_lossy(&whole), usize::MAX)
}

/// The word for what became of a finding.
pub(crate) fn became(trend: Trend) -> (&'static str, Tone) {
    match trend {
        Trend::New => ("new", Tone::Bad),
        Trend::Grown => ("grown", Tone::Bad),
        Trend::Shrunk => ("shrunk", Tone::Note),
        Trend::Fixed => ("fixed", Tone::Good),
    }
}

/// Names a run: its file, its cases, its backend, its spec and its ending.
pub(crate) fn side(side: &Side) -> String {
    let (header, selection) = (&side.header, &side.header.selection);
    let backend = &header.backend.capabilities;
    let cut = match side.ending {
        None => "; the run was cut off",
        Some(Ending::Interrupted) => "; the run was interrupted",
        Some(Ending::BackendLost) => "; the run lost its backend",
        Some(Ending::NotRecorded) => "; the run could not be recorded to its end",
        Some(Ending::MaxFailures) => "; the run ended since too many cases failed",
        Some(Ending::Timeout) => "; the run ended since its time was up",
        Some(Ending::Hangs) => "; the run ended since too many cases hung",
        Some(Ending::Complete | Ending::Limit) if side.is_abandoned => "; some cases were never answered",
        Some(Ending::Complete | Ending::Limit) => "",
    };
    format!(
        "{}: {} on {} {}, spec {:.12}: {}{cut}",
        side.path,
        selection.describe(),
        backend.name,
        backend.version,
        header.spec,
        counted(side.cases, "different case"),
    )
}

pub(crate) fn describe(change: &Change) -> String {
    let Change { operator, old, new, .. } = change;
    match (old.as_str(), new.as_str()) {
        ("", new) => format!("{operator}: {new}"),
        (old, "") => format!("{operator}: {old} before"),
        (old, new) => format!("{operator}: {old} before, now {new}"),
    }
}
