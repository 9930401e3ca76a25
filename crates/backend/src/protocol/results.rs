//! `results`: what became of cases, as columns.

use std::borrow::Cow;

use dmlcts_model::{ErrorCode, Outcome, Phase, printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{self, Reader};
use crate::Job;

/// A longer reason is cut.
const LONGEST: usize = 1000;

/// `results`, from the backend: what became of the next cases that have no result yet, in their order. The body holds
/// the outputs' memory after each run of the cases whose outcome is `output`, `TotalTensorSizeInBytes` each and nothing
/// between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// What became of each case; its length says how many cases there are.
    pub outcome: Vec<OutcomeWord>,
    /// What was being done, for `rejected` (usually `create`) and `failed` (usually `execute`); a column of nulls may be
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Vec<Option<PhaseWord>>>,
    /// The HRESULT of what was `rejected`, usually `E_INVALIDARG` (2147942487): the only one that says that the desc is
    /// invalid. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Vec<Option<u32>>>,
    /// Why, in the backend's words; a column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Vec<Option<String>>>,
    /// The `number` of the question that it answers, where that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

/// What a backend did with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeWord {
    /// Created and run, every time; the outputs are in the body.
    Output,
    /// Created; it was not to run.
    Accepted,
    /// Refused.
    Rejected,
    /// Valid for all it knows, but not supported.
    Unsupported,
    /// Something went wrong that is no refusal.
    Failed,
}

impl OutcomeWord {
    const ALL: [Self; 5] = [Self::Output, Self::Accepted, Self::Rejected, Self::Unsupported, Self::Failed];

    fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        }
    }
}

/// The steps of an operator's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseWord {
    /// `CreateOperator`.
    Create,
    /// `CompileOperator`.
    Compile,
    /// Initialisation and binding.
    Bind,
    /// Dispatch and execution.
    Execute,
    /// Reading the output back.
    ReadBack,
}

impl From<Phase> for PhaseWord {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Create => Self::Create,
            Phase::Compile => Self::Compile,
            Phase::Bind => Self::Bind,
            Phase::Execute => Self::Execute,
            Phase::ReadBack => Self::ReadBack,
        }
    }
}

impl From<PhaseWord> for Phase {
    fn from(phase: PhaseWord) -> Self {
        match phase {
            PhaseWord::Create => Self::Create,
            PhaseWord::Compile => Self::Compile,
            PhaseWord::Bind => Self::Bind,
            PhaseWord::Execute => Self::Execute,
            PhaseWord::ReadBack => Self::ReadBack,
        }
    }
}

impl Results {
    /// What became of these jobs. Outcomes that only a host can see stand as failures.
    pub fn of(jobs: &[Job]) -> Self {
        let mut results = Self { outcome: Vec::with_capacity(jobs.len()), ..Self::default() };
        for (index, job) in jobs.iter().enumerate() {
            let (word, phase, code, reason) = match &job.outcome {
                Outcome::Output => (OutcomeWord::Output, None, None, ""),
                Outcome::Accepted => (OutcomeWord::Accepted, None, None, ""),
                Outcome::Rejected { phase, code, reason } => {
                    let phase = Some(*phase).filter(|phase| *phase != Phase::Create);
                    let code = Some(*code).filter(|code| *code != ErrorCode::INVALID_ARGUMENT);
                    (OutcomeWord::Rejected, phase, code, &**reason)
                }
                Outcome::Unsupported(reason) => (OutcomeWord::Unsupported, None, None, &**reason),
                Outcome::Failed { phase, reason } => {
                    let phase = Some(*phase).filter(|phase| *phase != Phase::Execute);
                    (OutcomeWord::Failed, phase, None, &**reason)
                }
                Outcome::Crashed(reason) => (OutcomeWord::Failed, None, None, &**reason),
                Outcome::TimedOut => (OutcomeWord::Failed, None, None, "it timed out"),
                Outcome::Lost => (OutcomeWord::Failed, None, None, "it was lost"),
            };
            results.outcome.push(word);
            put(&mut results.phase, index, jobs.len(), phase.map(PhaseWord::from));
            put(&mut results.code, index, jobs.len(), code.map(|code| code.0));
            put(
                &mut results.reason,
                index,
                jobs.len(),
                Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            );
        }
        results
    }

