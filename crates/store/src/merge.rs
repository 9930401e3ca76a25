//! Joins two folders of findings of one backend.

use std::cmp::Ordering;

use dmlcts_runner::compare_versions;

use crate::{Change, FindingFile, SeenForm, Stored, accept::UNEXAMINED};

/// What one folder changes in another.
#[derive(Debug, Default)]
pub struct Merged {
    /// The files to write; empty if there is a conflict.
    pub changes: Vec<Change>,
    /// The findings that cannot be joined.
    pub conflicts: Vec<Conflict>,
    /// New findings whose smallest case another finding has, too: the paths of both files.
    pub twins: Vec<(String, String)>,
}

/// A finding that cannot be joined.
#[derive(Debug)]
pub struct Conflict {
    /// The paths of its files in both folders.
    pub paths: [String; 2],
    /// Why.
    pub why: &'static str,
}

/// The files that change in a folder with these findings when those of another folder join them.
pub fn merge(stored: &[Stored], others: &[Stored]) -> Merged {
    let mut merged = Merged::default();
    for other in others {
        let id = other.file.finding.clone();
        let Some(own) = stored.iter().find(|own| own.file.finding == id) else {
            let twins = stored.iter().filter(|own| own.file.smallest == other.file.smallest);
            merged.twins.extend(twins.map(|own| (own.path.clone(), other.path.clone())));
            let (file, text) = (other.file.clone(), other.text.clone());
            merged.changes.push(Change { id, what: "new", file, text });
            continue;
        };
        match join(&own.file, &other.file) {
            Ok(file) if file == own.file => {}
            Ok(file) => {
                let text = file.to_yaml(Some((&own.text, &own.file)), None);
                merged.changes.push(Change { id, what: "changed", file, text });
            }
            Err(why) => {
                let paths = [own.path.clone(), other.path.clone()];
                merged.conflicts.push(Conflict { paths, why });
            }
        }
    }
    if !merged.conflicts.is_empty() {
        merged.changes.clear();
        merged.twins.clear();
    }
    merged
}

/// Joins two files of a finding. A person's words are those of the first file, and what a run writes is of
/// the file that was seen last.
fn join(own: &FindingFile, other: &FindingFile) -> Result<FindingFile, &'static str> {
    let (seen, is_later) = match (&own.seen, &other.seen) {
        (Some(own), Some(other)) => {
            let seen = join_seen(own, other).ok_or("a version in `seen` has no number to compare")?;
            (Some(seen), compare_versions(&other.last, &own.last))
        }
        (own, other) => (own.clone().or_else(|| other.clone()), None),
    };
    let later = match is_later {
        Some(Ordering::Greater) => other,
        Some(Ordering::Less) => own,
        _ if meaning(own) == meaning(other) => own,
        Some(Ordering::Equal) => return Err("both were seen last in the same version"),
        None => return Err("`seen` is missing"),
    };
    let reason = own.reason.clone().filter(|reason| reason.trim() != UNEXAMINED);
    Ok(FindingFile {
        finding: own.finding.clone(),
        status: own.status,
        kind: own.kind,
        // A predicate that is not exact needs it.
        partial: own.partial || later.partial,
        flaky: own.flaky,
        applies: own.applies.clone(),
        reason: reason.or_else(|| other.reason.clone()).or_else(|| own.reason.clone()),
        link: own.link.clone().or_else(|| other.link.clone()),
        seen,
        ..later.clone()
    })
}

/// The first version of both that failed, and the last one. `None` if they cannot be compared.
fn join_seen(own: &SeenForm, other: &SeenForm) -> Option<SeenForm> {
    let first = if compare_versions(&other.first, &own.first)?.is_lt() { other } else { own };
    let last = if compare_versions(&other.last, &own.last)?.is_gt() { other } else { own };
    Some(SeenForm { first: first.first.clone(), ..last.clone() })
}

/// The cases of a finding, and how they fail.
fn meaning(file: &FindingFile) -> impl PartialEq + '_ {
    let cases = file.filter.is_none().then_some(&file.cases);
    (&file.filter, &file.class, &file.smallest, &file.output, cases)
}
