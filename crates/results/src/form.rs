//! The lines of a results file, as JSON has them. This and the header's types are what its JSON Schema is
//! made from.

use std::{borrow::Cow, collections::BTreeMap};

use dmlcts_model::StrayPlace;
use dmlcts_runner::{Class, CutPart, Difference, Ending, Partition, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Header, PartitionForm, StatementForm, TotalsForm, UnknownName};

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Line<'a> {
    /// The first line.
    Header(Box<Header>),
    /// What became of a case.
    #[serde(borrow)]
    Case(Box<CaseForm<'a>>),
    /// What all cases so far came to.
    Checkpoint(Box<TotalsForm>),
    /// The last line.
    Summary(Box<SummaryForm>),
}

/// What became of a case. What stands behind the verdict is left out where the case just passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseForm<'a> {
    /// Its index among the cases to choose from.
    pub index: u64,
    /// The case, as `dmlcts list` prints it and `dmlcts run` takes it.
    #[serde(borrow)]
    pub line: Cow<'a, str>,
    /// What it came to.
    #[schemars(with = "String", extend("enum" = Verdict::ALL.map(Verdict::id)))]
    pub verdict: Verdict,
    /// The strategy that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// What the backend did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeForm>,
    /// In which way it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("enum" = Class::ALL.map(Class::id)))]
    pub class: Option<Class>,
    /// The ids of the clauses that its desc breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violates: Vec<String>,
    /// What it says to the open questions that it raised, where it is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerForm>,
    /// The known failure that matches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// How often it failed, where it is a flake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateForm>,
    /// How the output differs from what it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<DifferencesForm>,
}

/// What a backend did with a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeForm {
    /// `output`: created and run. `accepted`: created, and not asked to run. `rejected`: refused.
    /// `unsupported`, `failed`, `crashed`, `timed-out`: in the backend's words. `strayed`: wrote to memory
    /// that is not its output. `lost`: there was no answer.
    #[schemars(extend("enum" = OutcomeForm::KINDS))]
    pub kind: String,
    /// What was being done: `create`, `compile`, `bind`, `execute` or `read back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The `HRESULT` of a refusal, such as `0x80070057`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What was written to by what strayed: the `input`, or what lies `before` or `behind` the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = StrayPlace::ALL.map(StrayPlace::id)))]
    pub place: Option<String>,
    /// How many bytes from the edge of that memory: `input[offset]`, `output[-offset]`, or `(output +
    /// TotalTensorSizeInBytes)[offset]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The backend's words; long ones are cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl OutcomeForm {
    /// What [`OutcomeForm::kind`] can be.
    pub const KINDS: [&str; 9] = [
        "output",
        "accepted",
        "rejected",
        "unsupported",
        "failed",
        "strayed",
        "crashed",
        "timed-out",
        "lost",
    ];
}

/// How often a case failed that was run several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateForm {
    /// Runs in which it failed.
    pub failed: u32,
    /// All runs.
    pub runs: u32,
}

/// What a case says to an open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerForm {
    /// The question's id.
    pub question: String,
    /// `reject`, `accept`, `semantics`, or `reading-2` for the second of the other readings that the spec's
    /// questions allow; or `reject-together`, where it was refused and another question that it raised may be
    /// why.
    pub answer: String,
}

/// How an output differs from what it should be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferencesForm {
    /// How many elements were compared.
    pub elements: u64,
    /// How many of them differ in which way.
    #[schemars(with = "BTreeMap<String, u64>", extend("propertyNames" = serde_json::json!({"enum": Difference::ALL.map(Difference::name)})))]
    pub wrong: BTreeMap<Difference, u64>,
    /// The coordinates of the first that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<i64>,
    /// Its bits as they should be, such as `0x3f800000`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Its bits as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// A part of a run that ended before it had looked at every case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutForm {
    /// Which part.
    pub partition: PartitionForm,
    /// Why it ended.
    #[schemars(with = "String", extend("enum" = Ending::ALL.map(Ending::id)))]
    pub ending: Ending,
    /// How many cases it had looked at, those of other parts included.
    pub read: u64,
}

impl From<&CutPart> for CutForm {
    fn from(part: &CutPart) -> Self {
        Self { partition: part.partition.into(), ending: part.ending, read: part.read }
    }
}

impl CutForm {
    /// The part.
    pub(crate) fn part(&self) -> Result<CutPart, UnknownName> {
        let PartitionForm { part, of } = self.partition;
        let partition = Partition::new(part, of)
            .ok_or_else(|| UnknownName::new("the part", &self.partition.to_string()))?;
        Ok(CutPart { partition, ending: self.ending, read: self.read })
    }
}

/// How a run ended, and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryForm {
    /// Why it ended.
    #[schemars(with = "String", extend("enum" = Ending::ALL.map(Ending::id)))]
    pub ending: Ending,
    /// What the program exits with.
    pub exit_code: u8,
    /// Why the backend was lost, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// How processes of the backend ended badly that were told to end, where some did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_end: Option<String>,
    /// Cases that were started and never answered: the first of each range, and the one behind its last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abandoned: Vec<(u64, u64)>,
    /// Where parts were joined, those that ended early.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutForm>,
    /// How many obligations of the spec were met, of the operators that had any case.
    pub obligations_met: u64,
    /// How many there are of these operators.
    pub obligations: u64,
    /// What the run says of the backend's conformance, where it is of a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementForm>,
    /// What the cases came to.
    pub totals: TotalsForm,
}
