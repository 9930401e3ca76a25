//! The words in which a backend refuses. Refusals in other words have other reasons, so they are told apart
//! before anything is learned about them.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_model::Outcome;
use dmlcts_runner::{Class, RunOutcomes};

use crate::finding::FailureKind;

/// The maximum number of wordings of an operator and class. A backend with more puts parts of the desc into
/// its words, and they name no reason.
const MOST: usize = 8;
/// The number of failures that a wording must have. Fewer support no predicate.
const LEAST: usize = 3;
/// The maximum number of words that are compared.
const WORDS: usize = 24;

/// The wordings that name the reasons of refusals, of each operator (by its index) and class.
#[derive(Debug, Default)]
pub(crate) struct Wordings(BTreeMap<(usize, Class), BTreeSet<String>>);

impl Wordings {
    /// The wordings of a run.
    pub(crate) fn of(run_outcomes: &RunOutcomes) -> Self {
        let mut counts: BTreeMap<(usize, Class), BTreeMap<String, usize>> = BTreeMap::new();
        for found in run_outcomes.failures().values() {
            if let Some(wording) = wording(found.class, &found.outcome) {
                *counts.entry((found.operator, found.class)).or_default().entry(wording).or_default() += 1;
            }
        }
        let wordings = counts.into_iter().filter(|(_, counts)| (2..=MOST).contains(&counts.len()));
        let frequent = |counts: BTreeMap<String, usize>| {
            counts.into_iter().filter(|(_, cases)| *cases >= LEAST).map(|(wording, _)| wording).collect()
        };
        Self(wordings.map(|(key, counts)| (key, frequent(counts))).collect())
    }

    /// The kind of a failure of an operator.
    pub(crate) fn kind(&self, operator: usize, class: Class, outcome: &Outcome) -> String {
        let kind = FailureKind::of(class, outcome).to_string();
        let known = self.0.get(&(operator, class));
        match wording(class, outcome).filter(|wording| known.is_some_and(|known| known.contains(wording))) {
            Some(wording) => format!("{kind}: {wording}"),
            None => kind,
        }
    }
}

/// The words of a refusal, without what may depend on the desc: words with digits, unless they name a line of
/// a program. `None` if the failure is no refusal, or has no words.
fn wording(class: Class, outcome: &Outcome) -> Option<String> {
    let (Outcome::Rejected { reason, .. } | Outcome::Unsupported(reason) | Outcome::Failed { reason, .. }) =
        outcome
    else {
        return None;
    };
    if !matches!(class, Class::Undeclared | Class::RefusedValid | Class::RefusedOtherwise | Class::Failed) {
        return None;
    }
    let mut words: Vec<&str> = Vec::new();
    for word in reason.lines().next()?.split_whitespace() {
        let word = if word.contains(|digit: char| digit.is_ascii_digit()) && !names_a_line(word) {
            "#"
        } else {
            word
        };
        if word != "#" || words.last() != Some(&"#") {
            words.push(word);
        }
    }
    words.truncate(WORDS);
    (!words.is_empty()).then(|| words.join(" "))
}

/// Whether a word names a line of a program, such as `(naive.py:11)`.
fn names_a_line(word: &str) -> bool {
    word.split_once(':').is_some_and(|(file, line)| {
        let extension = file.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| extension.chars().all(char::is_alphabetic))
            && line.starts_with(|digit: char| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsupported(reason: &str) -> Option<String> {
        wording(Class::Undeclared, &Outcome::Unsupported(reason.to_owned().into()))
    }

    #[test]
    fn words_that_depend_on_the_desc_are_left_out() {
        assert_eq!(unsupported("no strides of (3, 4)"), unsupported("no strides of (12, 1, 1)"));
        assert_eq!(unsupported("no strides of 2").as_deref(), Some("no strides of #"));
        assert_ne!(unsupported("KeyError: 1 (naive.py:11)"), unsupported("KeyError: 2 (naive.py:12)"));
        assert_eq!(unsupported("KeyError: 1 (naive.py:11)"), unsupported("KeyError: 2 (naive.py:11)"));
        assert_eq!(unsupported(""), None);
        assert_eq!(wording(Class::AcceptedInvalid, &Outcome::Accepted), None);
    }
}