    /// Reads a header. Most hold little more than a word a case, in no spelling but one; what is written in any other way is
    /// read at leisure.
    pub fn read(header: &[u8]) -> Result<Self, String> {
        match Self::read_quickly(&mut Reader(header)) {
            Some(results) => Ok(results),
            None => serde_json::from_slice(header).map_err(|error| error.to_string()),
        }
    }

    fn read_quickly(text: &mut Reader<'_>) -> Option<Self> {
        let mut results = Self::default();
        text.literal(b"{\"outcome\":")?;
        text.array(|text| {
            let word = text.string()?;
            let word = OutcomeWord::ALL.into_iter().find(|known| known.name() == word)?;
            results.outcome.push(word);
            Some(())
        })?;
        while text.skips(b',') {
            let cases = results.outcome.len();
            match text.string()? {
                "code" if results.code.is_none() => {
                    let column = results.code.insert(Vec::with_capacity(cases));
                    nullable(text, column, |text| text.unsigned()?.try_into().ok())?;
                }
                "reason" if results.reason.is_none() => {
                    let column = results.reason.insert(Vec::with_capacity(cases));
                    nullable(text, column, |text| text.string().map(str::to_owned))?;
                }
                "number" if results.number.is_none() => {
                    text.literal(b":")?;
                    results.number = Some(text.unsigned()?);
                }
                _ => return None,
            }
        }
        text.literal(b"}")?;
        text.0.is_empty().then_some(results)
    }

    /// Writes the header, as [`Results::read`] reads it best.
    pub fn write(&self, out: &mut Vec<u8>) {
        let simple = self.phase.is_none() && self.code.is_none();
        if !simple {
            // Writing to memory does not fail.
            let _ = serde_json::to_writer(out, self);
            return;
        }
        out.extend_from_slice(b"{\"outcome\":");
        text::column(&self.outcome, out, |word, out| text::string(word.name(), out));
        if let Some(reasons) = &self.reason {
            out.extend_from_slice(b",\"reason\":");
            text::column(reasons, out, |reason, out| match reason {
                Some(reason) => text::string(reason, out),
                None => text::null(out),
            });
        }
        if let Some(number) = self.number {
            out.extend_from_slice(b",\"number\":");
            text::unsigned(number, out);
        }
        out.push(b'}');
    }

    /// Whether every column that is there has a value for each case.
    pub fn check(&self) -> Result<(), String> {
        let cases = self.outcome.len();
        let lengths = [
            ("phase", self.phase.as_ref().map(Vec::len)),
            ("code", self.code.as_ref().map(Vec::len)),
            ("reason", self.reason.as_ref().map(Vec::len)),
        ];
        match lengths.into_iter().find(|(_, length)| length.is_some_and(|length| length != cases)) {
            Some((name, _)) => Err(format!("the columns `outcome` and `{name}` differ in length")),
            None if cases == 0 => Err("it holds no case".to_owned()),
            None => Ok(()),
        }
    }

    /// Writes down what became of the first of these jobs, and returns of how many. `outputs` is the arena that their runs
    /// write to. Where something is wrong, nothing is written.
    pub fn apply(&self, body: &[u8], jobs: &mut [Job], outputs: &mut [u8]) -> Result<usize, String> {
        self.check()?;
        let (count, due) = (self.outcome.len(), jobs.len());
        let jobs =
            jobs.get_mut(..count).ok_or_else(|| format!("they answer {count} cases, and {due} are due"))?;
        let ran = || {
            let ran = jobs.iter().zip(&self.outcome).filter(|(_, word)| **word == OutcomeWord::Output);
            ran.flat_map(|(job, _)| job.runs.iter().map(|run| run.output.clone()))
        };
        let due: usize = ran().map(|memory| memory.len()).sum();
        if due != body.len() {
            return Err(format!("the outputs take {due} bytes, and {} came", body.len()));
        }
        let mut body = body;
        for range in ran() {
            let (bytes, rest) = body.split_at(range.len());
            outputs[range].copy_from_slice(bytes);
            body = rest;
        }
        for (index, job) in jobs.iter_mut().enumerate() {
            job.outcome = match self.outcome.get(index) {
                Some(OutcomeWord::Output) if !job.runs.is_empty() => Outcome::Output,
                Some(OutcomeWord::Output | OutcomeWord::Accepted) => Outcome::Accepted,
                _ => self.outcome_of(index),
            };
        }
        Ok(count)
    }

