//! The declaration that a backend lacks the cases of a finding.

use dmlcts_diagnose::Finding;
use dmlcts_model::{Outcome, printable};
use dmlcts_runner::Class;
use dmlcts_spec::{
    Library, Operator, Predicate, Validity,
    expression::{Comparison, Expression, Form, Logic},
};

use crate::{Replay, prose::INDENT};

/// The maximum length of a condition and of a reason in a declaration.
const LONGEST: usize = 255;

/// The lines that say how to declare the cases of a finding, if the backend refuses valid descs in words, and
/// a predicate says which. `replay` names the backend: a library declares in C.
pub(crate) fn declarations(finding: &Finding, replay: &Replay) -> Vec<String> {
    let shown = finding.shown();
    let is_refusal =
        matches!(finding.class, Class::Undeclared | Class::RefusedValid | Class::RefusedOtherwise);
    let (Outcome::Rejected { reason, .. } | Outcome::Unsupported(reason)) = &shown.outcome else {
        return Vec::new();
    };
    let Some(rule) = finding.rule.as_ref().filter(|rule| rule.validity == Validity::Valid) else {
        return Vec::new();
    };
    let is_unfiltered = rule.within.as_deref().is_none_or(|filter| filter == "valid");
    let reason = printable(reason.lines().next().unwrap_or_default(), LONGEST);
    if !is_refusal || !is_unfiltered || reason.is_empty() {
        return Vec::new();
    }
    let conditions = finding.operators.iter().map(|operator| {
        let condition = condition_of(rule.predicate.expression(), operator)?;
        Some((&**operator, condition))
    });
    let Some(conditions) = conditions.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let (whole, parts): (Vec<_>, Vec<_>) =
        conditions.into_iter().partition(|(_, condition)| condition.is_empty());
    let whole: Vec<&str> = whole.into_iter().map(|(operator, _)| operator).collect();
    if !whole.is_empty() && !rule.is_exact {
        return Vec::new();
    }
    // Whatever the predicate is, only what a backend may declare is shown.
    let is_declarable = |(operator, condition): &(&str, String)| {
        let scope = Library::embedded().operator(operator).map(Operator::scope);
        let predicate = Predicate::compile(condition, scope);
        let is_of_desc = predicate.is_ok_and(|one| !one.asks_for_data() && !one.asks_for_judge());
        // A range of codes holds for modes that the backend may have.
        is_of_desc && !condition.contains("code(") && condition.chars().count() <= LONGEST
    };
    if !parts.iter().all(is_declarable) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if !whole.is_empty() {
        let whole = whole.join(" and ");
        lines.push(format!("if the backend is not meant to do {whole}, leave it out of its `operators`"));
    }
    if let [others @ .., last] = &*parts {
        let is_of = |start: &str| replay.options.iter().any(|word| word.starts_with(start));
        let of = if is_of("dylib:") {
            Language::C
        } else if is_of("exec:py") {
            Language::Python
        } else {
            Language::Json
        };
        let element = |(operator, condition): &(&str, String)| element(operator, condition, &reason, of);
        lines.push("if the backend is not meant to do them, declare that it `lacks` them:".to_owned());
        let [before, after] = if of == Language::Python { ["lacks = {", "}"] } else { [""; 2] };
        let mut elements: Vec<String> = others.iter().map(|other| format!("{},", element(other))).collect();
        elements.push(format!("{}{after}", element(last)));
        elements[0].insert_str(0, before);
        lines.extend(elements.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines
}

/// The language of a declaration. The modules for Python and JavaScript take the form of the protocol, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Python,
    Json,
}

/// An element of `lacks`.
fn element(operator: &str, condition: &str, reason: &str, of: Language) -> String {
    // A text of JSON without control characters is a text of C and of Python.
    let [operator, condition, reason] =
        [operator, condition, reason].map(|text| serde_json::Value::from(text).to_string());
    match of {
        Language::C => format!("{{{operator}, {condition}, {reason}}}"),
        Language::Python => format!("{operator}: {{{condition}: {reason}}}"),
        Language::Json => {
            format!("{{\"operator\": {operator}, \"where\": {condition}, \"reason\": {reason}}}")
        }
    }
}

/// What a predicate asks of the cases of one operator, without the operator's name. `None` if it holds for
/// none of them; empty if it holds for all.
fn condition_of(expression: &Expression, operator: &str) -> Option<String> {
    let is_name = |one: &Expression, name: &str| matches!(&one.form, Form::Name(own) if own == name);
    let all_if = |holds: bool| holds.then(String::new);
    match &expression.form {
        Form::Compare(left, rest) if is_name(left, "operator") => {
            all_if(matches!(rest.as_slice(), [(Comparison::Equal, name)] if is_name(name, operator)))
        }
        Form::In(left, names) if is_name(left, "operator") => {
            all_if(names.iter().any(|name| is_name(name, operator)))
        }
        Form::Logic(Logic::And, pair) => {
            let part = |one: &Expression| {
                let text = condition_of(one, operator)?;
                let is_or = matches!(one.form, Form::Logic(Logic::Or, _));
                Some(if is_or && !text.is_empty() { format!("({text})") } else { text })
            };
            let [one, other] = [part(&pair[0])?, part(&pair[1])?];
            let joined =
                if one.is_empty() || other.is_empty() { one + &other } else { format!("{one} and {other}") };
            Some(joined)
        }
        Form::Logic(Logic::Or, pair) => {
            let parts: Vec<String> = pair.iter().filter_map(|one| condition_of(one, operator)).collect();
            let holds_always = parts.iter().any(String::is_empty);
            (!parts.is_empty()).then(|| if holds_always { String::new() } else { parts.join(" or ") })
        }
        _ => Some(expression.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_spec::expression::parse;

    #[test]
    fn a_declaration_is_of_the_protocol_of_c_or_of_python() {
        let of = |language| element("SLICE", "rank > 4", r#"no "deep" \ ones"#, language);
        let protocol = r#"{"operator": "SLICE", "where": "rank > 4", "reason": "no \"deep\" \\ ones"}"#;
        assert_eq!(
            [of(Language::Json), of(Language::C)],
            [protocol, r#"{"SLICE", "rank > 4", "no \"deep\" \\ ones"}"#]
        );
        assert_eq!(of(Language::Python), r#""SLICE": {"rank > 4": "no \"deep\" \\ ones"}"#);
    }

    #[test]
    fn a_condition_is_of_one_operator() {
        let of = |text: &str, operator: &str| condition_of(&parse(text).expect(text), operator);
        let two = "(operator == SLICE and any axis Strides > 1) or (operator == SLICE1 and rank > 1 and level >= 4.1)";
        assert_eq!(of(two, "SLICE").as_deref(), Some("any axis Strides > 1"));
        assert_eq!(of(two, "SLICE1").as_deref(), Some("rank > 1 and level >= 4.1"));
        assert_eq!(of(two, "PADDING1"), None);
        let several = "operator in [SLICE, SLICE1] and (rank == 1 or rank == 3)";
        assert_eq!(of(several, "SLICE1").as_deref(), Some("(rank == 1 or rank == 3)"));
        assert_eq!(of(several, "PADDING1"), None);
        assert_eq!(of("operator == SLICE", "SLICE").as_deref(), Some(""));
        assert_eq!(of("rank > 4", "SLICE").as_deref(), Some("rank > 4"));
    }
}
