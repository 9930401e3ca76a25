//! All findings of a run in a few lines, in front of each finding in full.

use std::{
    cmp::Reverse,
    io::{self, Write},
};

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_model::{escaped, printable};
use dmlcts_spec::Validity;

use crate::{
    Style, Tone,
    failure::{did, names},
    flake::is_by_chance,
    numbers::{counted, grouped},
};

/// The maximum length of a predicate on a terminal or a page. The finding in full has all of it.
const LONGEST_PREDICATE: usize = 100;
/// The maximum length of what the smallest case shows.
const LONGEST_FACT: usize = 80;
/// The minimum number of columns for a predicate, and for a part of what the smallest case shows.
const LEAST: usize = 20;
/// What follows a text that is cut.
const MORE: &str = " ...";
/// A backend that fails this share of its cases, or more, is broken: what explains most failures comes first.
const BROKEN: u64 = 20;

/// The findings in the order of reports. Usually the most severe ones come first. If a twentieth of the cases
/// fail, those with the most failures come first.
pub(crate) fn in_order(diagnosis: &Diagnosis) -> Vec<&Finding> {
    let tally = diagnosis.summary.tally();
    let mut findings: Vec<&Finding> = diagnosis.findings.iter().collect();
    if tally.unexpected() >= (diagnosis.summary.totals.progress.ran / BROKEN).max(1) {
        findings.sort_by_key(|finding| (Reverse(finding.cases), finding.order()));
    }
    findings
}

/// A finding in a few words.
pub(crate) struct FindingRow {
    /// The class, and whether it fails by chance.
    pub(crate) class: String,
    /// The start of the predicate, or the operators.
    pub(crate) place: String,
    /// What the smallest case shows: the first wrong element, the broken clauses, or the backend's words.
    pub(crate) fact: String,
}

impl FindingRow {
    pub(crate) fn new(finding: &Finding) -> Self {
        let flaky = if is_by_chance(&finding.first) { "flaky " } else { "" };
        let place = match &finding.rule {
            Some(rule) => start(&rule.predicate.to_string(), LONGEST_PREDICATE),
            None => finding.operators.join(", "),
        };
        Self { class: format!("{flaky}{}", finding.class.id()), place, fact: fact(finding) }
    }
}

/// One line for each finding: its number, cases, class, predicate, and what its smallest case shows. If they
/// do not fit into the width, the predicate comes first: it names the cause.
fn lines(findings: &[&Finding], style: Style) -> Vec<String> {
    let rows: Vec<FindingRow> = findings.iter().map(|finding| FindingRow::new(finding)).collect();
    let counts: Vec<String> = findings.iter().map(|finding| grouped(finding.cases)).collect();
    let of_class = rows.iter().map(|row| row.class.len()).max().unwrap_or(0);
    let of_count = counts.iter().map(String::len).max().unwrap_or(0);
    let all = findings.iter().zip(&rows).zip(&counts).enumerate();
    all.map(|(at, ((finding, FindingRow { class, place, fact }), count))| {
        let head = format!("{:>3}  {count:>of_count$}  {class:<of_class$}  ", at + 1);
        let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(head.len()).max(LEAST));
        let place = match (style.width, &finding.rule) {
            (None, Some(rule)) => rule.predicate.to_string(),
            _ => within(place, room),
        };
        let place = escaped(&place).into_owned();
        let room = room.saturating_sub(place.chars().count() + ": ".len());
        if room < fact.chars().count().min(LEAST) {
            return format!("{head}{place}");
        }
        format!("{head}{place}: {}", style.paint(Tone::Faint, escaped(&within(fact, room))))
    })
    .collect()
}

/// The table of several findings: a head, and one line for each of them.
pub(crate) fn overview(diagnosis: &Diagnosis, findings: &[&Finding], style: Style) -> Vec<String> {
    if findings.len() < 2 {
        return Vec::new();
    }
    let ran = counted(diagnosis.summary.totals.progress.ran, "case");
    let count = counted(findings.len() as u64, "finding");
    let head = format!("{count}: {} of {ran} fail", grouped(cases_of(findings)));
    std::iter::once(head).chain(lines(findings, style)).collect()
}

fn cases_of(findings: &[&Finding]) -> u64 {
    findings
        .iter()
        .fold(0, |sum: u64, finding| sum.saturating_add(finding.cases - finding.known.min(finding.cases)))
}

/// Writes the table, if there are several findings.
pub(crate) fn write_overview(
    out: &mut dyn Write,
    diagnosis: &Diagnosis,
    findings: &[&Finding],
    style: Style,
) -> io::Result<()> {
    let table = overview(diagnosis, findings, style);
    let Some((head, lines)) = table.split_first() else { return Ok(()) };
    writeln!(out, "{}", style.paint(Tone::Strong, head))?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if let Some(hint) = about_invalid(findings, cases_of(findings)) {
        writeln!(out, "{}", style.wrap(2, &hint))?;
    }
    writeln!(out)
}

/// How to leave out invalid descs, if at least half of the failures are about them, and not all.
fn about_invalid(findings: &[&Finding], cases: u64) -> Option<String> {
    let is_invalid = |finding: &&&Finding| finding.shown().judgement.validity() == Validity::Invalid;
    let invalid = findings.iter().filter(is_invalid).fold(0, |sum: u64, one| sum.saturating_add(one.cases));
    (invalid >= cases.div_ceil(2) && invalid < cases).then(|| {
        format!("{} of them are about invalid descs: `--where valid` leaves these out", grouped(invalid))
    })
}

fn fact(finding: &Finding) -> String {
    let shown = finding.shown();
    let broken = names(shown.operator, shown.judgement.violated);
    let fact = match &finding.shows {
        Some(shows) => shows.clone(),
        None if broken.is_empty() => format!("it {}", did(shown)),
        None => format!("it {}, which breaks {broken}", did(shown)),
    };
    start(&fact, LONGEST_FACT)
}

/// The start of a text, which says so if it is not the whole.
fn start(text: &str, most: usize) -> String {
    let start = printable(text, most);
    let more = if text.chars().nth(most).is_some() { MORE } else { "" };
    format!("{start}{more}")
}

/// The text in this number of columns: its start, if it is longer.
fn within(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let text = text.trim_end_matches(MORE);
    start(text, columns.saturating_sub(MORE.len()).min(text.chars().count() - 1))
}
