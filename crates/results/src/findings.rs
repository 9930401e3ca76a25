//! Findings in a results file: failures with one cause, as far as the run could tell.

use dmlcts_diagnose::{Counterexample, Finding, OtherFailures, Rule};
use dmlcts_findings::Estimate;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::Validity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    GroupForm, UnknownName,
    convert::{Names, digest_of},
};

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingForm {
    /// The id, made from the class and the predicate when the finding was first seen.
    pub id: String,
    /// The operators of its cases.
    pub operators: Vec<String>,
    /// What separates its cases from those that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleForm>,
    /// Whether further failures of the run were only counted, and belong to no finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
    /// The failures that failed in another way than most of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherFailures>,
    /// The number of cases that passed when they ran again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_again: u64,
    /// The first cases, if no predicate describes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
    /// The digest of its cases, the classes of their failures and their outputs, in 16 hexadecimal digits. A
    /// flaky finding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether the output of a case had other bytes when it ran again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bytes_vary: bool,
    /// A sentence about the first wrong element of its smallest case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// The digest of the wrong output of its smallest case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The number of its cases, its first case, and its smallest one.
    pub failures: GroupForm,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What separates the failures of a finding from the passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleForm {
    /// A predicate over cases, in the language of the specs.
    pub predicate: String,
    /// Whether it is about invalid descs. It is about valid ones otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invalid: bool,
    /// The filter of the run. Nothing is known of other cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The number of passes of the run for which it holds, and whose data could have shown the failure.
    pub passes: u64,
    /// Whether only a sample of the passes was looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
    /// The number of cases that experiments ran.
    pub asked: u64,
    /// What fresh cases say of it; left out if none were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Estimate>,
    /// The number of failures of its operators and kind in findings without a predicate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// A case of the experiments that it gets wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample<String>>,
    /// Whether it is right about every case of the run and every fresh case.
    pub exact: bool,
}

impl FindingForm {
    /// Checks the values that serde does not: the outcome, and the counts of fresh cases.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.failures.outcome.outcome()?;
        digest_of(self.digest.as_deref())?;
        digest_of(self.output.as_deref())?;
        let fits = |fresh: Estimate| {
            let is_small = |count: usize| count < 1 << 31;
            fresh.held_failing <= fresh.held
                && fresh.not_held_passing <= fresh.not_held
                && is_small(fresh.held)
                && is_small(fresh.not_held)
        };
        let fresh = self.rule.as_ref().and_then(|rule| rule.fresh);
        if fresh.is_none_or(fits) {
            Ok(())
        } else {
            Err(UnknownName::new("the number of fresh cases of the finding", &self.id))
        }
    }

    pub(crate) fn new(finding: &Finding) -> Self {
        let Finding { id, class, operators, rule, cases, others, .. } = finding;
        let Finding {
            is_sample,
            again,
            passed_again,
            digest,
            bytes_vary,
            first,
            smallest,
            shows,
            output,
            ..
        } = finding;
        Self {
            id: id.clone(),
            operators: operators.iter().map(|name| (*name).to_owned()).collect(),
            rule: rule.as_ref().map(RuleForm::new),
            sample: *is_sample,
            others: others.clone(),
            passed_again: *passed_again,
            listed: finding.listed.iter().map(ToString::to_string).collect(),
            digest: digest.map(|digest| digest.to_string()),
            bytes_vary: *bytes_vary,
            shows: shows.clone(),
            output: output.map(|digest| digest.to_string()),
            failures: GroupForm {
                smallest: smallest.as_ref().map(|smallest| smallest.case.to_string()),
                ..GroupForm::new(first, *class, *cases, *again)
            },
        }
    }

    /// The finding, without the tensors of any case.
    pub(crate) fn finding(&self, level: FeatureLevel, names: Names<'_>) -> Result<Finding, UnknownName> {
        let group = self.failures.group(self.failures.cases, level, names)?;
        let listed: Result<Vec<Case>, _> = self.listed.iter().map(|text| names.case(text)).collect();
        let operators: Result<Vec<&'static str>, _> =
            self.operators.iter().map(|name| Ok(names.operator(name)?.name())).collect();
        Ok(Finding {
            id: self.id.clone(),
            class: self.failures.class,
            operators: operators?,
            rule: self.rule.as_ref().map(|rule| rule.rule(names)).transpose()?,
            listed: listed?,
            pattern: None,
            cases: group.cases,
            others: self.others.clone(),
            known: 0,
            is_sample: self.sample,
            again: group.again,
            passed_again: self.passed_again,
            digest: digest_of(self.digest.as_deref())?,
            bytes_vary: self.bytes_vary,
            first: group.first,
            smallest: self.failures.smallest(level, names)?,
            shows: self.shows.clone(),
            output: digest_of(self.output.as_deref())?,
        })
    }
}

impl RuleForm {
    fn new(rule: &Rule) -> Self {
        Self {
            predicate: rule.predicate.to_string(),
            invalid: rule.validity == Validity::Invalid,
            within: rule.within.clone(),
            passes: rule.passes,
            sample: rule.is_sample,
            asked: rule.asked,
            fresh: rule.estimate,
            missed: rule.missed,
            counterexample: rule.counterexample.as_ref().map(|Counterexample { case, fails }| {
                Counterexample { case: case.to_string(), fails: *fails }
            }),
            exact: rule.is_exact,
        }
    }

    fn rule(&self, names: Names<'_>) -> Result<Rule, UnknownName> {
        let counterexample = |Counterexample { case, fails }: &Counterexample<String>| {
            Ok(Counterexample { case: names.case(case)?, fails: *fails })
        };
        Ok(Rule {
            predicate: names.predicate(&self.predicate)?,
            validity: if self.invalid { Validity::Invalid } else { Validity::Valid },
            within: self.within.clone(),
            passes: self.passes,
            is_sample: self.sample,
            asked: self.asked,
            estimate: self.fresh,
            missed: self.missed,
            counterexample: self.counterexample.as_ref().map(counterexample).transpose()?,
            is_exact: self.exact,
        })
    }
}
