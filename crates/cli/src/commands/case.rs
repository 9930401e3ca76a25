//! `dmlcts show` and `dmlcts judge`: shows and judges cases without a backend.

use std::io::Write;

use dmlcts_generate::fill;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_report::{CaseMemory, bytes, write_bindings, write_case, write_judgement};
use dmlcts_spec::{Answer, Judgement, Library, Operator, Scratch};

use crate::{
    arguments::CaseArguments,
    colour,
    exit::Exit,
    given::{self, Bindings},
    output,
    problem::Problem,
};

/// A case, with its operator and the spec's judgement.
pub(super) struct Judged {
    pub(super) case: Case,
    pub(super) operator: &'static Operator,
    pub(super) level: FeatureLevel,
    pub(super) judgement: Judgement,
}

/// Whether a heading with a case's line precedes its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    /// For every case.
    Always,
    /// If there are several cases.
    OfSeveral,
}

/// Judges the cases of the arguments in order, and writes a block of text for each. A mistake in any case
/// ends the command before anything is written.
pub(super) fn each_case(
    arguments: &CaseArguments,
    heading: Heading,
    write: impl Fn(&mut dyn Write, &Judged) -> Result<(), Problem>,
) -> Result<Exit, Problem> {
    let cases = given::cases(&arguments.cases, u64::MAX, Bindings::Any)?;
    let is_headed = heading == Heading::Always || cases.len() > 1;
    let level = arguments.feature_level.unwrap_or(FeatureLevel::NEWEST);
    let mut out = output::stdout();
    for (place, case) in cases.into_iter().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        if is_headed {
            writeln!(out, "{case}")?;
        }
        write(&mut out, &judged(case, level)?)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// Judges a case at a feature level.
pub(super) fn judged(case: Case, level: FeatureLevel) -> Result<Judged, Problem> {
    let name = &case.desc.signature.operator;
    let operator = Library::embedded()
        .operator(name)
        .ok_or_else(|| Problem::usage(format!("there is no operator `{name}`"), "see `dmlcts spec list`"))?;
    let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
    Ok(Judged { case, operator, level, judgement })
}

/// The maximum size of a tensor that is filled. Larger tensors are only described.
const MOST_BYTES: u64 = 64 << 20;
/// The reason why an invalid desc has no output.
const INVALID: &str = "no output is expected, since the desc is invalid";

impl Judged {
    /// The reading of the semantics that gives the output: the semantics themselves, or the first reading
    /// that an open question allows. `None` if no output is expected.
    pub(super) fn reading(&self) -> Option<usize> {
        let mut questions = self.judgement.questions.iter();
        let Some(question) = questions.next() else { return self.judgement.violated.is_empty().then_some(0) };
        self.operator.questions().get(question)?.allow.iter().find_map(|answer| match answer {
            Answer::Reading(reading) => Some(*reading),
            Answer::Reject | Answer::Accept => None,
        })
    }

    /// The contents of the tensors, or the reason why they are not shown.
    pub(super) fn memory(&self) -> CaseMemory {
        let input = self.input();
        let output = match &input {
            Ok(input) => self.output(input),
            // The input is not the reason why an invalid desc has no output.
            Err(reason) if self.judgement.violated.is_empty() => Err(reason.clone()),
            Err(_) => Err(INVALID.to_owned()),
        };
        CaseMemory { input, output }
    }

    fn input(&self) -> Result<Vec<u8>, String> {
        let desc = &self.case.desc;
        let input = desc.input.as_ref().ok_or("there is no input")?;
        for tensor in [desc.input.as_ref(), desc.output.as_ref()].into_iter().flatten() {
            if tensor.total_size > MOST_BYTES {
                let (size, most) = (bytes(tensor.total_size), bytes(MOST_BYTES));
                return Err(format!("not shown: a tensor of {size}, and only up to {most} are filled"));
            }
        }
        let mut memory = vec![0; input.total_size as usize];
        fill::write(&self.case.fill, input.data_type, &mut memory);
        Ok(memory)
    }

    fn output(&self, input: &[u8]) -> Result<Vec<u8>, String> {
        let desc = &self.case.desc;
        let mut scratch = Scratch::default();
        let valid = self.operator.judge_valid(desc, self.level, &mut scratch).map_err(|_| INVALID)?;
        let reading = self.reading().ok_or("the page leaves open what it holds")?;
        let output = desc.output.as_ref().ok_or("there is no output")?;
        let mut memory = vec![0; output.total_size as usize];
        let mut plan = self.operator.plan(valid, reading, &mut scratch).map_err(|error| error.to_string())?;
        plan.execute(input, &mut memory).map_err(|error| error.to_string())?;
        Ok(memory)
    }
}

/// Shows the desc member by member, and both tensors.
pub(crate) fn show(arguments: &CaseArguments) -> Result<Exit, Problem> {
    each_case(arguments, Heading::OfSeveral, |mut out, judged| {
        Ok(write_case(&mut out, &judged.case, &judged.memory(), colour::style())?)
    })
}

/// Writes whether the desc is valid, the clauses that it breaks, and the rules of bindings that the case
/// breaks.
pub(crate) fn judge(arguments: &CaseArguments) -> Result<Exit, Problem> {
    each_case(arguments, Heading::OfSeveral, |mut out, judged| {
        let Judged { case, operator, level, judgement } = judged;
        write_judgement(&mut out, operator, &case.desc, *level, judgement, colour::style())?;
        Ok(write_bindings(&mut out, &Library::embedded().broken_bindings(case), colour::style())?)
    })
}
