//! Compares what backends declare to lack. A backend that runs less is not better: a lack may be gone since a
//! greater one holds for its cases, too.

use std::collections::{HashMap, HashSet};

use crate::{Change, Transition};

/// The lacks with a limit: the words before and behind it.
const LIMITS: [(&str, &str); 3] =
    [("tensors above ", " bytes"), ("tensors above ", " elements"), ("feature levels above ", "")];

/// The lacks that only the new snapshot has.
#[derive(Default)]
pub(super) struct Gained<'a> {
    /// By operator, data type or rank.
    subjects: HashMap<&'a str, &'a str>,
    /// A limit. The line of a case does not tell whether it holds.
    limit: Option<&'a str>,
}

/// Compares lacks. Returns those that the new snapshot has in addition.
pub(super) fn compare<'a>(old: &[String], new: &'a [String], list: &mut Vec<Change>) -> Gained<'a> {
    let (before, after): (HashSet<&String>, HashSet<&String>) = (old.iter().collect(), new.iter().collect());
    let mut gained = Gained::default();
    for lack in new.iter().filter(|lack| !before.contains(lack)) {
        let earlier = limit(lack).and_then(|(kind, now)| {
            let of_kind = |text: &&String| limit(text).is_some_and(|(other, _)| other == kind);
            let earlier = old.iter().find(of_kind)?;
            limit(earlier).map(|(_, was)| (earlier, now > was))
        });
        let (transition, details) = match earlier {
            Some((earlier, true)) => (Transition::Better, vec![format!("before: {earlier}")]),
            Some((earlier, false)) => (Transition::Worse, vec![format!("before: {earlier}")]),
            None => (Transition::Worse, Vec::new()),
        };
        if transition == Transition::Worse {
            gained.add(lack);
        }
        list.push(Change::new(transition, format!("lacks {lack}"), details));
    }
    for lack in old.iter().filter(|lack| !after.contains(lack)) {
        let is_replaced =
            |(kind, _)| new.iter().any(|one| limit(one).is_some_and(|(other, _)| other == kind));
        if limit(lack).is_some_and(is_replaced) {
            continue;
        }
        let what = format!("no longer lacks {lack}");
        // Types, operators and ranks are independent of each other.
        let is_certain = gained.is_empty() || !lack.contains(" where ");
        list.push(if is_certain {
            Change::new(Transition::Better, what, Vec::new())
        } else {
            let detail = "another lack is new, and may hold for the same cases".to_owned();
            Change::new(Transition::Other, what, vec![detail])
        });
    }
    gained
}

/// The kind of a limit and the limit, in parts that are compared one by one.
fn limit(lack: &str) -> Option<(usize, Vec<u64>)> {
    LIMITS.iter().enumerate().find_map(|(kind, (before, behind))| {
        let number = lack.strip_prefix(before)?.strip_suffix(behind)?.replace(',', "");
        let parts: Result<Vec<u64>, _> = number.split('.').map(str::parse).collect();
        Some((kind, parts.ok()?))
    })
}

impl<'a> Gained<'a> {
    fn add(&mut self, lack: &'a str) {
        if limit(lack).is_some() {
            self.limit.get_or_insert(lack);
        } else {
            let subject = lack.split_once(" where ").map_or(lack, |(operator, _)| operator);
            self.subjects.entry(subject).or_insert(lack);
        }
    }

    /// Whether the new snapshot lacks as much as the old one, or less.
    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty() && self.limit.is_none()
    }

    /// A lack that may hold for a case, from its line. Then the case may not run.
    pub(super) fn may_skip(&self, line: &str) -> Option<&'a str> {
        let mut words = line.split(' ');
        let (operator, data_type) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let sizes = words.find_map(|word| word.strip_prefix("in="));
        let rank = sizes.map(|sizes| format!("rank {}", sizes.split(',').count())).unwrap_or_default();
        let of = |subject: &str| self.subjects.get(subject).copied();
        of(operator).or_else(|| of(data_type)).or_else(|| of(&rank)).or(self.limit)
    }
}
