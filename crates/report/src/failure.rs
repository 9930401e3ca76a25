//! A failure in full: the case, the expectation and the outcome, the clauses in play, both tensors with the
//! wrong elements marked, and the command that runs the case again.

use std::io::{self, Write};

use dmlcts_model::{Allowed, Expectation, List, Mismatch, Outcome, Tensor, element_to_text, printable};
use dmlcts_runner::{Class, Evidence, Failure, Reads, RunKind, WrongElement, origins, reads};
use dmlcts_spec::{IdSet, Operator, Origin, program::Mask};

use crate::{
    Layout, Replay, Style, Tone,
    behind::{JudgedDesc, Text, write_answers, write_definitions},
    brackets,
    flake::{is_by_chance, needs_others, shows_alone, write_tried},
    numbers::{folded, grouped},
    prose::{INDENT, write_prose},
};

/// The maximum number of wrong elements that are explained one by one.
pub(crate) const EXPLAINED: usize = 6;
/// The maximum length of a backend's text in a report.
const LONGEST: usize = 1000;
/// The indentation of lines that belong to a clause or a question.
const BELOW: &str = "      ";

/// Writes one failure in full, indented: the command that runs its case again, or the case if it needs others
/// to fail, and what came out, as a part of a text.
pub(crate) fn write_failure(
    out: &mut dyn Write,
    failure: &Failure,
    replay: &Replay,
    text: &mut Text,
) -> io::Result<()> {
    let (case, style) = (&failure.case, text.style);
    if shows_alone(failure) {
        writeln!(out, "{INDENT}{}", replay.run(case))?;
    } else {
        writeln!(out, "{INDENT}{case}")?;
    }
    let short = if names_its_class(failure) { in_short(failure) } else { in_short_with_class(failure) };
    write_prose(out, style, &short)?;
    if let Some(rate) = failure.rate.filter(|_| is_by_chance(failure)) {
        let among = match failure.alive {
            0 | 1 => String::new(),
            alive => format!(", with {alive} operators alive when it was found"),
        };
        if let Some(tried) = &failure.tried {
            write_prose(out, style, &format!("it {rate}{among}"))?;
            write_tried(out, failure, tried, replay, style)?;
        } else {
            let why = "other operators before or beside it matter, or chance does";
            write_prose(out, style, &format!("it {rate}{among}, and passed alone: {why}"))?;
        }
    } else if let Some(tried) = &failure.tried {
        write_prose(out, style, "it fails in a backend that ran other cases, and passes in a fresh one")?;
        write_tried(out, failure, tried, replay, style)?;
    }
    write_clauses(out, failure, text)?;
    if let Some(evidence) = &failure.evidence {
        write_evidence(out, failure, evidence, style)?;
    }
    Ok(())
}

/// The expectation, the backend's outcome, and the class as lists of known failures and `--allow` spell it.
pub(crate) fn in_short_with_class(failure: &Failure) -> String {
    format!("{} ({})", in_short(failure), failure.class.id())
}

fn in_short(failure: &Failure) -> String {
    format!("expected {}; the backend {}", expected(failure), did(failure))
}

/// Whether the line of a wrong element names the failure's class.
fn names_its_class(failure: &Failure) -> bool {
    let has_tensors = failure.case.desc.input.is_some() && failure.case.desc.output.is_some();
    let shown =
        failure.evidence.iter().flat_map(|evidence| evidence.differences.first.iter().take(EXPLAINED));
    has_tensors && shown.into_iter().any(|wrong| Class::Output(wrong.difference) == failure.class)
}

pub(crate) fn expected(failure: &Failure) -> String {
    match &failure.expectation {
        Expectation::Output => "an output".to_owned(),
        Expectation::Accept => "to be accepted".to_owned(),
        Expectation::Reject => "to be refused as invalid".to_owned(),
        Expectation::Open(allowed) => {
            let allowed: Vec<String> = allowed
                .iter()
                .map(|outcome| match outcome {
                    Allowed::Reject => "to be refused as invalid".to_owned(),
                    Allowed::Accept => "any output".to_owned(),
                    Allowed::Output(0) => "the output of the semantics".to_owned(),
                    Allowed::Output(reading) => format!("the output of reading {reading}"),
                })
                .collect();
            allowed.join(" or ")
        }
    }
}

pub(crate) fn did(failure: &Failure) -> String {
    let because = |reason: &str| match &*printable(reason, LONGEST) {
        "" => String::new(),
        reason => format!(": {}", folded(reason)),
    };
    match &failure.outcome {
        Outcome::Output => match failure.class {
            Class::Remembered => "gave it, but not when the operator ran again on other data".to_owned(),
            Class::AcceptedInvalid => "accepted it".to_owned(),
            _ if is_by_chance(failure) => "gave another one, once".to_owned(),
            _ => "gave another one".to_owned(),
        },
        Outcome::Accepted => "accepted it".to_owned(),
        Outcome::Rejected { phase, code, reason } => {
            format!("refused it ({phase}, {code}){}", because(reason))
        }
        Outcome::Unsupported(reason) => format!("called it unsupported{}", because(reason)),
        Outcome::Failed { phase, reason } => format!("failed ({phase}){}", because(reason)),
        Outcome::Mismatched { what: Mismatch::Shape, reason } => {
            format!("gave a result of other sizes{}", because(reason))
        }
        Outcome::Mismatched { what: Mismatch::Type, reason } => {
            format!("gave a result of another data type{}", because(reason))
        }
        Outcome::Strayed(stray) => stray.to_string(),
        Outcome::Crashed(reason) => format!("crashed{}", because(reason)),
        Outcome::TimedOut => "did not answer in time".to_owned(),
        Outcome::Lost => "gave no answer".to_owned(),
    }
}

