//! The page of one run.

use std::io::{self, Write};

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_model::escaped;
use dmlcts_results::CaseLog;
use dmlcts_runner::{Summary, Verdict};
use maud::{Markup, html};

use super::{
    answers::answers,
    card::{Card, capital, command},
    island::island,
    matrix::matrix,
    page::{CARDS, Page, PagePart, cases, facts, tiles, tone},
};
use crate::{
    Context, Style, Subject,
    finding::{left_out, unexplained},
    known::write_known,
    markdown::conclusion,
    numbers::{counted, grouped, rate, span},
    overview::{FindingRow, in_order},
    phrases::{counts, ran_on},
    skipped::skipped,
    statement,
    summary::{ended, exercised},
};

/// Writes the page of a run. The log has its cases.
pub fn write_html(
    out: &mut dyn Write,
    context: &Context,
    diagnosis: &Diagnosis,
    log: &CaseLog,
) -> io::Result<()> {
    let summary = &diagnosis.summary;
    let title = conclusion(context, summary);
    let what = match &context.subject {
        Subject::Suite { what, .. } => what.clone(),
        Subject::Given => "cases given".to_owned(),
    };
    let tone = if summary.tally().unexpected() > 0 || title != "nothing unexpected" { "bad" } else { "good" };
    let found = match diagnosis.findings.len() as u64 {
        0 => "Findings".to_owned(),
        count => counted(count, "finding"),
    };
    let found = PagePart::new("findings", found, findings(context, diagnosis, log));
    let overview = PagePart::new("summary", "Summary", overview(context, summary, &what));
    // What failed comes first.
    let mut parts = if diagnosis.findings.is_empty() { vec![overview, found] } else { vec![found, overview] };
    if let Some(claim) = &context.claim {
        let stated = claim.state(context.library, summary);
        let title = if stated.is_ok() { "Statement of conformance" } else { "No statement of conformance" };
        let lines = statement::lines(claim, &stated, context.library, summary);
        parts.push(PagePart::new("statement", title, facts(&lines)));
    }
    parts.push(PagePart::new("cases", "Failed cases", cases(log)));
    parts.push(PagePart::new("clauses", "Clauses", matrix(&[log])));
    if let Some(answers) = answers(&[("", log)]) {
        parts.push(PagePart::new("answers", "Open questions", answers));
    }
    let island = island(log, &diagnosis.findings, &context.replay);
    let about = format!("{what} on {}", ran_on(summary));
    Page { title: capital(&title), tone, about, parts, island }.write(out)
}

fn overview(context: &Context, summary: &Summary, what: &str) -> Markup {
    let shown = counts(summary).filter(|(verdict, _, count)| *count > 0 || *verdict == Some(Verdict::Pass));
    let counts: Vec<(String, u64, &str)> =
        shown.map(|(verdict, name, count)| (name, count, verdict.map_or("calm", tone))).collect();
    let backend = &summary.capabilities;
    let elapsed = summary.totals.elapsed;
    let cases = summary.totals.progress.ran;
    let mut all = vec![
        ("Backend", format!("{} {}", backend.name, backend.version)),
        ("Device", backend.device.clone()),
        ("Driver", backend.driver.clone()),
        ("Cases", format!("{what}: {}", counted(cases, "case"))),
        ("Spec", format!("{} at feature level {}", context.library.short_hash(), summary.level)),
        ("Speed", format!("{} cases/s in {}", rate(cases, elapsed), span(elapsed))),
        ("Ended", ended(summary, context.time_limit).unwrap_or_default()),
        ("At last", summary.bad_end.clone().unwrap_or_default()),
    ];
    if let Subject::Suite { obligations, .. } = &context.subject {
        all.push(("Exercised", exercised(context.library, summary, obligations)));
    }
    all.extend(skipped(context.library, summary).into_iter().map(|why| ("Skipped", why)));
    html! {
        (tiles(&counts))
        (facts(&all))
    }
}

/// All findings with a card, a line each.
fn table(findings: &[&Finding]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="All findings" {
            table {
                thead { tr { th scope="col" { "Finding" } th scope="col" { "Cases" } th scope="col" { "Where" } th scope="col" { "Smallest case" } } }
                tbody {
                    @for (place, finding) in findings.iter().take(CARDS).enumerate() {
                        @let row = FindingRow::new(finding);
                        tr {
                            td { a href={ "#finding-" (place + 1) } { (place + 1) ". " (row.class) } }
                            td { (grouped(finding.cases)) }
                            td { code { (escaped(&row.place)) } }
                            td { (escaped(&row.fact)) }
                        }
                    }
                }
            }
        }
    }
}

fn findings(context: &Context, diagnosis: &Diagnosis, log: &CaseLog) -> Markup {
    let (summary, all) = (&diagnosis.summary, in_order(diagnosis));
    let mut known = Vec::new();
    // Memory takes everything.
    let _ = write_known(&mut known, context, summary, Style::PLAIN);
    let known = String::from_utf8_lossy(&known).into_owned();
    let further = context.further(summary);
    html! {
        @if all.is_empty() { p { "Nothing failed unexpectedly." } }
        @if all.len() > 1 { (table(&all)) }
        @for (place, &finding) in all.iter().take(CARDS).enumerate() {
            (Card { finding, replay: &context.replay, trend: None, is_listed: !log.listed().is_empty() }.markup(place + 1))
        }
        @if all.len() > CARDS { p.warning { "Not shown: " (counted((all.len() - CARDS) as u64, "further finding")) "." } }
        @for note in unexplained(diagnosis).into_iter().chain(left_out(&diagnosis.left_out, context.time_limit)) { p.warning { (capital(&note)) "." } }
        @if !known.is_empty() {
            h3 { "Known failures that are not as they are known" }
            pre.line tabindex="0" { (known) }
        }
        @if !further.is_empty() {
            h3 { "Next" }
            dl.commands {
                @for (line, purpose) in further { (command(&capital(purpose), line)) }
            }
        }
    }
}
