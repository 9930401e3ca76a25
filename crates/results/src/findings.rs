//! Findings in a results file: failures with one cause, as far as the run could tell.

use dmlcts_findings::Estimate;
use dmlcts_model::FeatureLevel;
use dmlcts_runner::{Finding, Rule, Verdict};
use dmlcts_spec::Validity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    GroupForm, UnknownName,
    convert::{Names, clause_ids, question_ids},
};

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingForm {
    /// The id, from the class and the predicate.
    pub id: String,
    /// The operators of its cases.
    pub operators: Vec<String>,
    /// What separates its cases from those that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleForm>,
    /// The number of cases that passed when they ran again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_again: u64,
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
    /// The number of passes of the run for which it holds.
    pub passes: u64,
    /// The number of cases that experiments ran.
    pub asked: u64,
    /// What fresh cases say of it; left out if none were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<FreshForm>,
    /// Whether it is right about every case of the run and every fresh case.
    pub exact: bool,
}

/// The numbers of fresh cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FreshForm {
    /// The cases for which the predicate holds.
    pub held: usize,
    /// Those of them that failed.
    pub held_failing: usize,
    /// The cases for which it does not hold.
    pub not_held: usize,
    /// Those of them that passed.
    pub not_held_passing: usize,
}

impl FindingForm {
    /// Checks the values that serde does not: the outcome, and the counts of fresh cases.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.failures.outcome.outcome()?;
        let fits = |fresh: FreshForm| {
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
        let Finding { id, class, operators, rule, cases, again, passed_again, first, smallest, pattern: _ } =
            finding;
        let judgement = first.judgement;
        Self {
            id: id.clone(),
            operators: operators.iter().map(|name| (*name).to_owned()).collect(),
            rule: rule.as_ref().map(RuleForm::new),
            passed_again: *passed_again,
            failures: GroupForm {
                cases: *cases,
                operator: first.operator.name().to_owned(),
                class: *class,
                violates: clause_ids(first.operator, judgement.violated),
                raises: question_ids(first.operator, judgement.questions),
                mode: None,
                index: first.index,
                strategy: first.strategy.clone(),
                line: first.case.to_string(),
                verdict: first.verdict,
                rate: first.rate.map(Into::into),
                again: Some(*again),
                outcome: (&first.outcome).into(),
                smallest: smallest.as_ref().map(|smallest| smallest.case.to_string()),
            },
        }
    }

    /// The finding, without the tensors of any case.
    pub(crate) fn finding(&self, level: FeatureLevel, names: Names<'_>) -> Result<Finding, UnknownName> {
        let group = self.failures.group(self.failures.cases, level, names)?;
        let operators: Result<Vec<&'static str>, _> =
            self.operators.iter().map(|name| Ok(names.operator(name)?.1.name())).collect();
        Ok(Finding {
            id: self.id.clone(),
            class: self.failures.class,
            operators: operators?,
            rule: self.rule.as_ref().map(RuleForm::rule),
            pattern: None,
            cases: group.cases,
            again: group.again,
            passed_again: self.passed_again,
            first: group.first,
            smallest: group.smallest,
        })
    }
}

impl RuleForm {
    fn new(rule: &Rule) -> Self {
        let fresh = rule.estimate.map(|estimate| {
            let Estimate { held, held_failing, not_held, not_held_passing } = estimate;
            FreshForm { held, held_failing, not_held, not_held_passing }
        });
        Self {
            predicate: rule.predicate.clone(),
            invalid: rule.validity == Validity::Invalid,
            passes: rule.passes,
            asked: rule.asked,
            fresh,
            exact: rule.is_exact,
        }
    }

    fn rule(&self) -> Rule {
        let estimate = self.fresh.map(|fresh| {
            let FreshForm { held, held_failing, not_held, not_held_passing } = fresh;
            Estimate { held, held_failing, not_held, not_held_passing }
        });
        Rule {
            predicate: self.predicate.clone(),
            validity: if self.invalid { Validity::Invalid } else { Validity::Valid },
            passes: self.passes,
            asked: self.asked,
            estimate,
            is_exact: self.exact,
        }
    }
}

/// The findings of several parts of a run. Findings of one class and one predicate are one.
pub(crate) fn joined(findings: Vec<Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_same = |one: &&mut Finding| {
            let predicate = |finding: &Finding| finding.rule.as_ref().map(|rule| rule.predicate.clone());
            let validity = |finding: &Finding| finding.rule.as_ref().map(|rule| rule.validity);
            one.class == finding.class
                && validity(one) == validity(&finding)
                && one.operators == finding.operators
                && (one.first.verdict == Verdict::Flake) == (finding.first.verdict == Verdict::Flake)
                && predicate(one) == predicate(&finding)
                && (one.rule.is_some() || one.first.judgement.violated == finding.first.judgement.violated)
        };
        match all.iter_mut().find(is_same) {
            Some(one) => join(one, finding),
            None => all.push(finding),
        }
    }
    all.sort_by_key(Finding::order);
    all
}

fn join(one: &mut Finding, other: Finding) {
    if other.first.index < one.first.index {
        (one.first, one.smallest) = (other.first, other.smallest.or(one.smallest.take()));
        one.id = other.id;
    }
    // Counts of a file may be any numbers.
    one.cases = one.cases.saturating_add(other.cases);
    one.again = one.again.saturating_add(other.again);
    one.passed_again = one.passed_again.saturating_add(other.passed_again);
    if let (Some(rule), Some(other)) = (&mut one.rule, other.rule) {
        rule.passes = rule.passes.saturating_add(other.passes);
        rule.asked = rule.asked.saturating_add(other.asked);
        rule.is_exact &= other.is_exact;
        rule.estimate = match (rule.estimate, other.estimate) {
            (Some(one), Some(other)) => Some(one.with(other)),
            (one, other) => one.or(other),
        };
    }
}
