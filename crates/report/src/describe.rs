//! Describes one case without a backend: its desc member by member, the spec's judgement, and the source of
//! each output element.

use std::io::{self, Write};

use dmlcts_model::{
    Case, Desc, FeatureLevel, List, Member, MemberKind, Offsets, Side, Tensor, Value, coordinates_of,
    element_count, element_to_text,
};
use dmlcts_spec::{
    BindingRule, Citation, Clause, IdSet, Judgement, Operator, Origin, Question, Validity, program::Mask,
};

use crate::{
    Layout, Style, Tone,
    behind::{JudgedDesc, Text, write_answers, write_definitions},
    braces, brackets,
    failure::names,
    heading,
    numbers::grouped,
    prose::write_prose,
};

/// The maximum number of elements that are derived one by one.
const DERIVED: usize = 64;
/// The indentation of lines that belong to a clause or a question.
const BELOW: &str = "      ";

/// A case's memory: the bytes of its input, and the bytes that the spec demands of its output.
#[derive(Clone, Debug)]
pub struct CaseMemory {
    /// The bytes of `InputTensor`, or the reason why they are not shown.
    pub input: Result<Vec<u8>, String>,
    /// The bytes of `OutputTensor`, or the reason why they are not shown.
    pub output: Result<Vec<u8>, String>,
}

/// Writes the desc member by member, and the tensors.
pub fn write_case(out: &mut dyn Write, case: &Case, memory: &CaseMemory, style: Style) -> io::Result<()> {
    let desc = &case.desc;
    writeln!(out, "{}\n", style.paint(Tone::Strong, &desc.signature.operator))?;
    let longest = desc.signature.members.iter().map(|member| member.name.len()).max().unwrap_or(0);
    for (member, value) in desc.signature.members.iter().zip(&desc.members) {
        writeln!(out, "{:<longest$} = {}", member.name, value_text(desc, member, value))?;
    }
    for (side, offset) in Side::BOTH.into_iter().zip([case.binding.input, case.binding.output]) {
        writeln!(out)?;
        write_tensor_fields(out, desc, side, offset)?;
        let held = match side {
            Side::Input => &memory.input,
            Side::Output => &memory.output,
        };
        write_tensor(out, desc, side, held, style)?;
    }
    Ok(())
}

/// Writes one of a desc's tensors, or the reason why its elements are not shown.
pub fn write_tensor(
    out: &mut dyn Write,
    desc: &Desc,
    side: Side,
    held: &Result<Vec<u8>, String>,
    style: Style,
) -> io::Result<()> {
    let name = side.member_name();
    match (desc.tensor(side), held) {
        (Some(tensor), Ok(memory)) => {
            Layout { name, remark: "", tensor, memory, marked: &[], focus: None }.write(out, "", style)
        }
        (Some(tensor), Err(reason)) => writeln!(out, "{}\n({reason})", heading(name, tensor)),
        (None, _) => writeln!(out, "{name}: null"),
    }
}

/// The fields of a tensor desc that its first line does not show.
fn write_tensor_fields(out: &mut dyn Write, desc: &Desc, side: Side, offset: u64) -> io::Result<()> {
    let Some(tensor) = desc.tensor(side) else { return Ok(()) };
    writeln!(
        out,
        "{} has DimensionCount {}, Flags {}, TotalTensorSizeInBytes {}, GuaranteedBaseOffsetAlignment {}, and is \
         bound at offset {offset}",
        side.member_name(),
        tensor.dimension_count,
        tensor.flags,
        tensor.total_size,
        tensor.alignment,
    )
}

