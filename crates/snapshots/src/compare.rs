//! Compares two snapshots.

mod findings;
mod lacks;

use std::collections::HashMap;

use dmlcts_diagnose::Severity;
use dmlcts_model::{counted, escaped, grouped};
use dmlcts_runner::{Class, Verdict};

use crate::{Chance, Change, Changes, Example, Examples, Metadata, Snapshot, Statement, Transition};

/// Compares a new snapshot with the accepted one, if there is one.
pub fn compare(old: Option<&Snapshot>, new: &Snapshot) -> Changes {
    let Some(old) = old else {
        let findings = (new.findings.len() + new.chance.len()) as u64
            + new.further.as_ref().map_or(0, |further| further.findings);
        let what = format!(
            "{}, {}, {}",
            counted(findings, "finding"),
            counted(new.answers.len() as u64, "answer"),
            counted(new.lacks.len() as u64, "lack")
        );
        let mut list: Vec<Change> = new.findings.iter().map(findings::broken).collect();
        chance(&[], &new.chance, &mut list);
        list.sort_by_key(Change::order);
        let cause = format!("the first snapshot: {what}");
        return Changes { cause, list, is_outdated: true, is_first: true };
    };
    let mut list = Vec::new();
    let gained = lacks::compare(&old.lacks, &new.lacks, &mut list);
    findings::compare(old, new, &gained, &mut list);
    chance(&old.chance, &new.chance, &mut list);
    let mut recounted = Vec::new();
    for (name, old, new) in [("", &old.answers, &new.answers), ("refuses ", &old.refusals, &new.refusals)] {
        statements(name, old, new, &mut list, &mut recounted);
    }
    if let Some(first) = recounted.first() {
        let what = format!("other numbers of cases for {}", counted(recounted.len() as u64, "answer"));
        list.push(Change::new(Transition::Other, what, vec![format!("such as {first}")]));
    }
    list.sort_by_key(Change::order);
    let is_outdated = old.about.spec != new.about.spec || old.about.suite_hash != new.about.suite_hash;
    Changes { cause: cause(&old.about, &new.about), list, is_outdated, is_first: false }
}

/// Compares the examples of the pages with the accepted ones, if there are any.
pub fn compare_examples(old: Option<&Examples>, new: &Examples) -> Changes {
    let Some(old) = old else {
        let right = new.all.iter().filter(|example| example.is_right).count() as u64;
        let all = new.all.len() as u64;
        let cause = format!("the first examples: {} of {} right", grouped(right), grouped(all));
        return Changes { cause, list: Vec::new(), is_outdated: true, is_first: true };
    };
    let mut list = Vec::new();
    let before = first_of(&old.all, |one| &one.id);
    let after = first_of(&new.all, |one| &one.id);
    for example in &new.all {
        let was = before.get(example.id.as_str()).copied();
        let transition = match was {
            Some(was) if was == example => continue,
            Some(was) if was.is_by_chance() && example.is_right => continue,
            Some(was) if was.is_right => Transition::Broken,
            _ if example.is_right => Transition::Fixed,
            None => Transition::Broken,
            Some(_) => Transition::Other,
        };
        let now = example.lines.get(1).cloned().unwrap_or_default();
        let line = example.lines.first().cloned().unwrap_or_default();
        let class = now.strip_prefix("fails: ").and_then(|how| Class::from_id(how.split(',').next()?));
        let severity = class.map(|class| Severity::of(Verdict::Fail, class));
        let change = Change::new(transition, format!("example {}: {now}", example.id), vec![line]);
        list.push(Change { severity, ..change });
    }
    let is_gone = |example: &&Example| !after.contains_key(example.id.as_str());
    let gone = old.all.iter().filter(is_gone);
    list.extend(gone.map(|one| Change::new(Transition::Other, format!("example {}: gone", one.id), vec![])));
    list.sort_by_key(Change::order);
    let is_outdated = old.about.spec != new.about.spec;
    Changes { cause: cause(&old.about, &new.about), list, is_outdated, is_first: false }
}

/// The parts by their keys: with a stranger's file of many parts, a search for each would take minutes. The
/// first part with a key counts.
fn first_of<T>(all: &[T], key: impl Fn(&T) -> &str) -> HashMap<&str, &T> {
    let mut found = HashMap::new();
    for one in all {
        found.entry(key(one)).or_insert(one);
    }
    found
}

