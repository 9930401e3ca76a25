//! The findings of all trials as one list. A trial learns from its own cases alone, so that one cause may
//! have another predicate and another id in each.

use std::{
    cmp::Reverse,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use dmlcts_diagnose::Finding;
use dmlcts_report::headline;
use dmlcts_spec::program::Values;

/// The findings of the trials that failed, each with the name of its trial.
#[derive(Debug, Default)]
pub(crate) struct Overall(Mutex<Vec<(String, Finding)>>);

impl Overall {
    /// Adds the findings of a trial.
    pub(crate) fn add(&self, trial: &str, findings: &[Finding]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(findings.iter().map(|finding| (trial.to_owned(), finding.clone())));
    }

    /// A line for each cause, or nothing if each finding is one. The predicate that is right about the most
    /// cases comes first, and stands for the findings whose smallest case it has.
    pub(crate) fn text(&self) -> String {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        left.sort_by_key(|(trial, finding)| {
            let is_exact = finding.rule.as_ref().is_some_and(|rule| rule.is_exact);
            (!is_exact, Reverse(finding.cases), trial.clone())
        });
        let (mut text, mut is_shorter) = ("the same failures over all trials:\n".to_owned(), false);
        while !left.is_empty() {
            let (trial, best) = left.remove(0);
            let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, other)| has(&best, other));
            is_shorter |= !same.is_empty();
            let further = if same.is_empty() { String::new() } else { format!(" and {} more", same.len()) };
            // Writing into a string cannot fail.
            let _ = writeln!(
                text,
                "  {}\n    finding {} of {trial}{further}",
                headline(&best, usize::MAX),
                best.id
            );
            left = others;
        }
        if is_shorter { text } else { String::new() }
    }
}

/// Whether the predicate of a finding holds for the smallest case of another one of its kind. Findings
/// without a predicate are alike if they have the same operators.
fn has(finding: &Finding, other: &Finding) -> bool {
    if (finding.class, finding.first.verdict) != (other.class, other.first.verdict) {
        return false;
    }
    let Some(rule) = &finding.rule else {
        return other.rule.is_none() && finding.operators == other.operators;
    };
    let shown = other.shown();
    rule.validity == shown.judgement.validity()
        && rule.predicate.holds(&shown.case, shown.level, &mut Values::default())
}
