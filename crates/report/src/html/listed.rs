//! The findings of a folder as a page, for a review.

use std::io::{self, Write};

use dmlcts_model::escaped;
use maud::html;

use super::page::{Page, PagePart, facts};
use crate::listed::{ListedFinding, title};

/// Writes the findings of the folder `name`.
pub fn write_html_list(out: &mut dyn Write, name: &str, findings: &[ListedFinding]) -> io::Result<()> {
    let body = html! {
        @if findings.is_empty() { p { "The folder holds no finding." } }
        @for finding in findings {
            article.card {
                h3 { (escaped(&finding.id)) }
                (facts(&finding.columns))
            }
        }
    };
    let title = escaped(&title(name, findings)).into_owned();
    let parts = vec![PagePart::new("findings", "Findings", body)];
    Page { title, tone: "note", about: String::new(), parts, island: String::new() }.write(out)
}
