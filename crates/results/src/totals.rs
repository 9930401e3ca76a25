//! The totals of cases, as checkpoints and summaries contain them.

use std::collections::BTreeMap;

use dmlcts_runner::{Class, FirstCase, KnownTally, Notes, Rate, Tried, Undeclared, Verdict, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AnswerForm, OutcomeForm};

/// The totals of cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalsForm {
    /// Every case below this index was read. A resumed run continues here.
    pub next: u64,
    /// The time that the cases took, in milliseconds.
    pub milliseconds: u64,
    /// The number of cases that were read, including those that were left out.
    pub read: u64,
    /// The number of cases with a verdict.
    pub ran: u64,
    /// The number of cases with each verdict.
    pub verdicts: Vec<VerdictsForm>,
    /// The parts of the spec that were exercised. Each operator has a set of places for each of its lists,
    /// such as clauses and questions. A set is in hex, with bit `n` for place `n`.
    pub coverage: BTreeMap<String, BTreeMap<String, String>>,
    /// The amount of work.
    pub work: Work,
    /// Behaviour that is allowed, but worth knowing.
    pub notes: Notes,
    /// The answers to open questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CountedAnswer>,
    /// How invalid descs were refused that break one clause alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<RefusalForm>,
    /// Why cases were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedForm>,
    /// The results of the cases of each known failure of the backend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownTally>,
    /// The failures by group, in the order of each group's first case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupForm>,
    /// The number of failures in further groups, which are only counted.
    #[serde(default)]
    pub ungrouped: u64,
}

/// The number of cases with each verdict, for one strategy and one operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictsForm {
    /// The strategy that generated them.
    pub strategy: String,
    /// Their operator.
    pub operator: String,
    /// The number of cases with each verdict. Verdicts without a case are left out.
    pub counts: BTreeMap<Verdict, u64>,
    /// The first case with an unexpected verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstCase>,
    /// The class of its failure; left out if it passed unexpectedly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

/// The number of cases of an operator that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedForm {
    /// Their operator.
    pub operator: String,
    /// The undeclared part: the operator, the data type, the rank, or what the backend declares to lack, as
    /// an index in `lacks`. `bare-arrays`: an invalid desc has lists whose lengths differ from its counts.
    pub undeclared: Undeclared,
    /// The number of cases.
    pub cases: u64,
}

/// The number of descs that break one clause alone and were refused in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusalForm {
    /// The operator.
    pub operator: String,
    /// The id of the clause.
    pub clause: String,
    /// The phase: `create`, `compile`, `bind`, `execute` or `read back`.
    pub phase: String,
    /// The `HRESULT`, such as `0x80070057`.
    pub code: String,
    /// The number of cases.
    pub cases: u64,
}

/// The number of cases that gave one answer to an open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedAnswer {
    /// The operator whose question it is.
    pub operator: String,
    /// The question, and the answer.
    pub answer: AnswerForm,
    /// The number of cases.
    pub cases: u64,
    /// The first of these cases.
    pub first: FirstCase,
}

/// Failures with the same operator, class and clauses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupForm {
    /// The number of cases.
    pub cases: u64,
    /// Their operator.
    pub operator: String,
    /// The class of their failure.
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
    /// The index of the first case.
    pub index: u64,
    /// The strategy that generated it.
    pub strategy: String,
    /// The first of these cases.
    pub line: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// How often it failed, if it is a flake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What was tried with it, if it is a flake, or passes as the first case of a fresh backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Box<Tried<String>>>,
    /// Whether its output is right for its own data, and wrong for other data only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_other_data: bool,
    /// The number of cases that ran again alone. The others are assumed to fail each time, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// Its outcome when it ran again alone.
    pub outcome: OutcomeForm,
    /// A smaller case that fails in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
}
