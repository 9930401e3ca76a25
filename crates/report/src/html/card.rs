//! A finding as a card: what failed, where, the formulas behind it, its smallest case, its tensors, and
//! commands to paste.

use dmlcts_diagnose::{Finding, Severity};
use dmlcts_model::escaped;
use dmlcts_results::Trend;
use dmlcts_runner::Failure;
use dmlcts_spec::Validity;
use maud::{Markup, html};

use super::{clauses::formulas, tensors::tensors};
use crate::{
    Replay,
    comparison::became,
    failure::{did, expected},
    finding::{cases, export, standing, title, within},
    flake::is_by_chance,
    lack::declarations,
    numbers::{counted, folded, grouped},
    prose::INDENT,
};

/// The form of a predicate that is too long for the head of a card.
const LONG: usize = 400;

/// A finding, and what became of it since an earlier run.
pub(super) struct Card<'a> {
    pub(super) finding: &'a Finding,
    pub(super) replay: &'a Replay,
    pub(super) trend: Option<(Trend, [u64; 2])>,
    /// Whether the table of the page has its cases.
    pub(super) is_listed: bool,
}

impl Card<'_> {
    /// The card. `number` is its place on the page.
    pub(super) fn markup(&self, number: usize) -> Markup {
        let Self { finding, .. } = self;
        let (name, shown) = (format!("finding-{number}"), finding.shown());
        let (word, class) = severity(finding);
        let is_fixed = self.trend.is_some_and(|(trend, _)| trend == Trend::Fixed);
        let class = if is_fixed { "good" } else { class };
        html! {
            article.card.(class) id=(name) aria-labelledby={ (name) "-head" } data-finding=(escaped(&finding.id)) {
                header {
                    p.badges {
                        span.badge.(class) { (word) }
                        @if let Some((trend, counts)) = self.trend { (badge(trend, counts)) }
                        span.id { (escaped(&finding.id)) }
                    }
                    h3 id={ (name) "-head" } {
                        (number) ". " (finding.operators.join(", ")) ": " (finding.class.to_string())
                    }
                    p.count { (cases(finding)) }
                }
                (predicate(finding))
                @if let Some(pattern) = &finding.pattern { p { (capital(&pattern.to_string())) "." } }
                (declaration(finding, self.replay))
                h4 { @if finding.smallest.is_some() { "Smallest case" } @else { "A case" } }
                pre.line tabindex="0" { (escaped(&shown.case.to_string())) }
                p { "Expected " (expected(shown)) "; the backend " (did(shown)) "." }
                @if is_by_chance(shown) { p { (escaped(&title(finding))) } }
                @if let Some(tensors) = tensors(shown, &format!("finding {number}")) { h4 { "Tensors" } (tensors) }
                (formulas(shown))
                (self.commands(shown))
            }
        }
    }

    fn commands(&self, shown: &Failure) -> Markup {
        let finding = self.finding;
        html! {
            h4 { "Commands" }
            dl.commands {
                (command("Run it again", &self.replay.run(&shown.case)))
                (command("Explain it", &Replay::explain(&shown.case, shown.level)))
                @if let Some(export) = export(finding).filter(|_| shown.judgement.validity() != Validity::Open) {
                    (command("As a program without dmlcts", &export))
                }
            }
            @if finding.smallest.is_some() {
                p.faint {
                    "Shrunk from case " (grouped(finding.first.index)) " (" (escaped(&finding.first.strategy)) "): "
                    code { (escaped(&folded(&finding.first.case.to_string()))) }
                }
            }
            @if self.is_listed {
                p.actions hidden {
                    button.select type="button" data-finding=(escaped(&finding.id)) { "Show its cases" }
                }
            }
        }
    }
}

/// A command with the button that copies it, which only a script shows.
pub(super) fn command(what: &str, command: &str) -> Markup {
    html! {
        div {
            dt { (what) }
            dd { pre.command tabindex="0" { (escaped(command)) } }
        }
    }
}

/// How to declare the cases, if the backend refuses them in words.
fn declaration(finding: &Finding, replay: &Replay) -> Markup {
    let lines = declarations(finding, replay);
    let (code, words): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with(INDENT));
    html! {
        @for words in &words { p { (capital(&escaped(words))) } }
        @if !code.is_empty() { pre.line tabindex="0" { (escaped(&code.join("\n"))) } }
    }
}

fn predicate(finding: &Finding) -> Markup {
    let Some(rule) = &finding.rule else {
        return html! { p.faint { "No predicate separates its cases from those that passed." } };
    };
    let of = if rule.validity == Validity::Invalid { "Among invalid descs, where" } else { "Where" };
    let class = if rule.predicate.text().len() > LONG { "predicate long" } else { "predicate" };
    html! {
        p.where { (of) }
        pre.(class) tabindex="0" { (escaped(rule.predicate.text())) }
        p.faint { (capital(&standing(rule))) (escaped(&within(rule))) "." }
    }
}

fn badge(trend: Trend, [old, new]: [u64; 2]) -> Markup {
    let (word, tone) = became(trend);
    html! { span.badge.(tone.class()) { (word) ": " (grouped(old)) " before, now " (counted(new, "case")) } }
}

/// How severe a finding is: a word, and the class of its colours.
fn severity(finding: &Finding) -> (&'static str, &'static str) {
    match Severity::of(finding.first.verdict, finding.class) {
        Severity::Crash => ("crash", "bad"),
        Severity::Memory => ("memory", "bad"),
        Severity::Accepted => ("accepted invalid", "bad"),
        Severity::Wrong => ("wrong output", "bad"),
        Severity::Refused => ("refused", "note"),
        Severity::Flaky => ("flaky", "note"),
    }
}

/// A text with a capital letter at its start.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
