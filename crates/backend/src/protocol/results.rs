//! `results`: the outcomes of cases, as columns.

use std::{borrow::Cow, time::Duration};

use dmlcts_model::{ErrorCode, Mismatch, Outcome, Phase, Stray, StrayPlace, printable};
use serde::{Deserialize, Serialize};

use crate::{Job, WorkTimes};

/// Longer reasons are truncated to this number of characters.
const LONGEST: usize = 1000;

/// `results`, from the backend: the outcomes of the next unanswered cases, in their order. The body holds the
/// outputs' memory after each run of the cases whose outcome is `output`, `TotalTensorSizeInBytes` each,
/// without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The outcome of each case. Its length is the number of cases.
    pub outcome: Vec<OutcomeWord>,
    /// For `rejected` and `failed`: the step that failed. Null means `create` for `rejected`, and `execute`
    /// for `failed`. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Vec<Option<PhaseWord>>>,
    /// For `rejected`: the HRESULT. Null means `E_INVALIDARG` (2147942487), the only one that says that the
    /// desc is invalid. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Vec<Option<u32>>>,
    /// For `strayed`: the memory that was written to. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Vec<Option<PlaceWord>>>,
    /// For `strayed`: the distance from the edge of that memory, in bytes. The byte is `input[offset]`,
    /// `output[-offset]`, or `(output + TotalTensorSizeInBytes)[offset]`. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Vec<Option<u64>>>,
    /// The reason, in the backend's words. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Vec<Option<String>>>,
    /// The number of operators that were alive when the case was created or ran, for a backend that has
    /// several at a time. A column of nulls may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<Vec<Option<u32>>>,
    /// The `number` of the `run` that it answers, if that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The time that the backend took for these cases, if it measures that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimesForm>,
}

/// The time that a backend took for cases, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimesForm {
    /// The time in which it created operators.
    pub create: u64,
    /// The time in which it ran them.
    pub run: u64,
}

impl From<WorkTimes> for TimesForm {
    fn from(times: WorkTimes) -> Self {
        let microseconds = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self { create: microseconds(times.create), run: microseconds(times.run) }
    }
}

impl From<TimesForm> for WorkTimes {
    fn from(form: TimesForm) -> Self {
        Self { create: Duration::from_micros(form.create), run: Duration::from_micros(form.run) }
    }
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeWord {
    /// Created, and run each time; the outputs are in the body.
    Output,
    /// Created, and not asked to run.
    Accepted,
    /// Refused.
    Rejected,
    /// Not supported, and not found invalid.
    Unsupported,
    /// Failed for another reason than a refusal.
    Failed,
    /// Ran, and wrote to memory outside of its output: `place` and `offset` say where.
    Strayed,
    /// Ran, and the result has other sizes than the output: `reason` says both.
    WrongShape,
    /// Ran, and the result has another data type than the output: `reason` says both.
    WrongType,
}

impl OutcomeWord {
    /// The word, if only a case that ran can have this outcome, and its runs have no output.
    fn of_a_run(self) -> Option<&'static str> {
        match self {
            Self::Strayed => Some("strayed"),
            Self::WrongShape => Some("wrong_shape"),
            Self::WrongType => Some("wrong_type"),
            Self::Output | Self::Accepted | Self::Rejected | Self::Unsupported | Self::Failed => None,
        }
    }
}

/// `phase`, from a backend that declares `limits.create_timeout`: it begins this phase of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhaseForm {
    /// `create` if it creates an operator, and `execute` if it runs one.
    pub phase: PhaseWord,
}

/// The steps of creating and running an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
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

/// The memory outside of its output that a run wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlaceWord {
    /// The memory of its input.
    Input,
    /// The memory before its output.
    Before,
    /// The memory after its output.
    Behind,
}

impl From<StrayPlace> for PlaceWord {
    fn from(place: StrayPlace) -> Self {
        match place {
            StrayPlace::Input => Self::Input,
            StrayPlace::Before => Self::Before,
            StrayPlace::Behind => Self::Behind,
        }
    }
}

impl From<PlaceWord> for StrayPlace {
    fn from(place: PlaceWord) -> Self {
        match place {
            PlaceWord::Input => Self::Input,
            PlaceWord::Before => Self::Before,
            PlaceWord::Behind => Self::Behind,
        }
    }
}

