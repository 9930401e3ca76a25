//! The declaration that a backend lacks the cases of a finding.

use dmlcts_diagnose::Finding;
use dmlcts_model::{Outcome, printable};
use dmlcts_runner::Class;
use dmlcts_spec::{
    Validity,
    expression::{Form, Logic},
};

/// The maximum length of a condition and of a reason in a declaration.
const LONGEST: usize = 255;

/// The elements of `lacks` that declare the cases of a finding, if the backend refuses valid descs in words,
/// and a predicate says which.
pub(crate) fn declarations(finding: &Finding) -> Vec<String> {
    let shown = finding.shown();
    let is_refusal =
        matches!(finding.class, Class::Undeclared | Class::RefusedValid | Class::RefusedOtherwise);
    let (Outcome::Rejected { reason, .. } | Outcome::Unsupported(reason)) = &shown.outcome else {
        return Vec::new();
    };
    let Some(rule) = finding.rule.as_ref().filter(|rule| rule.validity == Validity::Valid) else {
        return Vec::new();
    };
    let is_whole = rule.within.as_deref().is_none_or(|filter| filter == "valid");
    let reason = printable(reason.lines().next().unwrap_or_default(), LONGEST);
    if !is_refusal || !is_whole || reason.is_empty() {
        return Vec::new();
    }
    let predicate = rule.predicate.to_string();
    let is_and = matches!(rule.predicate.expression().form, Form::Logic(Logic::And, _));
    let declared = finding.operators.iter().map(|operator| {
        let head = format!("operator == {operator} and ");
        let condition = predicate.strip_prefix(&head).filter(|_| is_and).unwrap_or(&predicate);
        // A declaration is about one operator, and no other one has a name in it.
        let is_of_one = !condition.contains("operator in [");
        (is_of_one && condition.chars().count() <= LONGEST).then(|| {
            let [operator, condition, reason] =
                [operator, condition, &*reason].map(|text| serde_json::Value::from(text).to_string());
            format!("{{\"operator\": {operator}, \"where\": {condition}, \"reason\": {reason}}}")
        })
    });
    declared.collect::<Option<Vec<String>>>().unwrap_or_default()
}