    /// What became of the case at an index.
    pub fn outcome_of(&self, index: usize) -> Outcome {
        let Some(word) = self.outcome.get(index) else { return Outcome::Lost };
        let phase = self.phase.as_ref().and_then(|column| *column.get(index)?).map(Phase::from);
        let code = self.code.as_ref().and_then(|column| *column.get(index)?).map(ErrorCode);
        let reason = self.reason.as_ref().and_then(|column| column.get(index)?.as_deref());
        let reason = reason.map(|reason| printable(reason, LONGEST).into_owned());
        let reason: Cow<'static, str> = reason.unwrap_or_default().into();
        match word {
            OutcomeWord::Output => Outcome::Output,
            OutcomeWord::Accepted => Outcome::Accepted,
            OutcomeWord::Rejected => Outcome::Rejected {
                phase: phase.unwrap_or(Phase::Create),
                code: code.unwrap_or(ErrorCode::INVALID_ARGUMENT),
                reason,
            },
            OutcomeWord::Unsupported => Outcome::Unsupported(reason),
            OutcomeWord::Failed => Outcome::Failed { phase: phase.unwrap_or(Phase::Execute), reason },
        }
    }
}

/// Reads the rest of a column that may hold nulls, from the colon on.
fn nullable<T>(
    text: &mut Reader<'_>,
    column: &mut Vec<Option<T>>,
    value: impl Fn(&mut Reader<'_>) -> Option<T>,
) -> Option<()> {
    text.literal(b":")?;
    text.array(|text| {
        let value = if text.skips_null() { None } else { Some(value(text)?) };
        column.push(value);
        Some(())
    })
}

/// Puts a value into a column, which begins to be with its first value.
fn put<T: Clone>(column: &mut Option<Vec<Option<T>>>, index: usize, length: usize, value: Option<T>) {
    if column.is_some() || value.is_some() {
        let column = column.get_or_insert_with(|| Vec::with_capacity(length));
        column.resize(index, None);
        column.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_be_left_out_and_usual_values_come_back() {
        let results: Results =
            serde_json::from_str(r#"{"outcome": ["rejected", "failed", "output"]}"#).expect("columns");
        results.check().expect("it is whole");
        let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
        assert_eq!(results.outcome_of(0), Outcome::Rejected { phase, code, reason: "".into() });
        assert_eq!(results.outcome_of(1), Outcome::Failed { phase: Phase::Execute, reason: "".into() });
        assert_eq!((results.outcome_of(2), results.outcome_of(3)), (Outcome::Output, Outcome::Lost));
    }

    #[test]
    fn what_is_written_reads_back_with_its_number() {
        let outcome = vec![OutcomeWord::Output, OutcomeWord::Rejected];
        for number in [None, Some(0), Some(u64::MAX)] {
            for code in [None, Some(vec![None, Some(7)])] {
                let results = Results { outcome: outcome.clone(), code, number, ..Results::default() };
                let mut header = Vec::new();
                results.write(&mut header);
                assert_eq!(Results::read(&header), Ok(results.clone()));
                assert_eq!(serde_json::from_slice::<Results>(&header).expect("it is JSON"), results);
            }
        }
    }

    #[test]
    fn columns_of_another_length_are_named() {
        let said = |text: &str| serde_json::from_str::<Results>(text).expect("columns").check().unwrap_err();
        assert!(said(r#"{"outcome": ["output"], "reason": []}"#).contains("`reason`"));
        assert!(said(r#"{"outcome": []}"#).contains("no case"));
    }
}
