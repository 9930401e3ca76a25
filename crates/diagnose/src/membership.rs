//! Which finding a failed case belongs to.

use dmlcts_model::{Case, FeatureLevel, Outcome};
use dmlcts_runner::{Class, Found, Verdict};
use dmlcts_spec::{Library, Scratch, Validity, program::Values};

use crate::{Finding, Rule};

/// The findings of a run.
pub struct Membership<'a> {
    findings: &'a [Finding],
    library: &'static Library,
    level: FeatureLevel,
    values: Values,
    scratch: Scratch,
}

impl<'a> Membership<'a> {
    /// These findings, of a run at this level.
    pub fn new(findings: &'a [Finding], library: &'static Library, level: FeatureLevel) -> Self {
        Self { findings, library, level, values: Values::default(), scratch: Scratch::default() }
    }

    /// The index of the finding that a case belongs to, which failed with this verdict, class and outcome:
    /// the first one whose predicate holds for it, or else the one without an exact predicate that is most
    /// like it.
    pub fn finding_of(
        &mut self,
        case: &Case,
        (verdict, class, outcome): (Verdict, Class, &Outcome),
    ) -> Option<usize> {
        let Self { findings, library, level, values, scratch } = self;
        let operator = library.operator(&case.desc.signature.operator)?;
        let judgement = operator.judge(&case.desc, *level, scratch);
        let is_alike = |finding: &Finding| finding.has_kind(class, outcome);
        let fits = |finding: &Finding| {
            let validity = finding.rule.as_ref().map(|rule| rule.validity);
            judgement.validity() == Validity::Open || validity == Some(judgement.validity())
        };
        let is_flake = verdict == Verdict::Flake;
        let is_first = |finding: &Finding| {
            (finding.first.verdict == Verdict::Flake) == is_flake && finding.first.case == *case
        };
        if let Some(own) = findings.iter().position(is_first) {
            return Some(own);
        }
        if !is_flake {
            let held = findings.iter().position(|finding| {
                let holds = |rule: &Rule| rule.predicate.holds(case, *level, values);
                is_alike(finding) && fits(finding) && finding.rule.as_ref().is_some_and(holds)
            });
            if held.is_some() {
                return held;
            }
        }
        let others = findings.iter().enumerate().filter(|(_, finding)| {
            finding.rule.as_ref().is_none_or(|rule| !rule.is_exact && !is_flake)
                && finding.operators.contains(&operator.name())
                && (finding.first.verdict == Verdict::Flake) == is_flake
                && (is_flake || is_alike(finding))
        });
        let likeness = |(place, finding): &(usize, &Finding)| {
            let first = &finding.first;
            let is_same_mode = Found::mode_of(&first.case.desc) == Found::mode_of(&case.desc);
            let is_same = first.judgement.violated == judgement.violated;
            let likeness =
                (first.case == *case, is_alike(finding), finding.rule.is_none(), finding.class == class);
            (likeness, is_same, is_same_mode, std::cmp::Reverse(*place))
        };
        others.max_by_key(likeness).map(|(place, _)| place)
    }
}

impl std::fmt::Debug for Membership<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Membership").field("findings", &self.findings).finish_non_exhaustive()
    }
}
