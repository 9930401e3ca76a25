//! The failed cases of a run: the first case of each strategy, operator, class and validity, with their
//! number. So each reported problem has a case to look at.
//!
//! The groups of a summary are not enough: the first case of a group may be of another strategy than the one
//! in question.

use dmlcts_model::{Outcome, Phase, printable};
use dmlcts_runner::{CaseResults, Class, Details};
use dmlcts_spec::{IdSet, Library};

/// The maximum length of a backend's text in a report.
const LONGEST: usize = 300;

/// A case that failed.
pub(super) struct Failed {
    /// The name of its strategy.
    pub(super) strategy: String,
    /// The index of its operator in the library.
    pub(super) operator: usize,
    /// The clauses that its desc breaks.
    pub(super) violated: IdSet,
    /// The number of cases that failed in the same way.
    pub(super) cases: u64,
    pub(super) class: Class,
    pub(super) outcome: Outcome,
    pub(super) line: String,
    /// The failure in one sentence.
    pub(super) cause: String,
}

impl Failed {
    /// Whether its desc breaks no clause.
    pub(super) fn is_valid(&self) -> bool {
        self.violated.is_empty()
    }

    /// Whether the backend process failed: it ended, hung, or sent something that is no answer.
    pub(super) fn is_break(&self) -> bool {
        // An invalid desc is never executed, so that a failed execution is a failure of the process.
        let has_lost_its_way = || matches!(self.outcome, Outcome::Failed { phase: Phase::Execute, .. });
        matches!(self.class, Class::Crashed | Class::TimedOut) || !self.is_valid() && has_lost_its_way()
    }
}

/// The failed cases of a run, in the order of the cases.
#[derive(Default)]
pub(super) struct Failures(Vec<Failed>);

impl Failures {
    /// Adds the failures of some cases. `strategies` holds the names of the suite's strategies.
    pub(super) fn add(&mut self, cases: &CaseResults, strategies: &[String]) {
        for case in cases.iter().filter(|case| case.verdict.is_unexpected()) {
            let Some(details) = case.details else { continue };
            let Some(class) = details.class else { continue };
            let failed = Failed {
                strategy: strategies.get(case.strategy).cloned().unwrap_or_default(),
                operator: case.operator,
                violated: details.judgement.violated,
                cases: 1,
                class,
                outcome: details.outcome.clone(),
                line: case.line.to_owned(),
                cause: cause(case.operator, class, details),
            };
            let way = |one: &Failed| (one.operator, one.class, one.is_valid(), one.is_break());
            let is_alike = |one: &&mut Failed| one.strategy == failed.strategy && way(one) == way(&failed);
            match self.0.iter_mut().find(is_alike) {
                Some(known) => known.cases += 1,
                None => self.0.push(failed),
            }
        }
    }

    /// The failures that `wanted` selects.
    pub(super) fn all(&self, wanted: impl Fn(&Failed) -> bool) -> impl Iterator<Item = &Failed> {
        self.0.iter().filter(move |failed| wanted(failed))
    }
}

/// A failure in one sentence: its class, the broken clauses, the number of failures, and the backend's words.
fn cause(operator: usize, class: Class, details: &Details) -> String {
    let mut text = class.to_string();
    let operator = Library::embedded().operators().get(operator);
    let violated = details.judgement.violated.iter();
    let clauses = violated.filter_map(|place| operator?.clauses().get(place));
    let clauses: Vec<&str> = clauses.map(|clause| clause.id.as_str()).collect();
    if !clauses.is_empty() {
        text.extend([" (its desc breaks ", &clauses.join(", "), ")"]);
    }
    if let Some(rate) = details.rate {
        text.extend([", though not each time: it ", &rate.to_string()]);
    }
    let (Outcome::Rejected { reason, .. }
    | Outcome::Unsupported(reason)
    | Outcome::Failed { reason, .. }
    | Outcome::Mismatched { reason, .. }
    | Outcome::Crashed(reason)) = &details.outcome
    else {
        return text;
    };
    if !reason.is_empty() {
        text.extend([": ", &*printable(reason, LONGEST)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_backend::{Backend, Batch, Capabilities, Immediate, OpenError, Pipelined};
    use dmlcts_model::{ErrorCode, FeatureLevel, Phase};
    use dmlcts_reference::Reference;

    use super::*;
    use crate::commands::doctor::run::smoke;

    /// Refuses every desc.
    struct Refusing(Capabilities);

    impl Backend for Refusing {
        fn capabilities(&self) -> &Capabilities {
            &self.0
        }

        fn set_feature_level(&mut self, _: FeatureLevel) {}

        fn run(&mut self, batch: &mut Batch) {
            let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
            for job in batch.parts().0 {
                job.outcome = Outcome::Rejected { phase, code, reason: "not\ntoday".into() };
            }
        }
    }

    #[test]
    fn a_case_of_each_strategy_is_kept_whether_or_not_it_opened_a_group() {
        let capabilities = Reference::backend().capabilities().clone();
        let refusing = Arc::new(move |_| -> Result<Box<dyn Pipelined>, OpenError> {
            Ok(Box::new(Immediate(Refusing(capabilities.clone()))))
        });
        let (diagnosis, failures) = smoke(refusing, None).expect("it starts");
        let summary = &diagnosis.summary;
        let first_of = |name: &str| failures.all(|failed| failed.strategy == name).next().is_some();
        assert!(summary.strategies.iter().all(|(name, tally)| first_of(name) == (tally.unexpected() > 0)));
        let opened = |name: &str| summary.groups.iter().any(|group| group.first.strategy == name);
        let mut strategies = summary.strategies.iter();
        assert!(strategies.any(|(name, _)| first_of(name) && !opened(name)), "or the groups would do");
        let failed = failures.all(|failed| failed.strategy == "negative").next().expect("it is kept");
        assert_eq!(failed.class, Class::RefusedValid);
        assert_eq!(failed.cause, "a valid desc was refused as invalid: not\\ntoday");
        assert!(!failures.all(|_| true).any(|failed| failed.class == Class::AcceptedInvalid));
    }
}