impl Results {
    /// The outcomes of these jobs. Outcomes that only a host can observe become failures.
    pub fn of(jobs: &[Job]) -> Self {
        let mut results = Self { outcome: Vec::with_capacity(jobs.len()), ..Self::default() };
        for (index, job) in jobs.iter().enumerate() {
            let mut stray = None;
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
                Outcome::Strayed(at) => {
                    stray = Some(*at);
                    (OutcomeWord::Strayed, None, None, "")
                }
                Outcome::Mismatched { what, reason } => {
                    let word = match what {
                        Mismatch::Shape => OutcomeWord::WrongShape,
                        Mismatch::Type => OutcomeWord::WrongType,
                    };
                    (word, None, None, &**reason)
                }
                Outcome::Crashed(reason) => (OutcomeWord::Failed, None, None, &**reason),
                Outcome::TimedOut => (OutcomeWord::Failed, None, None, "it timed out"),
                Outcome::Lost => (OutcomeWord::Failed, None, None, "it was lost"),
            };
            results.outcome.push(word);
            put(&mut results.phase, index, jobs.len(), phase.map(PhaseWord::from));
            put(&mut results.code, index, jobs.len(), code.map(|code| code.0));
            put(&mut results.place, index, jobs.len(), stray.map(|stray| stray.place.into()));
            put(&mut results.offset, index, jobs.len(), stray.map(|stray| stray.offset));
            put(&mut results.alive, index, jobs.len(), Some(job.alive).filter(|alive| *alive > 1));
            let reason = Some(reason).filter(|reason| !reason.is_empty()).map(str::to_owned);
            put(&mut results.reason, index, jobs.len(), reason);
        }
        results
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// The header does not have the form of its schema. The message names the place.
    pub fn read(header: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(header).map_err(|error| error.to_string())
    }

    /// Checks that every column has a value for each case.
    ///
    /// # Errors
    ///
    /// A column has another length, there is no case, or a stray write has no place or offset.
    pub fn check(&self) -> Result<(), String> {
        let cases = self.outcome.len();
        let lengths = [
            ("phase", self.phase.as_ref().map(Vec::len)),
            ("code", self.code.as_ref().map(Vec::len)),
            ("place", self.place.as_ref().map(Vec::len)),
            ("offset", self.offset.as_ref().map(Vec::len)),
            ("reason", self.reason.as_ref().map(Vec::len)),
            ("alive", self.alive.as_ref().map(Vec::len)),
        ];
        let differs = |(_, length): &(&str, Option<usize>)| length.is_some_and(|length| length != cases);
        if let Some((name, _)) = lengths.into_iter().find(differs) {
            return Err(format!("the columns `outcome` and `{name}` differ in length"));
        }
        if cases == 0 {
            return Err("it holds no case".to_owned());
        }
        let lacks_place =
            |index: &usize| self.outcome[*index] == OutcomeWord::Strayed && self.stray(*index).is_none();
        (0..cases).find(lacks_place).map_or(Ok(()), |index| {
            Err(format!("case {index} `strayed`, and its `place` or `offset` is missing"))
        })
    }

    /// The write outside of its output by the case at an index, if the columns have it.
    fn stray(&self, index: usize) -> Option<Stray> {
        let place = self.place.as_ref().and_then(|column| *column.get(index)?)?;
        let offset = self.offset.as_ref().and_then(|column| *column.get(index)?)?;
        Some(Stray { place: place.into(), offset })
    }

    /// Stores the outcomes of the first jobs and returns their number. `outputs` is the arena that their runs
    /// write to.
    ///
    /// # Errors
    ///
    /// The columns contradict each other, the body or the jobs. Nothing is stored then.
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
        let has_memory = |index: usize| !jobs[index].runs.is_empty();
        let mut idle = (0..count).filter(|index| !has_memory(*index));
        if let Some((index, name)) = idle.find_map(|index| Some((index, self.outcome[index].of_a_run()?))) {
            return Err(format!("case {index} `{name}`, and was not asked to run"));
        }
        let mut body = body;
        for range in ran() {
            let (bytes, rest) = body.split_at(range.len());
            outputs[range].copy_from_slice(bytes);
            body = rest;
        }
        for (index, job) in jobs.iter_mut().enumerate() {
            job.alive = self.alive.as_ref().and_then(|column| *column.get(index)?).unwrap_or(0);
            job.outcome = match self.outcome.get(index) {
                Some(OutcomeWord::Output) if !job.runs.is_empty() => Outcome::Output,
                Some(OutcomeWord::Output | OutcomeWord::Accepted) => Outcome::Accepted,
                _ => self.outcome_of(index),
            };
        }
        Ok(count)
    }

    /// The outcome of the case at an index.
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
            OutcomeWord::WrongShape => Outcome::Mismatched { what: Mismatch::Shape, reason },
            OutcomeWord::WrongType => Outcome::Mismatched { what: Mismatch::Type, reason },
            OutcomeWord::Strayed => self.stray(index).map_or(Outcome::Lost, Outcome::Strayed),
        }
    }
}