/// Names the clauses in play. For an invalid desc: the broken clauses with their text. For a valid desc: the
/// clauses that it meets exactly, and the other clauses of its operator.
pub(crate) fn write_clauses(out: &mut dyn Write, failure: &Failure, text: &mut Text) -> io::Result<()> {
    let (Failure { operator, judgement, level, .. }, style) = (failure, text.style);
    let judged = JudgedDesc { operator, desc: &failure.case.desc, level: *level };
    for clause in judgement.violated.items(operator.clauses()) {
        let cite = clause.cite.on(operator.page());
        write_prose(out, style, &format!("breaks {}: {} ({cite})", clause.id, clause.text))?;
        write_definitions(out, BELOW, operator, &[&clause.expression], text)?;
        judged.write_values(out, BELOW, (&clause.expression, &clause.term), Mask::falsehood, style)?;
    }
    for question in judgement.questions.items(operator.questions()) {
        let cite = question.cite.on(operator.page());
        write_prose(out, style, &format!("open by {}: {} ({cite})", question.id, question.text))?;
        write_answers(out, BELOW, operator, question, text)?;
    }
    if !judgement.violated.is_empty() {
        return Ok(());
    }
    let own: IdSet = (0..operator.clauses().len())
        .filter(|&place| operator.clauses()[place].origin == Origin::Operator)
        .collect();
    let exact = judgement.boundary.intersection(own);
    let kept = judgement.satisfied.intersection(own).without(exact);
    for (relation, places) in [("meets exactly", exact), ("keeps", kept)] {
        if !places.is_empty() {
            let line = style.paint(Tone::Faint, format!("{relation}: {}", names(operator, places)));
            write_prose(out, style, &line.to_string())?;
        }
    }
    Ok(())
}

/// The ids of the clauses at these places.
pub(crate) fn names(operator: &Operator, places: IdSet) -> String {
    let names: Vec<&str> = places.items(operator.clauses()).map(|clause| clause.id.as_str()).collect();
    names.join(", ")
}

fn write_evidence(
    out: &mut dyn Write,
    failure: &Failure,
    evidence: &Evidence,
    style: Style,
) -> io::Result<()> {
    let (Some(input), Some(output)) = (&failure.case.desc.input, &failure.case.desc.output) else {
        return Ok(());
    };
    let differences = &evidence.differences;
    match evidence.run {
        RunKind::First => {}
        RunKind::OtherPoison => {
            write_prose(out, style, "seen in a second run, over memory that held something else before")?;
        }
        RunKind::OtherData => {
            let text =
                "seen in a second run, on other data than the case's fill (`--runs once` leaves it out)";
            write_prose(out, style, text)?;
        }
    }
    let marked: Vec<List> = differences.first.iter().map(|wrong| wrong.coordinates.clone()).collect();
    let source = differences.first.first().map(|wrong| source(failure, wrong));
    let (source, focus) = (source.as_deref(), marked.first().map(List::as_slice));
    let write = |out: &mut dyn Write, name, remark, tensor, memory, marked, focus| {
        Layout { name, remark, tensor, memory, marked, focus }.write(out, INDENT, style)
    };
    // If other cases cause the failure, its own tensors do not explain it.
    if needs_others(failure).is_none() {
        write(out, "InputTensor", "", input, &evidence.input, &[], source)?;
        write(out, "OutputTensor", "expected", output, &evidence.expected, &marked, focus)?;
        write(out, "OutputTensor", "actual", output, &evidence.actual, &marked, focus)?;
    }
    for wrong in differences.first.iter().take(EXPLAINED) {
        write_prose(out, style, &wrong_element(failure, output, wrong))?;
    }
    let more = differences.wrong().saturating_sub(EXPLAINED as u64);
    if more > 0 {
        let elements = grouped(differences.elements);
        writeln!(out, "{INDENT}and {} more of {elements} elements differ", grouped(more))?;
    }
    Ok(())
}

/// The element of the input around which a large input is shown: what belongs into a wrong element, otherwise
/// what it holds, otherwise the first element.
pub(crate) fn source(failure: &Failure, wrong: &WrongElement) -> List {
    match reads(failure, &wrong.coordinates) {
        Some(Reads::Input(source)) => source,
        _ => origins(failure, wrong).into_iter().next().unwrap_or_default(),
    }
}

/// The source of an element that should be in the place of a wrong one, before its value.
pub(crate) fn source_text(source: Option<&Reads>) -> String {
    match source {
        Some(Reads::Input(source)) => format!("Input{} = ", brackets(source)),
        Some(Reads::Member(name)) => format!("{name} = "),
        None => String::new(),
    }
}

/// The elements of the input at these coordinates.
pub(crate) fn element_names(coordinates: &[List]) -> String {
    let names: Vec<String> = coordinates.iter().map(|one| format!("Input{}", brackets(one))).collect();
    names.join(" or ")
}

/// A wrong element, what it should be, and which elements of the input it equals.
fn wrong_element(failure: &Failure, output: &Tensor, wrong: &WrongElement) -> String {
    let size = output.data_type.element_size().unwrap_or(8);
    let text = |bits: u64| element_to_text(output.data_type, &bits.to_le_bytes()[..size]);
    let expected = source_text(reads(failure, &wrong.coordinates).as_ref());
    let from = element_names(&origins(failure, wrong));
    let is_from = if from.is_empty() { from } else { format!("; {} is {from}", text(wrong.actual)) };
    format!(
        "Output{} = {}, expected {expected}{} ({}){is_from}",
        brackets(&wrong.coordinates),
        text(wrong.actual),
        text(wrong.expected),
        wrong.difference,
    )
}
