//! The page of the differences between two runs.

use std::io::{self, Write};

use dmlcts_diagnose::Finding;
use dmlcts_model::{FeatureLevel, escaped};
use dmlcts_results::{CaseLog, ChangeKind, Changed, Compared, Comparison, Trend};
use dmlcts_spec::Library;
use maud::{Markup, html};

use super::{
    answers::answers,
    card::{Card, command},
    island::{id, island},
    matrix::matrix,
    page::{CARDS, Page, PagePart, cases, facts, tiles},
};
use crate::{
    Replay, Tone,
    comparison::{KINDS, describe, side},
    numbers::{counted, grouped},
};

/// The maximum number of changes shown for each kind.
const SHOWN: usize = 8;

/// What a page needs of the cases of two runs.
#[derive(Debug)]
pub struct ComparedCases {
    library: &'static Library,
    old: Option<CaseLog>,
    new: Option<CaseLog>,
}

impl ComparedCases {
    /// No cases.
    pub fn new(library: &'static Library) -> Self {
        Self { library, old: None, new: None }
    }

    /// Adds a case of one of the runs. The table lists it if its result differs between the runs, or if it
    /// failed in the new one.
    pub fn add(&mut self, compared: &Compared<'_>) {
        let Compared { is_new, header, case, change } = *compared;
        let log = if is_new { &mut self.new } else { &mut self.old };
        let log = log.get_or_insert_with(|| {
            CaseLog::new(self.library, header.feature_level().unwrap_or(FeatureLevel::NEWEST))
        });
        let read = log.count(case);
        // A case of the old run is listed only if the new one does not have it.
        let is_gone = change.is_some_and(|(kind, _)| kind == ChangeKind::Gone);
        if (is_new && (change.is_some() || case.verdict.is_unexpected())) || (!is_new && is_gone) {
            let (kind, results) = change.unzip();
            let [old, new] = results.unwrap_or_default().map(str::to_owned);
            let changed = Changed { kind, old, new };
            // Both kinds of cases are in the table of the new run.
            let level = log.level();
            self.new.get_or_insert_with(|| CaseLog::new(self.library, level)).list(
                case,
                read.as_ref(),
                Some(changed),
            );
        }
    }
}

/// Writes the page of a comparison, whose cases were added to `compared`.
pub fn write_html_comparison(
    out: &mut dyn Write,
    comparison: &Comparison,
    compared: ComparedCases,
) -> io::Result<()> {
    let none = || CaseLog::new(compared.library, FeatureLevel::NEWEST);
    let (old, mut new) = (compared.old.unwrap_or_else(none), compared.new.unwrap_or_else(none));
    new.sort_by_change();
    let findings = comparison.new.explained(compared.library);
    let replay = Replay::of(&comparison.new.header);
    let different = comparison.changes.iter().fold(0_u64, |sum, change| sum.saturating_add(change.cases));
    let (title, tone) = match (comparison.is_worse(), different) {
        (true, _) => ("The new run is worse".to_owned(), "bad"),
        (false, 0) => ("Nothing changed".to_owned(), "good"),
        (false, _) => (format!("{} differently, none worse", counted(different, "case came out")), "note"),
    };
    let about = format!("{} → {}", comparison.old.path, comparison.new.path);
    let mut parts = vec![
        PagePart::new("summary", "Summary", overview(comparison)),
        PagePart::new("changes", "Changes", changes(comparison)),
        PagePart::new("findings", "Findings", cards(comparison, &findings, compared.library, &replay)),
    ];
    parts.push(PagePart::new("cases", "Cases that differ or fail", cases(&new)));
    parts.push(PagePart::new("clauses", "Clauses", matrix(&[&old, &new])));
    if let Some(answers) = answers(&[("old", &old), ("new", &new)]) {
        parts.push(PagePart::new("answers", "Open questions", answers));
    }
    let island = island(&new, &findings, &replay);
    Page { title, tone, about, parts, island }.write(out)
}

