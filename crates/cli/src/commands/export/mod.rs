//! `dmlcts export`: a short program that shows one case, for a reader without dmlcts.
//!
//! [`ValidCase`] holds what every program needs. Each format has a file with a template beside it. A
//! program has a place for the implementation under test. Until a reader fills it in, the program computes
//! the output in its own language, and compares it with the oracle's bytes. So a program as printed checks
//! the oracle.

mod c;
mod data;
mod javascript;
mod numpy;
mod onnx;
mod operation;
mod rust;
mod template;

use std::io::Write as _;

use dmlcts_model::{FeatureLevel, Tensor};
use dmlcts_report::{CaseMemory, Replay, Style, grouped, write_case, write_judgement};
use dmlcts_spec::Validity;

use self::operation::Operation;
use super::case::{Judged, judged};
use crate::{
    arguments::{ExportArguments, ExportFormat},
    exit::Exit,
    given::{self, Bindings},
    output,
    problem::Problem,
};

/// The maximum size of each tensor. A program holds every byte as text, which is about six times as long.
const MOST_BYTES: u64 = 64 << 10;

/// A valid case, with the bytes of its tensors.
struct ValidCase {
    /// The comment at the start of each program: the case and the page, line by line.
    about: Vec<String>,
    operation: Operation,
    input: Data,
    output: Data,
}

/// A tensor of a valid case, and its memory.
struct Data {
    tensor: Tensor,
    memory: Vec<u8>,
}

/// Prints the program.
pub(crate) fn export(arguments: &ExportArguments) -> Result<Exit, Problem> {
    let cases = given::cases(&arguments.cases, 2, Bindings::Kept)?;
    let Ok([case]) = <[_; 1]>::try_from(cases) else {
        return Err(Problem::usage(
            "a program shows one case, and there are several",
            "give one case; with `-`, standard input holds one line",
        ));
    };
    let judged = judged(case, arguments.feature_level.unwrap_or(FeatureLevel::NEWEST))?;
    let program = match judged.judgement.validity() {
        Validity::Valid => of_valid(&valid(&judged)?, arguments.format)?,
        Validity::Invalid => of_invalid(&about_invalid(&judged)?, arguments.format)?,
        Validity::Open => return Err(open(&judged)),
    };
    output::write(|out| out.write_all(program.as_bytes()))?;
    Ok(Exit::Success)
}

fn of_valid(case: &ValidCase, format: ExportFormat) -> Result<String, Problem> {
    Ok(match format {
        ExportFormat::Numpy => numpy::program(case),
        ExportFormat::Onnx => onnx::program(case).map_err(|reason| {
            Problem::usage(
                format!("ONNX cannot express this case: {reason}"),
                "write `--as numpy`, `--as rust`, `--as c` or `--as javascript`",
            )
        })?,
        ExportFormat::Rust => rust::program(case),
        ExportFormat::C => c::program(case),
        ExportFormat::Javascript => javascript::program(case),
    })
}

/// The program of an invalid case, which has no output: its desc must be refused. `about` is the comment at
/// the start of the program: the case, its broken clauses, and its desc.
fn of_invalid(about: &[String], format: ExportFormat) -> Result<String, Problem> {
    match format {
        ExportFormat::Rust => Ok(rust::refusal(about)),
        ExportFormat::C => Ok(c::refusal(about)),
        ExportFormat::Numpy | ExportFormat::Onnx | ExportFormat::Javascript => Err(Problem::usage(
            "the desc is invalid: it has no output, and NumPy, ONNX and JavaScript have no desc to refuse",
            "write `--as rust` or `--as c`: their programs ask whether the desc is refused",
        )),
    }
}

/// The command that shows more of a case.
fn explain(judged: &Judged) -> String {
    Replay::explain(&judged.case, judged.level)
}

fn open(judged: &Judged) -> Problem {
    let questions = judged.judgement.questions.items(judged.operator.questions());
    let ids: Vec<&str> = questions.map(|question| question.id.as_str()).collect();
    Problem::usage(
        format!("the pages leave this case open ({}), so that no single answer is expected", ids.join(", ")),
        format!(
            "see the allowed answers with {}, and export a case that raises no question",
            explain(judged)
        ),
    )
}

fn valid(judged: &Judged) -> Result<ValidCase, Problem> {
    let desc = &judged.case.desc;
    let not_shown = |reason: &str| {
        Problem::usage(
            format!("the case has no output to compare: {reason}"),
            format!("see {}", explain(judged)),
        )
    };
    let (Some(input), Some(output)) = (&desc.input, &desc.output) else {
        return Err(not_shown("a tensor is null"));
    };
    if let Some(large) = [input, output].into_iter().find(|tensor| tensor.total_size > MOST_BYTES) {
        return Err(Problem::usage(
            format!(
                "a tensor of the case has {} bytes, and a program holds tensors of up to {}",
                grouped(large.total_size),
                grouped(MOST_BYTES)
            ),
            "export a smaller case that fails in the same way: `dmlcts run --suite` shrinks the failures that it \
             finds",
        ));
    }
    let operation = Operation::of(desc).ok_or_else(|| {
        Problem::usage(
            format!("programs know no operator `{}`", judged.operator.name()),
            format!("see {}", explain(judged)),
        )
    })?;
    let (input_memory, output_memory) = match judged.memory() {
        CaseMemory { input: Ok(input), output: Ok(output) } => (input, output),
        CaseMemory { input: Err(reason), .. } | CaseMemory { output: Err(reason), .. } => {
            return Err(not_shown(&reason));
        }
    };
    Ok(ValidCase {
        about: about_valid(judged),
        operation,
        input: Data { tensor: input.clone(), memory: input_memory },
        output: Data { tensor: output.clone(), memory: output_memory },
    })
}

fn about_valid(judged: &Judged) -> Vec<String> {
    let semantics = judged.operator.semantics();
    let mut about = vec![
        format!("One case of dmlcts for DML_{}_OPERATOR_DESC.", judged.operator.name()),
        format!("case: {}", judged.case),
        format!("page: {}", semantics.cite.address()),
    ];
    let binding = judged.case.binding;
    if (binding.input, binding.output) != (0, 0) {
        about.push(format!(
            "In their buffers, the input starts at byte {} and the output at byte {}.",
            binding.input, binding.output
        ));
    }
    about
}

/// The comment of an invalid case. It takes its words from the reports.
fn about_invalid(judged: &Judged) -> Result<Vec<String>, Problem> {
    let Judged { case, operator, level, judgement } = judged;
    let mut text = Vec::new();
    writeln!(
        text,
        "One case of dmlcts for DML_{}_OPERATOR_DESC. Its desc must be refused.",
        operator.name()
    )?;
    writeln!(text, "case: {case}\n")?;
    write_judgement(&mut text, operator, &case.desc, *level, judgement, Style::PLAIN)?;
    writeln!(text)?;
    let reason = "an invalid desc has no elements to read or write";
    let memory = CaseMemory { input: Err(reason.to_owned()), output: Err(reason.to_owned()) };
    write_case(&mut text, case, &memory, Style::PLAIN)?;
    Ok(String::from_utf8_lossy(&text).lines().map(|line| line.trim_end().to_owned()).collect())
}
