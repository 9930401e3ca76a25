//! The changes of snapshots as a page, for a review.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_snapshots::{Change, Changes};
use maud::html;

use super::{
    page::{Page, PagePart},
    tensors::outputs,
};
use crate::{CaseOutputs, Tone, numbers::counted};

/// The name of a snapshot, its changes, and the outputs of the cases of each change, if they are known.
pub type SnapshotChanges<'a> = (&'a str, &'a Changes, &'a [Vec<CaseOutputs>]);

/// Writes the changes of snapshots.
pub fn write_html_changes(out: &mut dyn Write, all: &[SnapshotChanges<'_>]) -> io::Result<()> {
    let body = html! {
        @if all.is_empty() { p { "Nothing waits for a review." } }
        @for (name, changes, of_changes) in all {
            article.card {
                h3 { (escaped(name)) ": " (changes.counts()) }
                p { (escaped(&changes.cause)) }
                @if changes.list.is_empty() { p.faint { "no line changed" } }
                ul.changes {
                    @for (place, change) in changes.list.iter().enumerate() {
                        li {
                            p { span.badge.(tone(change).class()) { (change.transition.name()) } " " (escaped(&change.what)) }
                            @for detail in &change.details { pre.line tabindex="0" { (escaped(detail)) } }
                            @for one in of_changes.get(place).into_iter().flatten() { (outputs(one)) }
                        }
                    }
                }
            }
        }
    };
    let changes = all.iter().flat_map(|(_, changes, _)| &changes.list);
    let tone = match (all.is_empty(), changes.clone().any(|change| tone(change) == Tone::Bad)) {
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
    let parts = vec![PagePart::new("changes", "Changes", body)];
    Page { title, tone, about: String::new(), parts, island: String::new() }.write(out)
}

fn tone(change: &Change) -> Tone {
    Tone::of_change(change.transition.is_good())
}
