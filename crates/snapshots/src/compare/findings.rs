//! Compares the findings of two snapshots.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use dmlcts_diagnose::Severity;
use dmlcts_model::{counted, grouped, line};
use dmlcts_runner::Verdict;
use dmlcts_spec::{Library, Predicate, program::Values};

use super::{first_of, lacks::Gained};
use crate::{
    Change, Finding, Snapshot, Transition,
    snapshot::Place,
    write::{counts, example},
};

/// The most pairs of findings for which a predicate is tried on a case. A stranger's file may have many.
const TRIED: usize = 2_000;

/// Compares findings. `gained` are the lacks that only the new snapshot has.
pub(super) fn compare(old: &Snapshot, new: &Snapshot, gained: &Gained<'_>, list: &mut Vec<Change>) {
    let before = first_of(&old.findings, |one| &one.id);
    let after = first_of(&new.findings, |one| &one.id);
    let (mut fresh, mut gone): (Vec<&Finding>, Vec<&Finding>) = (Vec::new(), Vec::new());
    for finding in &new.findings {
        match before.get(finding.id.as_str()).copied() {
            None => fresh.push(finding),
            Some(was) if was == finding => {}
            Some(was) => list.push(changed(was, finding, gained)),
        }
    }
    gone.extend(old.findings.iter().filter(|finding| !after.contains_key(finding.id.as_str())));
    let moved = moved(&gone, &fresh, new);
    list.extend(moved.iter().map(|(was, is)| moved_change(gone[*was], fresh[*is])));
    let (left, reached): (HashSet<usize>, HashSet<usize>) = moved.into_iter().unzip();
    let others = fresh.iter().enumerate().filter(|(place, _)| !reached.contains(place));
    list.extend(others.map(|(_, finding)| broken(finding)));
    let others = gone.iter().enumerate().filter(|(place, _)| !left.contains(place));
    list.extend(others.map(|(_, finding)| fixed(finding, gained)));
    further(old, new, gained, list);
}

/// A finding that only the new snapshot has.
pub(super) fn broken(finding: &Finding) -> Change {
    let what = format!("{}: {}", finding.id, finding.headline());
    change(Transition::Broken, (None, Some(finding)), what, details(finding))
}

/// A finding that only the old snapshot has.
fn fixed(finding: &Finding, gained: &Gained<'_>) -> Change {
    let before = format!("before: {}", counts(finding));
    let skipped = finding.example.as_ref().and_then(|example| gained.may_skip(example));
    if let Some(lack) = skipped {
        let what = format!("{}: no longer seen: {}", finding.id, finding.headline());
        let why = format!("its cases may not run: the backend lacks {lack}");
        return change(Transition::Other, (Some(finding), None), what, vec![before, why]);
    }
    let what = format!("{}: {}", finding.id, finding.headline());
    change(Transition::Fixed, (Some(finding), None), what, vec![before])
}

/// A finding that is in both snapshots.
fn changed(was: &Finding, is: &Finding, gained: &Gained<'_>) -> Change {
    let (before, after) = (&was.counts, &is.counts);
    let (transition, how) = match after.cases.cmp(&before.cases) {
        Ordering::Greater => (Transition::Worse, "more cases fail"),
        Ordering::Less if !gained.is_empty() => {
            (Transition::Other, "fewer cases fail, and the backend lacks more")
        }
        Ordering::Less => (Transition::Better, "fewer cases fail"),
        Ordering::Equal if was.class != is.class => (Transition::Other, "it fails in another way"),
        Ordering::Equal if before.digest != after.digest => (Transition::Other, "other cases or other bytes"),
        Ordering::Equal => (Transition::Other, "described in other words"),
    };
    let what = format!("{}: {how}: {}", is.id, is.headline());
    let mut lines = with_earlier_counts(was, is);
    if was.headline() != is.headline() {
        lines.push(format!("before: {}", was.headline()));
    }
    change(transition, (Some(was), Some(is)), what, lines)
}

