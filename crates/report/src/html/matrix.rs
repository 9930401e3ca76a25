//! The matrix of operators and clauses: for each clause, the verdicts on the cases that break it and on
//! those that meet it exactly. If two runs are compared, a cell has both numbers where they differ.

use dmlcts_results::{CaseLog, OperatorCounts};
use dmlcts_runner::{Tally, Verdict};
use dmlcts_spec::Operator;
use maud::{Markup, html};

use crate::numbers::{counted, grouped};

/// The matrix of the logs: of one run, or of the old and the new one.
pub(super) fn matrix(logs: &[&CaseLog]) -> Markup {
    let Some(library) = logs.first().map(|log| log.library()) else { return html! {} };
    let tables = library
        .operators()
        .iter()
        .map(|operator| Table::new(operator, logs.iter().filter_map(|log| log.counts(operator)).collect()));
    html! { @for table in tables.filter(Table::has_cases) { (table.markup()) } }
}

/// The verdicts of a row: one tally for each run.
type FindingRow = Vec<Tally>;

/// The filters of the table of cases that select the cases of a cell, next to its verdict.
#[derive(Clone, Copy)]
enum Filters<'a> {
    Clause(&'a str),
    Validity { operator: &'a str, validity: &'static str },
}

/// The clauses of one operator.
struct Table<'a> {
    operator: &'a Operator,
    counts: Vec<&'a OperatorCounts>,
    /// The verdicts on cases that break a clause.
    breaking: Vec<Verdict>,
    /// The verdicts on other cases.
    meeting: Vec<Verdict>,
}

impl<'a> Table<'a> {
    fn new(operator: &'a Operator, counts: Vec<&'a OperatorCounts>) -> Self {
        let breaking = columns(counts.iter().map(|counts| counts.invalid));
        let meeting = columns(counts.iter().flat_map(|counts| [counts.valid, counts.open]));
        Self { operator, counts, breaking, meeting }
    }

    fn has_cases(&self) -> bool {
        !self.breaking.is_empty() || !self.meeting.is_empty()
    }

    fn row(&self, of: impl Fn(&OperatorCounts) -> Tally) -> FindingRow {
        self.counts.iter().map(|counts| of(counts)).collect()
    }

    fn markup(&self) -> Markup {
        let name = self.operator.name();
        let last = self.counts.last();
        let bad = last.map_or(0, |counts| {
            counts.valid.unexpected() + counts.open.unexpected() + counts.invalid.unexpected()
        });
        html! {
            details.matrix open[bad > 0] {
                summary {
                    b { (name) } " " span.faint { (counted(self.operator.clauses().len() as u64, "clause")) }
                    @if bad > 0 { " " span.bad { (grouped(bad)) " unexpected" } }
                }
                div.scroll tabindex="0" role="region" aria-label={ "Clauses of " (name) } {
                    table { thead { (self.heads()) } tbody { (self.whole()) (self.clauses()) } }
                }
            }
        }
    }

    fn heads(&self) -> Markup {
        html! {
            tr {
                th rowspan="2" scope="col" { "Clause" }
                @if !self.breaking.is_empty() {
                    th.group scope="colgroup" colspan=(self.breaking.len()) { "Cases that break it" }
                }
                @if !self.meeting.is_empty() {
                    th.group scope="colgroup" colspan=(self.meeting.len()) { "Valid cases that meet it exactly" }
                }
            }
            tr { @for verdict in self.breaking.iter().chain(&self.meeting) { th.number scope="col" { (verdict) } } }
        }
    }

    /// The rows for all cases of the operator.
    fn whole(&self) -> Markup {
        let filters = |validity| Some(Filters::Validity { operator: self.operator.name(), validity });
        let others = [
            ("All valid cases", "valid", self.row(|counts| counts.valid)),
            ("All open cases", "open", self.row(|counts| counts.open)),
        ];
        let invalid = self.row(|counts| counts.invalid);
        let has_any = |row: &FindingRow| row.iter().any(|tally| tally.total() > 0);
        html! {
            @if has_any(&invalid) {
                tr.whole {
                    th scope="row" { "All invalid cases" }
                    @for verdict in &self.breaking { (cell(&invalid, *verdict, filters("invalid"))) }
                    @for _ in &self.meeting { td {} }
                }
            }
            @for (what, kind, row) in others.iter().filter(|(_, _, row)| has_any(row)) {
                tr.whole {
                    th scope="row" { (what) }
                    @for _ in &self.breaking { td {} }
                    @for verdict in &self.meeting { (cell(row, *verdict, filters(kind))) }
                }
            }
        }
    }

    fn clauses(&self) -> Markup {
        let of = |all: &[Tally], place: usize| all.get(place).copied().unwrap_or_default();
        html! {
            @for (place, clause) in self.operator.clauses().iter().enumerate() {
                @let broken = self.row(|counts| of(&counts.broken, place));
                @let exact = self.row(|counts| of(&counts.exact, place));
                tr {
                    th scope="row" { code.id { (clause.id) } code.formula { (clause.text) } }
                    @for verdict in &self.breaking {
                        (cell(&broken, *verdict, Some(Filters::Clause(&clause.id))))
                    }
                    @for verdict in &self.meeting { (cell(&exact, *verdict, None)) }
                }
            }
        }
    }
}

/// The verdicts that occur.
fn columns(rows: impl Iterator<Item = Tally>) -> Vec<Verdict> {
    let mut counts = [0; Verdict::ALL.len()];
    for tally in rows {
        Verdict::ALL.into_iter().zip(&mut counts).for_each(|(verdict, count)| *count += tally.of(verdict));
    }
    Verdict::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).map(|(verdict, _)| verdict).collect()
}

/// The number of cases with a verdict. A click on a number of failures shows the cases, if `filters` select
/// them.
fn cell(row: &FindingRow, verdict: Verdict, filters: Option<Filters<'_>>) -> Markup {
    let counts: Vec<u64> = row.iter().map(|tally| tally.of(verdict)).collect();
    let text = match counts[..] {
        [old, new] if old != new => html! { (grouped(old)) span.arrow { " → " } (grouped(new)) },
        [.., count] if count > 0 => html! { (grouped(count)) },
        _ => return html! { td.number {} },
    };
    let is_bad = verdict.is_unexpected() && counts.last().is_some_and(|count| *count > 0);
    let is_changed = matches!(counts[..], [old, new] if old != new);
    let filters = filters.filter(|_| is_bad && counts.len() == 1);
    let id = verdict.id();
    html! {
        td.number.bad[is_bad].changed[is_changed && !is_bad] {
            @match filters {
                Some(Filters::Clause(clause)) => {
                    button.select type="button" data-verdict=(id) data-clause=(clause) { (text) }
                }
                Some(Filters::Validity { operator, validity }) => {
                    button.select type="button" data-verdict=(id) data-operator=(operator) data-validity=(validity) {
                        (text)
                    }
                }
                None => { (text) }
            }
        }
    }
}