/// Adds a value to a column. The first value creates the column.
fn put<T: Clone>(column: &mut Option<Vec<Option<T>>>, index: usize, length: usize, value: Option<T>) {
    if column.is_some() || value.is_some() {
        let column = column.get_or_insert_with(|| Vec::with_capacity(length));
        column.resize(index, None);
        column.push(value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_model::{BindingOffsets, DataType, Desc, List, Signature, Tensor};

    use super::*;
    use crate::{Batch, Run};

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
    fn a_result_that_cannot_be_compared_comes_back_with_its_reason() {
        let mismatched = |what| Outcome::Mismatched { what, reason: "[2, 3], expected [2, 4]".into() };
        let outcomes = [mismatched(Mismatch::Shape), mismatched(Mismatch::Type)];
        let read = Results::of(jobs(&outcomes, 1).jobs());
        assert_eq!([0, 1].map(|index| read.outcome_of(index)), outcomes);
        let mut asked = jobs(&[Outcome::Lost, Outcome::Lost], 0);
        let said = read.apply(&[], asked.parts().0, &mut []);
        assert_eq!(said, Err("case 0 `wrong_shape`, and was not asked to run".to_owned()));
    }

    #[test]
    fn written_results_read_back_with_their_number() {
        let outcome = vec![OutcomeWord::Output, OutcomeWord::Rejected];
        for number in [None, Some(0), Some(u64::MAX)] {
            for code in [None, Some(vec![None, Some(7)])] {
                let results = Results { outcome: outcome.clone(), code, number, ..Results::default() };
                let header = serde_json::to_vec(&results).expect("it is JSON");
                assert_eq!(Results::read(&header), Ok(results));
            }
        }
    }

    #[test]
    fn columns_of_another_length_are_named() {
        let said = |text: &str| serde_json::from_str::<Results>(text).expect("columns").check().unwrap_err();
        assert!(said(r#"{"outcome": ["output"], "reason": []}"#).contains("`reason`"));
        assert!(said(r#"{"outcome": []}"#).contains("no case"));
        let stray =
            r#"{"outcome": ["output", "strayed"], "place": [null, "behind"], "offset": [null, null]}"#;
        assert!(said(stray).contains("case 1 `strayed`, and its `place` or `offset` is missing"));
    }

    /// Jobs with these outcomes, each with this number of runs.
    fn jobs(outcomes: &[Outcome], runs: usize) -> Batch {
        let mut batch = Batch::default();
        let signature = Arc::new(Signature { operator: "COPY".to_owned(), members: Vec::new() });
        let tensor = Tensor::packed(DataType::UINT8, List::from_elem(4, 1));
        let desc = Desc::usual(signature, tensor.clone(), tensor);
        for outcome in outcomes {
            let job = batch.push(&desc, BindingOffsets::default());
            job.outcome = outcome.clone();
            job.runs.extend(vec![Run { input: 0..4, output: 0..4 }; runs]);
        }
        batch
    }

    #[test]
    fn a_stray_write_comes_back_with_its_place() {
        let strayed = |place, offset| Outcome::Strayed(Stray { place, offset });
        let outcomes = [
            strayed(StrayPlace::Input, 0),
            Outcome::Unsupported("no".into()),
            strayed(StrayPlace::Before, 1),
            strayed(StrayPlace::Behind, u64::MAX),
        ];
        let header = serde_json::to_vec(&Results::of(jobs(&outcomes, 1).jobs())).expect("it is JSON");
        let read = Results::read(&header).expect("it is what was written");
        let mut asked = jobs(&[Outcome::Lost, Outcome::Lost, Outcome::Lost, Outcome::Lost], 1);
        assert_eq!(read.apply(&[], asked.parts().0, &mut []), Ok(4));
        let came: Vec<Outcome> = asked.jobs().iter().map(|job| job.outcome.clone()).collect();
        assert_eq!(came, outcomes);
        // A case that did not run has no memory to write outside of.
        let mut asked = jobs(&[Outcome::Lost, Outcome::Lost, Outcome::Lost, Outcome::Lost], 0);
        let said = read.apply(&[], asked.parts().0, &mut []);
        assert_eq!(said, Err("case 0 `strayed`, and was not asked to run".to_owned()));
        assert!(asked.jobs().iter().all(|job| job.outcome == Outcome::Lost));
    }
}
