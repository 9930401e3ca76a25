//! One operator as its spec describes it: members, support, clauses, questions, semantics, errata.

use std::io::{self, Write};

use dmlcts_model::MemberKind;
use dmlcts_spec::Operator;

use crate::{
    Style, Tone,
    behind::{Text, write_answers},
    describe::{one_line, write_remark},
    prose::write_prose,
};

/// Writes every promise of an operator, each with the cited section, and the page if it is not the operator's
/// own.
pub fn write_operator(out: &mut dyn Write, operator: &Operator, style: Style) -> io::Result<()> {
    let head = |text: &str| style.paint(Tone::Strong, text.to_owned());
    writeln!(out, "{}: {}", head(operator.name()), one_line(operator.summary()))?;
    writeln!(out, "introduced in feature level {}; {}", operator.introduced(), address(operator))?;

    let page = operator.page();
    writeln!(out, "\n{}", head("members"))?;
    for member in &operator.signature().members {
        writeln!(out, "  {}: {}", member.name, kind(&member.kind))?;
    }
    writeln!(out, "\n{}", head("support"))?;
    for row in operator.support() {
        let types: Vec<String> = row.types.iter().map(ToString::to_string).collect();
        let (least, most) = (row.dimensions.start(), row.dimensions.end());
        let (types, cite) = (types.join(", "), row.cite.on(page));
        let row = format!("from {}: {least} to {most} dimensions; {types} ({cite})", row.since);
        write_prose(out, style, &row)?;
    }
    for mode in operator.modes().iter().filter(|mode| mode.since > operator.introduced()) {
        writeln!(out, "  from {}: {} ({})", mode.since, mode.name, mode.cite.on(page))?;
    }
    let definitions = operator.scope().definitions();
    if !definitions.is_empty() {
        writeln!(out, "\n{}", head("let"))?;
    }
    for definition in definitions {
        writeln!(out, "  {} = {}", definition.name, definition.expression)?;
    }
    writeln!(out, "\n{}", head("semantics"))?;
    let semantics = operator.semantics();
    for branch in &semantics.branches {
        let name = branch.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        writeln!(out, "  {name}{}", branch.expression)?;
    }
    if let Some(fill) = semantics.fill.and_then(|place| operator.signature().members.get(place)) {
        writeln!(out, "  fill: {}", fill.name)?;
    }
    writeln!(out, "\n{}", head("clauses"))?;
    for clause in operator.clauses() {
        write_prose(out, style, &format!("{}: {} ({})", clause.id, clause.text, clause.cite.on(page)))?;
        for (head, remark) in [("note", &clause.note), ("the page errs", &clause.erratum)] {
            write_remark(out, head, remark.as_deref(), style)?;
        }
    }
    if !operator.questions().is_empty() {
        writeln!(out, "\n{}", head("questions"))?;
    }
    let mut text = Text::new(style);
    for question in operator.questions() {
        let cite = question.cite.on(page);
        write_prose(out, style, &format!("{}: {} ({cite})", question.id, question.text))?;
        write_answers(out, "      ", operator, question, &mut text)?;
        write_remark(out, "note", question.note.as_deref(), style)?;
    }
    if !operator.remarks().is_empty() {
        writeln!(out, "\n{}", head("remarks"))?;
    }
    for remark in operator.remarks() {
        let head = if remark.erratum { "the page errs" } else { "note" };
        let (text, cite) = (one_line(&remark.text), remark.cite.on(page));
        write_prose(out, style, &format!("{}: {head}: {text} ({cite})", remark.id))?;
        if let Some(note) = operator.notes().iter().find(|note| note.id == remark.id) {
            writeln!(out, "      when {}", note.text)?;
        }
    }
    writeln!(out, "\n{}", head("examples"))?;
    for example in operator.examples() {
        writeln!(out, "  {} ({}): {}", example.id, example.cite.on(page), example.case)?;
    }
    Ok(())
}

fn address(operator: &Operator) -> String {
    operator
        .clauses()
        .iter()
        .find(|clause| clause.cite.page == operator.page())
        .map_or_else(|| operator.page().to_owned(), |clause| clause.cite.address())
}

fn kind(kind: &MemberKind) -> String {
    match kind {
        MemberKind::Count => "UINT, the length of the lists".to_owned(),
        MemberKind::U32 => "UINT".to_owned(),
        MemberKind::I32 => "INT".to_owned(),
        MemberKind::U32List => "const UINT*, one value an axis".to_owned(),
        MemberKind::I32List => "const INT*, one value an axis".to_owned(),
        MemberKind::DataType => "DML_TENSOR_DATA_TYPE".to_owned(),
        MemberKind::Scalar => "DML_SCALAR_UNION".to_owned(),
        MemberKind::Enumeration(enumeration) => {
            let names: Vec<&str> =
                enumeration.enumerators.iter().map(|enumerator| enumerator.name.as_str()).collect();
            format!("{} ({})", enumeration.name, names.join(", "))
        }
    }
}
