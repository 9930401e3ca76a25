//! The changes of snapshots as a page, for a review.

use std::io::{self, Write};

use dmlcts_model::escaped;
use maud::html;

use super::{Page, Part, tensors::outputs};
use crate::{CaseOutputs, numbers::counted};

/// The changes of a snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotChanges {
    /// The name of the snapshot.
    pub name: String,
    /// The components of the run that changed.
    pub cause: String,
    /// The changes, the worst first.
    pub changes: Vec<SnapshotChange>,
}

/// A change in a snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotChange {
    /// The word for its kind.
    pub kind: &'static str,
    /// Whether it is for the better or for the worse; `None` if it is neither.
    pub is_good: Option<bool>,
    /// The change in one line.
    pub what: String,
    /// Details, one line each.
    pub details: Vec<String>,
    /// The outputs of its cases, if they are known.
    pub outputs: Vec<CaseOutputs>,
}

/// Writes the changes of snapshots.
pub fn write_html_changes(out: &mut dyn Write, all: &[SnapshotChanges]) -> io::Result<()> {
    let body = html! {
        @if all.is_empty() { p { "Nothing waits for a review." } }
        @for snapshot in all {
            article.card {
                h3 { (escaped(&snapshot.name)) }
                p { (escaped(&snapshot.cause)) }
                @if snapshot.changes.is_empty() { p.faint { "no line changed" } }
                ul.changes {
                    @for change in &snapshot.changes {
                        li {
                            p { span.badge.(class(change.is_good)) { (change.kind) } " " (escaped(&change.what)) }
                            @for detail in &change.details { pre.line tabindex="0" { (escaped(detail)) } }
                            @for one in &change.outputs { (outputs(one)) }
                        }
                    }
                }
            }
        }
    };
    let changes = all.iter().flat_map(|snapshot| &snapshot.changes);
    let tone = match (all.is_empty(), changes.clone().any(|change| change.is_good == Some(false))) {
        (true, _) => "good",
        (false, true) => "bad",
        (false, false) => "note",
    };
    let title = match all.len() {
        0 => "No snapshot changed".to_owned(),
        number => {
            let changes = counted(changes.count() as u64, "change");
            format!("{changes} in {}", counted(number as u64, "snapshot"))
        }
    };
    let parts = vec![Part::new("changes", "Changes", body)];
    Page { title, tone, about: String::new(), parts, island: String::new() }.write(out)
}

fn class(is_good: Option<bool>) -> &'static str {
    match is_good {
        Some(true) => "good",
        Some(false) => "bad",
        None => "note",
    }
}