/// A member's value, in the words of the header.
fn value_text(desc: &Desc, member: &Member, value: &Value) -> String {
    match (value, &member.kind) {
        (Value::Integer(value), MemberKind::Enumeration(enumeration)) => match enumeration.name_of(*value) {
            Some(name) => format!("{}_{name}", enumeration.name),
            None => format!("{value} (no {})", enumeration.name),
        },
        (Value::Integer(value), MemberKind::DataType) => u32::try_from(*value)
            .map_or_else(|_| value.to_string(), |code| dmlcts_model::DataType(code).to_string()),
        (Value::Integer(value), _) => value.to_string(),
        (Value::List(None), _) => "null".to_owned(),
        (Value::List(Some(list)), _) => braces(list),
        (Value::Scalar(bytes), _) => {
            let data_type = desc.input.as_ref().map(|input| input.data_type);
            let number = data_type
                .and_then(|data_type| Some((data_type, bytes.get(..data_type.element_size()?)?)))
                .map(|(data_type, bytes)| element_to_text(data_type, bytes));
            let bits = format!("{:#018x}", u64::from_le_bytes(*bytes));
            number.map_or(bits.clone(), |number| format!("{number} ({bits})"))
        }
    }
}

/// Writes whether a desc is valid at a level, and the clauses that it breaks.
pub fn write_judgement(
    out: &mut dyn Write,
    operator: &Operator,
    desc: &Desc,
    level: FeatureLevel,
    judgement: &Judgement,
    style: Style,
) -> io::Result<()> {
    let judged = JudgedDesc { operator, desc, level };
    let text = &mut Text::new(style);
    match judgement.validity() {
        Validity::Valid => {
            writeln!(out, "{} at feature level {level}", style.paint(Tone::Good, "valid"))
        }
        Validity::Invalid => {
            writeln!(out, "{} at feature level {level}", style.paint(Tone::Bad, "invalid"))?;
            let broken = || judgement.violated.items(operator.clauses());
            for clause in broken() {
                write_clause(out, "breaks", operator, clause, text)?;
                let of = (&clause.expression, &clause.term);
                judged.write_values(out, BELOW, of, Mask::falsehood, style)?;
            }
            write_pages(out, broken().map(|clause| &clause.cite))
        }
        Validity::Open => {
            writeln!(out, "{} at feature level {level}", style.paint(Tone::Note, "open"))?;
            let open = || judgement.questions.items(operator.questions());
            for question in open() {
                write_question(out, operator, question, text)?;
                let of = (&question.expression, &question.term);
                judged.write_values(out, BELOW, of, |mask| mask.truth, style)?;
            }
            write_pages(out, open().map(|question| &question.cite))
        }
    }
}

/// Writes the rules of bindings that a case breaks. The judgement of its desc says nothing of them.
pub fn write_bindings(out: &mut dyn Write, broken: &[&BindingRule], style: Style) -> io::Result<()> {
    for rule in broken {
        let head = style.paint(Tone::Bad, "not run");
        let text = format!("{head}: a binding breaks {}: {} ({})", rule.id, rule.text, rule.cite.on(""));
        writeln!(out, "{}", style.wrap(2, &text))?;
        write_remark(out, "note", rule.note.as_deref(), style)?;
    }
    write_pages(out, broken.iter().map(|rule| &rule.cite))
}

fn write_clause(
    out: &mut dyn Write,
    head: &str,
    operator: &Operator,
    clause: &Clause,
    text: &mut Text,
) -> io::Result<()> {
    let cite = clause.cite.on(operator.page());
    write_prose(out, text.style, &format!("{head} {}: {} ({cite})", clause.id, clause.text))?;
    write_definitions(out, BELOW, operator, &[&clause.expression], text)?;
    for (head, remark) in [("note", &clause.note), ("the page errs", &clause.erratum)] {
        write_remark(out, head, remark.as_deref(), text.style)?;
    }
    Ok(())
}

/// Writes a remark of the spec, if there is one.
pub(crate) fn write_remark(
    out: &mut dyn Write,
    head: &str,
    remark: Option<&str>,
    style: Style,
) -> io::Result<()> {
    let Some(remark) = remark else { return Ok(()) };
    writeln!(out, "{}", style.wrap(BELOW.len() + 2, &format!("{BELOW}{head}: {}", one_line(remark))))
}