fn overview(comparison: &Comparison) -> Markup {
    let counts: Vec<(String, u64, &str)> = KINDS
        .iter()
        .map(|(kind, _, tone)| (id(*kind).replace('-', " "), comparison.count(*kind), class(*kind, *tone)))
        .filter(|(_, count, _)| *count > 0)
        .chain([("same".to_owned(), comparison.same, "calm")])
        .collect();
    let differences = comparison.old.header.disagreements(&comparison.new.header);
    let differences: Vec<String> = differences.iter().map(|one| one.describe("before", "now")).collect();
    html! {
        (tiles(&counts))
        (facts(&[("Old", side(&comparison.old)), ("New", side(&comparison.new))]))
        @if !differences.is_empty() {
            h3 { "The runs differ in" }
            ul { @for difference in &differences { li { (escaped(difference)) } } }
        }
        h3 { "Run them again" }
        dl.commands {
            (command("Old", &comparison.old.header.command))
            (command("New", &comparison.new.header.command))
        }
    }
}

/// Beside the page's other colours, cases that are gone need no attention.
fn class(kind: ChangeKind, tone: Tone) -> &'static str {
    if kind == ChangeKind::Gone { "calm" } else { tone.class() }
}

/// The changes by kind, the most serious first, each with an example.
fn changes(comparison: &Comparison) -> Markup {
    html! {
        @if comparison.changes.is_empty() { p { "Every case came out the same." } }
        @if comparison.is_left_open() {
            p.warning { "The new run is not complete: the results of the cases that are gone are unknown." }
        }
        @for (kind, _, tone) in KINDS {
            @let of_kind: Vec<_> = comparison.changes.iter().filter(|change| change.kind == kind).collect();
            @if !of_kind.is_empty() {
                h3 { span.badge.(class(kind, tone)) { (id(kind).replace('-', " ")) } " " (counted(comparison.count(kind), "case")) }
                ul.changes {
                    @for change in of_kind.iter().take(SHOWN) {
                        li {
                            p { b { (grouped(change.cases)) } " " (escaped(&describe(change))) }
                            pre.line tabindex="0" { (escaped(&change.example)) }
                        }
                    }
                }
                @if of_kind.len() > SHOWN {
                    p.faint { "and " (counted((of_kind.len() - SHOWN) as u64, "further change")) " of this kind" }
                }
            }
        }
    }
}

/// What became of a finding, and its number of cases in both runs.
type Became = (Trend, [u64; 2]);

/// The findings: those whose number of cases differs first, then the others of the new run.
fn cards(comparison: &Comparison, new: &[Finding], library: &'static Library, replay: &Replay) -> Markup {
    let old = comparison.old.explained(library);
    let trends = comparison.findings();
    let mut all: Vec<(&Finding, Option<Became>)> = Vec::new();
    for (trend, form, counts) in &trends {
        let findings = if *trend == Trend::Fixed { &old[..] } else { new };
        let found = findings.iter().find(|finding| finding.id == form.id);
        all.extend(found.map(|finding| (finding, Some((*trend, *counts)))));
    }
    let is_shown = |finding: &&Finding| !all.iter().any(|(shown, _)| std::ptr::eq(*shown, *finding));
    let same: Vec<&Finding> = new.iter().filter(is_shown).collect();
    all.extend(same.into_iter().map(|finding| (finding, None)));
    html! {
        @if all.is_empty() { p { "Neither run has a finding." } }
        @if comparison.old.lacks_findings() || comparison.new.lacks_findings() {
            p.warning { "A run has no findings, since it was cut off or is of an earlier version. They are not compared." }
        }
        @for (place, (finding, trend)) in all.iter().take(CARDS).enumerate() {
            (Card { finding, replay, trend: *trend, is_listed: trend.is_none_or(|(trend, _)| trend != Trend::Fixed) }.markup(place + 1))
        }
        @if all.len() > CARDS { p.warning { "Not shown: " (counted((all.len() - CARDS) as u64, "further finding")) "." } }
        @if trends.is_empty() && !all.is_empty() { p.faint { "Each finding has as many cases as before." } }
    }
}
