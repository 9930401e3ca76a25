//! Cases that predicates get wrong: such a case shows a reader of an inexact predicate what is missing.

use dmlcts_findings::Label;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Predicate, Scratch, program::Values};

use crate::{Counterexample, Finding};

/// Gives each predicate that is not exact the shortest case of the experiments that it gets wrong.
pub(crate) fn add_counterexamples(
    findings: &mut [Finding],
    answers: &[(Case, Label)],
    (library, level): (&'static Library, FeatureLevel),
) {
    let is_inexact = |finding: &Finding| finding.rule.as_ref().is_some_and(|rule| !rule.is_exact);
    if !findings.iter().any(is_inexact) {
        return;
    }
    let predicate =
        |finding: &Finding| Some((finding.kind().to_string(), finding.rule.as_ref()?.predicate.clone()));
    let predicates: Vec<Option<(String, Predicate)>> = findings.iter().map(predicate).collect();
    let (mut values, mut scratch) = (Values::default(), Scratch::default());
    for (case, label) in answers {
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let judgement = operator.judge(&case.desc, level, &mut scratch);
        if !judgement.questions.is_empty() {
            continue;
        }
        let held: Vec<bool> = (predicates.iter())
            .map(|one| one.as_ref().is_some_and(|(_, predicate)| predicate.holds(case, level, &mut values)))
            .collect();
        for (place, finding) in findings.iter_mut().enumerate().filter(|(_, finding)| is_inexact(finding)) {
            let Some((kind, _)) = &predicates[place] else { continue };
            let is_explained = || {
                let mut all = predicates.iter().zip(&held);
                all.any(|(one, held)| *held && one.as_ref().is_some_and(|(of, _)| of == kind))
            };
            let fails = match label {
                Label::Passed if held[place] => false,
                Label::Failed(of) if of == kind && !is_explained() => true,
                _ => continue,
            };
            let is_about = finding.operators.contains(&operator.name());
            let Some(rule) = finding.rule.as_mut().filter(|_| is_about) else { continue };
            let length = |case: &Case| case.to_string().len();
            let is_shorter = |old: &Counterexample| length(case) < length(&old.case);
            if rule.validity == judgement.validity() && rule.counterexample.as_ref().is_none_or(is_shorter) {
                rule.counterexample = Some(Counterexample { case: case.clone(), fails });
            }
        }
    }
}
