//! What pages share: the frame with style, script and policy, tiles, and the table of cases.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_results::CaseLog;
use dmlcts_runner::Verdict;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::numbers::{counted, grouped};

/// The maximum number of findings with a card of their own.
pub(super) const CARDS: usize = 50;
/// The style of a page.
const STYLE: &str = include_str!("page.css");
/// The script of a page.
const SCRIPT: &str = include_str!("page.js");

/// A page: its title, and the parts between header and footer.
pub(super) struct Page {
    pub(super) title: String,
    /// The class of the title: `good`, `bad` or `note`.
    pub(super) tone: &'static str,
    /// The line below the title.
    pub(super) about: String,
    pub(super) parts: Vec<PagePart>,
    /// The JSON for the script, without `<`. Empty for a page without a script.
    pub(super) island: String,
}

/// A part of a page, which the navigation names.
pub(super) struct PagePart {
    id: &'static str,
    title: String,
    body: Markup,
}

impl PagePart {
    pub(super) fn new(id: &'static str, title: impl Into<String>, body: Markup) -> Self {
        Self { id, title: title.into(), body }
    }
}

impl Page {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.markup().into_string().as_bytes())?;
        out.write_all(b"\n")
    }

    fn markup(&self) -> Markup {
        let (style, script) = (source_of(STYLE), source_of(SCRIPT));
        let policy = format!(
            "default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
        );
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ "dmlcts " (env!("CARGO_PKG_VERSION")) };
                    title { "dmlcts: " (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to the report" }
                    header.top {
                        p.program { "dmlcts" }
                        h1.(self.tone) { (self.title) }
                        p.about { (escaped(&self.about)) }
                        nav aria-label="Parts of the report" {
                            ul { @for part in &self.parts { li { a href={ "#" (part.id) } { (part.title) } } } }
                        }
                    }
                    main id="main" {
                        @for part in &self.parts {
                            section id=(part.id) aria-labelledby={ (part.id) "-title" } {
                                h2 id={ (part.id) "-title" } { (part.title) }
                                (part.body)
                            }
                        }
                    }
                    footer { p { "Written by dmlcts " (env!("CARGO_PKG_VERSION")) ". This page loads nothing." } }
                    @if !self.island.is_empty() {
                        script type="application/json" id="data" { (PreEscaped(&self.island)) }
                        script { (PreEscaped(SCRIPT)) }
                    }
                }
            }
        }
    }
}

/// The source of a style or a script in the policy: its hash in base64.
fn source_of(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let hash = Sha256::digest(text);
    // 256 bits are 43 digits of 6 bits, the last with two bits of zero, and `=` fills the last four.
    let digits = (0..256).step_by(6).map(|bit| {
        let pair = u16::from_be_bytes([hash[bit / 8], hash.get(bit / 8 + 1).copied().unwrap_or(0)]);
        char::from(DIGITS[usize::from(pair >> (10 - bit % 8) & 63)])
    });
    format!("'sha256-{}='", digits.collect::<String>())
}

/// Writes that a run has no result, and why.
pub fn write_html_of_problem(out: &mut dyn Write, message: &str) -> io::Result<()> {
    let body = html! { pre.line tabindex="0" { @for line in message.lines() { (escaped(line)) "\n" } } };
    let (title, about) = ("Nothing was run".to_owned(), String::new());
    let parts = vec![PagePart::new("problem", "Why", body)];
    Page { title, tone: "bad", about, parts, island: String::new() }.write(out)
}

/// Names with their values, such as those of a run.
pub(super) fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (escaped(value)) } }
            }
        }
    }
}

/// The number of cases of each verdict, as tiles.
pub(super) fn tiles(tiles: &[(String, u64, &'static str)]) -> Markup {
    html! {
        ul.tiles {
            @for (name, count, class) in tiles { li.(class) { b { (grouped(*count)) } " " span { (name) } } }
        }
    }
}

/// The class of a verdict's colours.
pub(super) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "good",
        Verdict::Recorded | Verdict::Skip | Verdict::ExpectedFail => "calm",
        Verdict::UnexpectedPass | Verdict::Flake => "note",
        _ => "bad",
    }
}

/// The table of cases, which the script fills.
pub(super) fn cases(log: &CaseLog) -> Markup {
    let (listed, left_out) = (log.listed().len() as u64, log.left_out());
    html! {
        @if listed == 0 { p { "No case to list." } }
        @if left_out > 0 {
            p.warning { "The table has the first " (counted(listed, "case")) ". It leaves out " (grouped(left_out)) " more." }
        }
        noscript { p { "The table of cases needs JavaScript. " code { "dmlcts failures" } " lists the failures of a results file." } }
        @if listed > 0 {
            div.cases id="table" hidden {
                form.filter id="filter-form" autocomplete="off" aria-label="Filters of the cases" {
                    div.choices id="choices" {
                        label.text {
                            "Words in the line or in what happened"
                            input id="text" type="text" spellcheck="false" autocapitalize="off";
                        }
                    }
                    div.box {
                        p.found id="filter-count" role="status" aria-live="polite" {}
                        button type="button" id="clear" { "Clear the filters" }
                        button type="button" id="copy" {}
                    }
                }
                div.scroll tabindex="0" role="region" aria-label="Cases" {
                    table { thead { tr id="columns" {} } tbody id="rows" {} }
                }
                div.pager {
                    button type="button" id="first" { "First" }
                    button type="button" id="previous" { "Previous" }
                    span id="page" {}
                    button type="button" id="next" { "Next" }
                    button type="button" id="last" { "Last" }
                }
            }
        }
    }
}
