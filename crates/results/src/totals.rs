//! What cases came to, as a checkpoint and a summary have it.

use std::collections::BTreeMap;

use dmlcts_runner::{Class, Undeclared, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AnswerForm, FirstForm, KnownForm, OutcomeForm, RateForm, UnknownName};

/// What cases came to, added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalsForm {
    /// Every case below this index was looked at: a run goes on from here.
    pub next: u64,
    /// How long the cases took.
    pub milliseconds: u64,
    /// Cases looked at, including those that were left out.
    pub read: u64,
    /// Cases put to the backend: as many as there are verdicts.
    pub ran: u64,
    /// How many came to which verdict.
    pub verdicts: Vec<VerdictsForm>,
    /// What was exercised of the spec: for each operator the sets of places in its lists of clauses,
    /// questions and so on, in hex, bit `n` for place `n`.
    pub coverage: BTreeMap<String, BTreeMap<String, String>>,
    /// How much was run.
    pub work: WorkForm,
    /// Things that are allowed, and worth knowing.
    pub notes: NotesForm,
    /// How open questions were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CountedAnswer>,
    /// Why cases were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedForm>,
    /// What became of the cases of each known failure of the backend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownForm>,
    /// What failed, by group, in the order of each group's first case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupForm>,
    /// Failures of further groups, which were counted only.
    #[serde(default)]
    pub ungrouped: u64,
}

impl TotalsForm {
    /// Checks the values that serde does not: outcomes and answers.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.groups.iter().try_for_each(|group| group.outcome.outcome().map(drop))?;
        self.answers.iter().try_for_each(|answer| answer.answer.check())
    }
}

/// How many cases of one strategy and one operator came to which verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictsForm {
    /// The strategy that made them.
    pub strategy: String,
    /// Their operator.
    pub operator: String,
    /// How many came to which verdict; those of no case are left out.
    #[schemars(with = "BTreeMap<String, u64>", extend("propertyNames" = serde_json::json!({"enum": Verdict::ALL.map(Verdict::id)})))]
    pub counts: BTreeMap<Verdict, u64>,
    /// The first of them that was not as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstForm>,
    /// In which way that one failed; left out where it passed unexpectedly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("enum" = Class::ALL.map(Class::id)))]
    pub class: Option<Class>,
}

/// How much was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkForm {
    /// How often a created operator was run.
    pub runs: u64,
    /// Cases whose operator ran a second time, on other data than their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub on_other_data: u64,
    /// Bytes of the outputs of these runs.
    pub bytes: u64,
    /// Valid cases that were too large to run.
    pub too_large: u64,
    /// Those of them that passed: created as they should be.
    pub only_created: u64,
}

/// What the documentation lets an implementation do, but a careful one does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotesForm {
    /// Runs that wrote into the holes of a strided output.
    pub holes: u64,
    /// Runs that wrote behind an output's last element.
    pub tails: u64,
    /// Runs whose output differed in no way but those that the run allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgiven: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How many cases of an operator were skipped, for what the backend did not declare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedForm {
    /// Their operator.
    pub operator: String,
    /// What was not declared: the operator, the data type, the rank; or `bare-arrays`, where an invalid desc
    /// has lists that are not as long as its counts say.
    #[schemars(with = "String", extend("enum" = Undeclared::ALL.map(Undeclared::id)))]
    pub undeclared: Undeclared,
    /// How many cases.
    pub cases: u64,
}

/// How many cases answered an open question in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedAnswer {
    /// The operator whose question it is.
    pub operator: String,
    /// The question, and the answer.
    pub answer: AnswerForm,
    /// How many cases.
    pub cases: u64,
    /// The first of them.
    pub first: FirstForm,
}

/// Failures that have their operator, their class and their clauses in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupForm {
    /// How many cases.
    pub cases: u64,
    /// Their operator.
    pub operator: String,
    /// In which way they failed.
    #[schemars(with = "String", extend("enum" = Class::ALL.map(Class::id)))]
    pub class: Class,
    /// The ids of the clauses that their descs break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violates: Vec<String>,
    /// The ids of the open questions that they raise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raises: Vec<String>,
    /// The value of their first enumeration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<i64>,
    /// The index of the first of them.
    pub index: u64,
    /// The strategy that made it.
    pub strategy: String,
    /// The first of them.
    pub line: String,
    /// What it came to.
    #[schemars(with = "String", extend("enum" = Verdict::ALL.map(Verdict::id)))]
    pub verdict: Verdict,
    /// How often it failed, where it is a flake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateForm>,
    /// How many of them were run again alone; the others are taken to fail each time, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// What the backend did with it, when it ran again alone.
    pub outcome: OutcomeForm,
    /// A smaller case that fails in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
}