fn write_question(
    out: &mut dyn Write,
    operator: &Operator,
    question: &Question,
    text: &mut Text,
) -> io::Result<()> {
    let cite = question.cite.on(operator.page());
    write_prose(out, text.style, &format!("open by {}: {} ({cite})", question.id, question.text))?;
    write_answers(out, BELOW, operator, question, text)?;
    write_remark(out, "note", question.note.as_deref(), text.style)
}

/// Writes the addresses of the cited pages, each once.
fn write_pages<'a>(out: &mut dyn Write, citations: impl Iterator<Item = &'a Citation>) -> io::Result<()> {
    let mut pages: Vec<String> = Vec::new();
    for address in citations.map(Citation::address) {
        if !pages.contains(&address) {
            pages.push(address);
        }
    }
    pages.iter().try_for_each(|page| writeln!(out, "  see {page}"))
}

/// Joins a text of several lines into one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes the clauses that the desc keeps, beginning with those that it meets exactly, and the names of the
/// clauses that were not judged. For clauses that every operator has for its tensors and lists, only names
/// are written: nearly every desc keeps them.
pub fn write_every_clause(
    out: &mut dyn Write,
    operator: &Operator,
    judgement: &Judgement,
    style: Style,
) -> io::Result<()> {
    let text = &mut Text::new(style);
    let all: IdSet = (0..operator.clauses().len()).collect();
    let own: IdSet =
        all.iter().filter(|&place| operator.clauses()[place].origin == Origin::Operator).collect();
    let exact = judgement.boundary.without(judgement.violated);
    let kept = judgement.satisfied.without(exact);
    writeln!(out)?;
    for (head, places) in [("meets exactly", exact), ("keeps", kept)] {
        places
            .intersection(own)
            .items(operator.clauses())
            .try_for_each(|clause| write_clause(out, head, operator, clause, text))?;
    }
    let unjudged = all.without(judgement.satisfied).without(judgement.violated);
    for (head, places) in [
        ("of the common clauses, meets exactly", exact.without(own)),
        ("of the common clauses, keeps", kept.without(own)),
        ("not judged, since what they build on is broken or absent", unjudged),
    ] {
        if !places.is_empty() {
            write_prose(out, style, &format!("{head}: {}", names(operator, places)))?;
        }
    }
    write_pages(out, judgement.satisfied.items(operator.clauses()).map(|clause| &clause.cite))
}

/// Writes the source of each output element: `Output[0,0,1,0] = Input[0,0,1,1] = 6`. `source` returns the
/// input coordinates that an output element reads, or `None` if the element is `fill`.
pub fn write_derivation(
    out: &mut dyn Write,
    output: &Tensor,
    memory: Option<&[u8]>,
    fill: &str,
    mut source: impl FnMut(&[i64]) -> Option<List>,
) -> io::Result<()> {
    let (Some(sizes), Some(size)) = (&output.sizes, output.data_type.element_size()) else { return Ok(()) };
    let count = element_count(sizes);
    for (index, offset) in Offsets::new(sizes, output.strides.as_deref()).take(DERIVED).enumerate() {
        let coordinates = coordinates_of(index as u64, sizes);
        let from =
            source(&coordinates).map_or_else(|| fill.to_owned(), |from| format!("Input{}", brackets(&from)));
        write!(out, "Output{} = {from}", brackets(&coordinates))?;
        let start = usize::try_from(offset).ok().and_then(|offset| offset.checked_mul(size));
        let bytes = start.zip(memory).and_then(|(start, memory)| memory.get(start..start.checked_add(size)?));
        match bytes {
            Some(bytes) => writeln!(out, " = {}", element_to_text(output.data_type, bytes))?,
            None => writeln!(out)?,
        }
    }
    if count > DERIVED as u128 {
        let more = u64::try_from(count - DERIVED as u128).unwrap_or(u64::MAX);
        writeln!(out, "... and {} more elements", grouped(more))?;
    }
    Ok(())
}