/// The places of findings that moved, each in `gone` and in `fresh`. Both have the same class. Their smallest
/// case is the same, or the predicate of the fresh one holds for the other's smallest case.
fn moved(gone: &[&Finding], fresh: &[&Finding], new: &Snapshot) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut taken = HashSet::new();
    let mut of_example = HashMap::new();
    for (place, finding) in fresh.iter().enumerate() {
        if let Some(example) = &finding.example {
            of_example.entry((finding.class.id(), example)).or_insert(place);
        }
    }
    let mut left = Vec::new();
    for (place, finding) in gone.iter().enumerate() {
        let Some(example) = &finding.example else { continue };
        match of_example.get(&(finding.class.id(), example)) {
            Some(reached) if taken.insert(*reached) => pairs.push((place, *reached)),
            _ => left.push((place, finding, example)),
        }
    }
    let Ok(level) = new.about.level.parse() else { return pairs };
    if left.len().saturating_mul(fresh.len()) > TRIED {
        return pairs;
    }
    let library = Library::embedded();
    let predicates: Vec<Option<Predicate>> =
        fresh.iter().map(|finding| Predicate::parse(certain(finding)?, library).ok()).collect();
    let mut values = Values::default();
    for (place, finding, example) in left {
        let Ok(case) = line::parse(example, library.signatures()) else { continue };
        let reached = predicates.iter().enumerate().position(|(reached, predicate)| {
            fresh[reached].class == finding.class
                && is_of_invalid(fresh[reached]) == is_of_invalid(finding)
                && !taken.contains(&reached)
                && predicate.as_ref().is_some_and(|predicate| predicate.holds(&case, level, &mut values))
        });
        if let Some(reached) = reached {
            taken.insert(reached);
            pairs.push((place, reached));
        }
    }
    pairs
}

/// The predicate of a finding, if all of its cases fail.
fn certain(finding: &Finding) -> Option<&str> {
    let all_fail = finding.counts.cases == finding.counts.of;
    match &finding.place {
        Place::Where { predicate, .. } if all_fail => Some(predicate),
        _ => None,
    }
}

fn is_of_invalid(finding: &Finding) -> bool {
    matches!(finding.place, Place::Where { invalid: true, .. })
}

/// A finding with another id and another predicate, whose cases fail as before.
fn moved_change(was: &Finding, is: &Finding) -> Change {
    let mut lines = with_earlier_counts(was, is);
    lines.push(format!("before: {}: {}", was.id, was.headline()));
    let what = format!("{}: {}", is.id, is.headline());
    change(Transition::Moved, (Some(was), Some(is)), what, lines)
}

/// The findings that have no room.
fn further(old: &Snapshot, new: &Snapshot, gained: &Gained<'_>, list: &mut Vec<Change>) {
    if old.further == new.further {
        return;
    }
    let cases = |one: &Snapshot| one.further.as_ref().map_or((0, 0), |one| (one.findings, one.cases));
    let (was, is) = (cases(old), cases(new));
    let transition = match is.cmp(&was) {
        Ordering::Greater => Transition::Broken,
        Ordering::Less if gained.is_empty() => Transition::Better,
        Ordering::Equal | Ordering::Less => Transition::Other,
    };
    let text = |(findings, cases)| format!("{} with {}", grouped(findings), counted(cases, "case"));
    let what = format!("further findings: {}, before {}", text(is), text(was));
    list.push(Change::new(transition, what, Vec::new()));
}

/// A change of a finding, with the severity of its failures.
fn change(
    transition: Transition,
    (old, new): (Option<&Finding>, Option<&Finding>),
    what: String,
    details: Vec<String>,
) -> Change {
    let severity = new.or(old).map(|finding| Severity::of(Verdict::Fail, finding.class));
    let change = Change::new(transition, what, details);
    Change { severity, old: old.cloned(), new: new.cloned(), ..change }
}

/// The details of a finding: its numbers, and its example.
fn details(finding: &Finding) -> Vec<String> {
    std::iter::once(counts(finding)).chain(example(finding)).collect()
}

/// The details of a finding, and its numbers in the old snapshot.
fn with_earlier_counts(was: &Finding, is: &Finding) -> Vec<String> {
    let mut lines = details(is);
    if let Some(first) = lines.first_mut() {
        first.push_str("; before: ");
        first.push_str(&counts(was));
    }
    lines
}