/// The components that changed, and what they can explain.
fn cause(old: &Metadata, new: &Metadata) -> String {
    // Backends name themselves, their devices and their drivers.
    let named = |text: &str| if text.is_empty() { "none".to_owned() } else { escaped(text).into_owned() };
    let (was, is) = (old.components(), new.components());
    let both = was.iter().zip(&is);
    let changed: Vec<(&str, String)> = (both.filter(|(was, is)| was != is))
        .map(|((name, was), (_, is))| (*name, format!("{name} {} → {}", named(was), named(is))))
        .collect();
    let is_changed = |name: &str| changed.iter().any(|(other, _)| *other == name);
    let same: Vec<&str> =
        ["driver", "suite", "spec", "dmlcts"].into_iter().filter(|name| !is_changed(name)).collect();
    let same = match same.as_slice() {
        [] => String::new(),
        [one] => format!("{one} unchanged"),
        [all @ .., last] => format!("{} and {last} unchanged", all.join(", ")),
    };
    let mut parts: Vec<String> = changed.iter().map(|(_, text)| text.clone()).collect();
    if parts.is_empty() {
        parts.push("no component of the header changed".to_owned());
    }
    parts.push(same);
    // A component of the project changes lines that no change of the backend explains.
    for (name, lines) in [
        ("dmlcts", "a new dmlcts may change predicates, ids, digests and numbers of cases"),
        ("spec", "a new spec may change findings, answers and refusals"),
        ("suite", "a new suite may change numbers of cases and digests, and show other findings"),
        ("seed", "another seed may change numbers of cases and digests, and show other findings"),
        ("options", "other options may change numbers of cases and digests, and show other findings"),
        ("feature level", "another level may change every line"),
    ] {
        if is_changed(name) {
            parts.push(lines.to_owned());
        }
    }
    if changed.len() > 1 {
        let count = changed.len();
        parts.push(format!(
            "{count} components changed at once, and nothing here tells which one is the cause"
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Compares failures by chance. An entry that is gone is no change.
fn chance(old: &[Chance], new: &[Chance], list: &mut Vec<Change>) {
    for one in new.iter().filter(|one| !old.contains(one)) {
        let was = old.iter().find(|was| was.subject() == one.subject());
        let before = was.map(|was| format!("before: {}", was.text()));
        let what = format!("fails by chance: {}: {}", one.subject(), one.text());
        let change = Change::new(Transition::Broken, what, before.into_iter().collect());
        list.push(Change { severity: Some(one.severity()), ..change });
    }
}

/// Compares answers or refusals. A change of mere numbers goes to `recounted`.
fn statements(
    name: &str,
    old: &[Statement],
    new: &[Statement],
    list: &mut Vec<Change>,
    recounted: &mut Vec<String>,
) {
    let before = first_of(old, |one| &one.subject);
    let after = first_of(new, |one| &one.subject);
    for one in new {
        let subject = &one.subject;
        match before.get(subject.as_str()).map(|was| &was.text) {
            Some(was) if *was == one.text => {}
            Some(was) if without_numbers(was) == without_numbers(&one.text) => {
                recounted.push(format!("{name}{subject}: {}", in_cases(&one.text, Some(was))));
            }
            was => {
                let what = format!("{name}{subject}: {}", in_cases(&one.text, None));
                let detail = was.map_or_else(|| "new".to_owned(), |was| before_text(was));
                list.push(Change::new(Transition::Other, what, vec![detail]));
            }
        }
    }
    for one in old.iter().filter(|one| !after.contains_key(one.subject.as_str())) {
        let what = format!("{name}{}: gone", one.subject);
        list.push(Change::new(Transition::Other, what, vec![before_text(&one.text)]));
    }
}

/// Answers without the numbers of their cases.
fn without_numbers(text: &str) -> Vec<&str> {
    answers(text).map(|(answer, _)| answer).collect()
}

/// The answers of a statement, each with the number of its cases if the statement has it.
pub(crate) fn answers(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    text.split("; ").map(move |answer| {
        let parts = answer.strip_suffix(')').and_then(|answer| answer.rsplit_once(" ("));
        match parts.filter(|(_, number)| is_number(number)) {
            Some((words, number)) => (words, Some(number)),
            None => (answer, None),
        }
    })
}

/// Answers as a phrase: `refused in 1 case`. With the same answers of an earlier snapshot, it has both
/// numbers: `refused in 1 case, before in 2`.
fn in_cases(text: &str, earlier: Option<&str>) -> String {
    let mut earlier = earlier.into_iter().flat_map(answers);
    let phrase = |(words, number): (&str, Option<&str>)| {
        let words = words.strip_prefix("is ").unwrap_or(words);
        let was = earlier.next().and_then(|(_, number)| number);
        let Some(number) = number else { return words.to_owned() };
        let comma = if words.contains(", ") && !words.ends_with('`') { "," } else { "" };
        let cases = if number == "1" { "case" } else { "cases" };
        let was =
            was.filter(|was| *was != number).map_or_else(String::new, |was| format!(", before in {was}"));
        format!("{words}{comma} in {number} {cases}{was}")
    };
    answers(text).map(phrase).collect::<Vec<_>>().join("; ")
}

/// The answers of the earlier snapshot, as a detail.
fn before_text(text: &str) -> String {
    format!("before: {}", in_cases(text, None))
}
