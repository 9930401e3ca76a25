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

#[cfg(test)]
mod tests {
    use dmlcts_diagnose::Rule;
    use dmlcts_model::{Expectation, FeatureLevel, Outcome, line};
    use dmlcts_runner::{Class, Failure, Verdict};
    use dmlcts_spec::{Library, Predicate, Scratch};

    use super::*;

    const FORWARDS: &str =
        "SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=1 fill=iota";
    const BACKWARDS: &str =
        "SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota";
    /// A predicate that holds for the second case alone.
    const REVERSED: &str = "any axis InputWindowStrides < 0";
    /// A predicate that holds for both cases.
    const ANY: &str = "rank == 1";

    /// A finding with this number of failures, of which `case` is the first. `rule` is its predicate, and
    /// whether it is exact.
    fn finding(id: &str, cases: u64, class: Class, case: &str, rule: Option<(&str, bool)>) -> Finding {
        let (library, level) = (Library::embedded(), FeatureLevel::NEWEST);
        let case = line::parse(case, library.signatures()).expect("a case");
        let operator = library.operator(&case.desc.signature.operator).expect("an operator");
        let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
        let first = Failure {
            index: 0,
            strategy: String::new(),
            case,
            operator,
            level,
            judgement,
            expectation: Expectation::Accept,
            outcome: Outcome::Accepted,
            verdict: Verdict::Fail,
            rate: None,
            alive: 0,
            class,
            evidence: None,
            bytes_vary: false,
            tried: None,
        };
        let rule = rule.map(|(predicate, is_exact)| Rule {
            predicate: Predicate::parse(predicate, library).expect("a predicate"),
            validity: judgement.validity(),
            within: None,
            passes: 0,
            is_sample: false,
            asked: 0,
            estimate: None,
            missed: 0,
            counterexample: None,
            is_exact,
        });
        Finding {
            id: id.to_owned(),
            class,
            operators: vec![operator.name()],
            rule,
            listed: Vec::new(),
            pattern: None,
            known: 0,
            cases,
            others: Vec::new(),
            is_sample: false,
            again: 0,
            passed_again: 0,
            digest: None,
            bytes_vary: false,
            first,
            smallest: None,
            shows: None,
            output: None,
        }
    }

    /// The line of each cause below its headline; none if each finding is a cause.
    fn causes(findings: Vec<Finding>) -> Vec<String> {
        let overall = Overall::default();
        for finding in findings {
            overall.add(&format!("trial-{}", finding.id), &[finding]);
        }
        let text = overall.text();
        text.lines().filter_map(|line| line.strip_prefix("    finding ")).map(str::to_owned).collect()
    }

    #[test]
    fn an_exact_predicate_stands_for_findings_whose_case_it_has() {
        let class = Class::NotRun;
        let found = causes(vec![
            finding("large", 90, class, BACKWARDS, Some((ANY, false))),
            finding("exact", 5, class, BACKWARDS, Some((REVERSED, true))),
            finding("bare", 2, class, BACKWARDS, None),
            finding("forwards", 1, class, FORWARDS, Some((ANY, false))),
        ]);
        assert_eq!(found, ["exact of trial-exact and 2 more", "forwards of trial-forwards"]);
    }

    #[test]
    fn the_predicate_of_more_cases_comes_first_among_equals() {
        let found = causes(vec![
            finding("few", 5, Class::NotRun, BACKWARDS, Some((REVERSED, true))),
            finding("many", 6, Class::NotRun, FORWARDS, Some((ANY, true))),
        ]);
        assert_eq!(found, ["many of trial-many and 1 more"]);
    }

    #[test]
    fn findings_without_a_predicate_are_alike_by_class_and_operators() {
        let found = causes(vec![
            finding("a", 3, Class::NotRun, BACKWARDS, None),
            finding("b", 2, Class::NotRun, FORWARDS, None),
            finding("c", 1, Class::Failed, FORWARDS, None),
        ]);
        assert_eq!(found, ["a of trial-a and 1 more", "c of trial-c"]);
    }

    #[test]
    fn different_causes_need_no_list() {
        let found = causes(vec![
            finding("a", 3, Class::NotRun, BACKWARDS, Some((REVERSED, true))),
            finding("b", 2, Class::NotRun, FORWARDS, Some((REVERSED, true))),
            finding("c", 1, Class::Failed, BACKWARDS, Some((REVERSED, true))),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
