//! The forms of a case: its result, its outcome, its answers and its differences.

use std::{borrow::Cow, collections::BTreeMap};

use dmlcts_model::StrayPlace;
use dmlcts_runner::{Class, Difference, Rate, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a case. The details of the verdict are left out if the case just passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseForm<'a> {
    /// Its index among all cases, including those that the selection leaves out.
    pub index: u64,
    /// The case, as `dmlcts list` prints it and `dmlcts run` takes it.
    #[serde(borrow)]
    pub line: Cow<'a, str>,
    /// Its verdict.
    pub verdict: Verdict,
    /// The strategy that generated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// The backend's outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeForm>,
    /// The class of its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The ids of the clauses that its desc breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violates: Vec<String>,
    /// Its answers to the open questions that it raised, if its verdict is `recorded`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerForm>,
    /// The known failure that matches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// How often it failed, if it is a flake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether its output is right for its own data, and wrong for other data only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_other_data: bool,
    /// The hash of the output's memory, in 16 hexadecimal digits, if the case failed with an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The output's memory in hexadecimal digits, if the case failed with an output of at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How the output differs from the expected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<DifferencesForm>,
}

impl CaseForm<'_> {
    /// The same, without a reference to the line that it was read from.
    pub fn into_owned(self) -> CaseForm<'static> {
        CaseForm { line: Cow::Owned(self.line.into_owned()), ..self }
    }
}

/// The outcome of a case on a backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeForm {
    /// `output`: created and run. `accepted`: created, but not run. `rejected`: refused. `unsupported`:
    /// called unsupported. `failed`: an error of the backend's own. `crashed`: the backend ended or panicked.
    /// `timed-out`: no answer in time. `strayed`: wrote to memory outside its output. `lost`: no answer.
    /// `wrong-shape`, `wrong-type`: created and run, with a result of other sizes or of another data type.
    #[schemars(extend("enum" = OutcomeForm::KINDS))]
    pub kind: String,
    /// The phase: `create`, `compile`, `bind`, `execute` or `read back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The `HRESULT` of a refusal, such as `0x80070057`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The memory that was written to if `kind` is `strayed`: the `input`, or the bytes `before` or `behind`
    /// the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = StrayPlace::ALL.map(StrayPlace::id)))]
    pub place: Option<String>,
    /// The distance from the edge of that memory, in bytes: `input[offset]`, `output[-offset]`, or `(output +
    /// TotalTensorSizeInBytes)[offset]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The backend's message; a long one is cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl OutcomeForm {
    /// The values of [`OutcomeForm::kind`].
    pub const KINDS: [&str; 11] = [
        "output",
        "accepted",
        "rejected",
        "unsupported",
        "failed",
        "wrong-shape",
        "wrong-type",
        "strayed",
        "crashed",
        "timed-out",
        "lost",
    ];
}

/// The answer of a case to an open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerForm {
    /// The question's id.
    pub question: String,
    /// `reject`, `accept`, `semantics`, or `reading-2` for the second of the other readings that the spec's
    /// questions allow. `reject-together`: the case was refused, and another question that it raised may be
    /// the reason.
    pub answer: String,
}

/// How an output differs from the expected one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferencesForm {
    /// The number of elements that were compared.
    pub elements: u64,
    /// The number of differing elements of each kind.
    pub wrong: BTreeMap<Difference, u64>,
    /// The coordinates of the first differing element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<i64>,
    /// Its expected bits, such as `0x3f800000`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Its actual bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}
