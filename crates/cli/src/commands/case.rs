//! `dmlcts show` and `dmlcts judge`: one case, looked at without a backend.

use std::io::Write;

use dmlcts_generate::fill;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_report::{CaseMemory, write_case, write_judgement};
use dmlcts_spec::{Answer, Judgement, Library, Operator, Scratch};

use crate::{arguments::CaseArguments, exit::Exit, output, problem::Problem, selection::parse_case};

/// A case, with its operator and what the spec says of it.
pub(super) struct Judged {
    pub(super) case: Case,
    pub(super) operator: &'static Operator,
    pub(super) level: FeatureLevel,
    pub(super) judgement: Judgement,
}

/// Reads and judges the case of the arguments.
pub(super) fn judged(arguments: &CaseArguments) -> Result<Judged, Problem> {
    let case = parse_case(&arguments.case)?;
    let name = &case.desc.signature.operator;
    let operator = Library::embedded()
        .operator(name)
        .ok_or_else(|| Problem::usage(format!("there is no operator `{name}`"), "see `dmlcts spec list`"))?;
    let level = arguments.feature_level.unwrap_or(FeatureLevel::NEWEST);
    let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
    Ok(Judged { case, operator, level, judgement })
}

/// Larger tensors are described, and not filled.
const MOST_BYTES: u64 = 64 << 20;

impl Judged {
    /// The reading of the semantics that says what the output holds: the semantics themselves, or the first that
    /// an open question allows. `None` where no output is expected.
    pub(super) fn reading(&self) -> Option<usize> {
        let mut questions = self.judgement.questions.iter();
        let Some(question) = questions.next() else { return self.judgement.violated.is_empty().then_some(0) };
        self.operator.questions().get(question)?.allow.iter().find_map(|answer| match answer {
            Answer::Reading(reading) => Some(*reading),
            Answer::Reject | Answer::Accept => None,
        })
    }

    /// What the tensors hold. `None` where that makes no sense, or would be too much.
    pub(super) fn memory(&self) -> Option<CaseMemory> {
        let desc = &self.case.desc;
        let (input, output) = (desc.input.as_ref()?, desc.output.as_ref()?);
        if input.total_size.max(output.total_size) > MOST_BYTES {
            return None;
        }
        let mut memory = CaseMemory { input: vec![0; input.total_size as usize], output: None };
        fill::write(&self.case.fill, input.data_type, &mut memory.input);
        let mut scratch = Scratch::default();
        memory.output = self.operator.judge_valid(desc, self.level, &mut scratch).and_then(|valid| {
            let mut bytes = vec![0; output.total_size as usize];
            let mut plan = self.operator.plan(valid, self.reading()?, &mut scratch).ok()?;
            plan.execute(&memory.input, &mut bytes).ok()?;
            Some(bytes)
        });
        Some(memory)
    }
}

/// Shows the desc member by member, and both tensors.
pub(crate) fn show(arguments: &CaseArguments) -> Result<Exit, Problem> {
    let judged = judged(arguments)?;
    let mut out = output::stdout();
    write_case(&mut out, &judged.case, judged.memory().as_ref(), output::palette())?;
    out.flush()?;
    Ok(Exit::Success)
}

/// Says whether the desc is valid, and by which clauses it is not.
pub(crate) fn judge(arguments: &CaseArguments) -> Result<Exit, Problem> {
    let Judged { operator, level, judgement, .. } = judged(arguments)?;
    let mut out = output::stdout();
    write_judgement(&mut out, operator, level, &judgement, output::palette())?;
    out.flush()?;
    Ok(Exit::Success)
}
