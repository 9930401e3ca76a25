//! Explains a clause or a question: the definitions that it uses, the allowed answers, and, for a desc, the
//! axes that decide it with their values.
//!
//! A clause reads `OutputTensor.Sizes <= reachable`. A reader whose desc breaks it needs the definition of
//! `reachable` and its value.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::Arc,
};

use dmlcts_model::{DataType, Desc, FeatureLevel, List, Side, Value};
use dmlcts_spec::{
    Answer, Operator, Question,
    expression::{Definition, Expression, Position, Term, TermKind, Type, parse},
    program::{Builder, Inputs, Mask, OpId, Values},
};

use crate::{Style, braces};

/// The maximum number of axes that are shown with their values.
const MOST_AXES: usize = 2;

/// The definitions that expressions use, directly or through other definitions, in the order of the spec.
pub(crate) fn definitions<'a>(
    operator: &'a Operator,
    expressions: &[&'a Expression],
) -> Vec<&'a Arc<Definition>> {
    let mut names: Vec<&str> = expressions.iter().flat_map(|expression| expression.names()).collect();
    let mut used = Vec::new();
    // A definition uses only definitions above it.
    for definition in operator.scope().definitions().iter().rev() {
        if names.contains(&definition.name.as_str()) {
            names.extend(definition.expression.names());
            used.push(definition);
        }
    }
    used.reverse();
    used
}

/// How a text looks, and the definitions that it has: it gives each of them once.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) style: Style,
    /// The names of definitions, each with its operator.
    given: BTreeSet<(String, String)>,
}

impl Text {
    /// A text without definitions.
    pub(crate) fn new(style: Style) -> Self {
        Self { style, given: BTreeSet::new() }
    }
}

/// The lines that a function writes.
pub(crate) fn written_lines(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Vec<String> {
    let mut out = Vec::new();
    // Memory takes everything.
    let _ = write(&mut out);
    String::from_utf8_lossy(&out).lines().map(str::to_owned).collect()
}

/// Writes the definitions of the names in an expression that are neither members nor fields, unless they were
/// given before.
pub(crate) fn write_definitions(
    out: &mut dyn Write,
    indent: &str,
    operator: &Operator,
    expressions: &[&Expression],
    text: &mut Text,
) -> io::Result<()> {
    for definition in definitions(operator, expressions) {
        if text.given.insert((operator.name().to_owned(), definition.name.clone())) {
            let line = format!("{indent}where {} = {}", definition.name, definition.expression);
            writeln!(out, "{}", text.style.wrap(indent.len() + 2, &line))?;
        }
    }
    Ok(())
}

/// Writes the allowed answers to a question, and the definitions that the question and its readings use.
pub(crate) fn write_answers(
    out: &mut dyn Write,
    indent: &str,
    operator: &Operator,
    question: &Question,
    text: &mut Text,
) -> io::Result<()> {
    let answers: Vec<String> = question.allow.iter().map(|answer| answer_text(operator, *answer)).collect();
    let allowed = format!("{indent}allowed: {}", answers.join("; "));
    writeln!(out, "{}", text.style.wrap(indent.len() + 2, &allowed))?;
    let readings = question.allow.iter().filter_map(|answer| match answer {
        Answer::Reading(reading) => operator.readings().get(reading.checked_sub(1)?),
        Answer::Reject | Answer::Accept => None,
    });
    let expressions: Vec<&Expression> =
        [&question.expression].into_iter().chain(readings.map(|reading| &reading.expression)).collect();
    write_definitions(out, indent, operator, &expressions, text)
}

fn answer_text(operator: &Operator, answer: Answer) -> String {
    match answer {
        Answer::Reject => "refused as invalid".to_owned(),
        Answer::Accept => "accepted, with any output".to_owned(),
        Answer::Reading(0) => "the output of the semantics".to_owned(),
        Answer::Reading(reading) => operator.readings().get(reading - 1).map_or_else(
            || "another reading".to_owned(),
            |alternative| format!("reads {}", alternative.expression),
        ),
    }
}

/// The operator, the desc and the feature level of a judgement.
pub(crate) struct JudgedDesc<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) desc: &'a Desc,
    pub(crate) level: FeatureLevel,
}

/// A name in a condition that stands for a number, and the operation that computes its value.
struct Named<'a> {
    name: &'a str,
    value_type: Type,
    per_axis: bool,
    id: OpId,
}

impl JudgedDesc<'_> {
    /// Writes the values of a condition's names. A condition on the whole desc has one value for each name.
    /// Otherwise there is a value for each axis that `is_wanted` selects.
    pub(crate) fn write_values<'spec>(
        &'spec self,
        out: &mut dyn Write,
        indent: &str,
        (expression, term): (&'spec Expression, &Term),
        is_wanted: fn(Mask) -> u8,
        style: Style,
    ) -> io::Result<()> {
        let mut line =
            |text: String| writeln!(out, "{}", style.wrap(indent.len() + 2, &format!("{indent}{text}")));
        let definitions = definitions(self.operator, &[expression]);
        let mut names: Vec<&'spec str> = Vec::new();
        let defined = definitions.iter().flat_map(|definition| definition.expression.names());
        for name in expression.names().into_iter().chain(defined) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut builder = Builder::new(Arc::clone(self.operator.signature()));
        let condition = builder.add(term);
        let place = if term.per_axis { Position::EachAxis } else { Position::Once };
        let named = |&name: &&'spec str| {
            let term = self.operator.scope().check(&parse(name).ok()?, place).ok()?;
            let is_number = matches!(term.value_type, Type::Integer | Type::DataType | Type::Enumeration(_));
            let is_news = !matches!(term.kind, TermKind::Constant(_)) && name != "axis";
            let (value_type, per_axis) = (term.value_type.clone(), term.per_axis);
            (is_number && is_news).then(|| Named { name, value_type, per_axis, id: builder.add(&term) })
        };
        let named: Vec<Named<'_>> = names.iter().filter_map(named).collect();
        let program = builder.finish();
        let mut values = Values::default();
        let evaluation = program.evaluate(Inputs::new(self.desc, self.level), &mut values);
        let value = |named: &Named<'_>, axis| {
            let value = evaluation.integer(named.id, if named.per_axis { axis } else { 0 })?;
            Some(format!("{} = {}", named.name, number_text(value, &named.value_type)))
        };
        if !term.per_axis {
            let lists = names.iter().filter_map(|name| pointer_text(self.desc, name));
            let values: Vec<String> = named.iter().filter_map(|named| value(named, 0)).chain(lists).collect();
            return if values.is_empty() { Ok(()) } else { line(format!("here {}", values.join(", "))) };
        }
        let Some(lanes) = evaluation.lanes(condition) else { return Ok(()) };
        let wanted = is_wanted(evaluation.mask(condition));
        let axes: Vec<usize> = (0..lanes.min(8)).filter(|axis| wanted >> axis & 1 == 1).collect();
        for &axis in axes.iter().take(MOST_AXES) {
            let values: Vec<String> = named.iter().filter_map(|named| value(named, axis)).collect();
            line(format!("on axis {axis}: {}", values.join(", ")))?;
        }
        if axes.len() > MOST_AXES {
            let more: Vec<String> = axes[MOST_AXES..].iter().map(usize::to_string).collect();
            line(format!("also on axis {}", more.join(", ")))?;
        }
        Ok(())
    }
}

/// A value as a spec writes it. A code that has a name is written by its name.
fn number_text(value: i128, value_type: &Type) -> String {
    let name = match value_type {
        Type::DataType => u32::try_from(value).ok().map(|code| DataType(code).to_string()),
        Type::Enumeration(enumeration) => {
            let value = i64::try_from(value).ok();
            value.and_then(|value| enumeration.name_of(value)).map(str::to_owned)
        }
        _ => None,
    };
    name.unwrap_or_else(|| value.to_string())
}

/// The value of a list or a tensor of a desc, by its name.
fn pointer_text(desc: &Desc, name: &str) -> Option<String> {
    let list = |list: Option<&List>| list.map_or_else(|| "null".to_owned(), |list| braces(list));
    for side in Side::BOTH {
        let Some(field) = name.strip_prefix(side.member_name()) else { continue };
        return match (desc.tensor(side), field) {
            (None, "") => Some(format!("{name} = null")),
            // A condition on a whole tensor is about its layout, so that its sizes and strides are shown.
            (Some(tensor), "") => {
                let (sizes, strides) = (list(tensor.sizes.as_ref()), list(tensor.strides.as_ref()));
                Some(format!("{name}.Sizes = {sizes}, {name}.Strides = {strides}"))
            }
            (Some(tensor), ".Sizes") => Some(format!("{name} = {}", list(tensor.sizes.as_ref()))),
            (Some(tensor), ".Strides") => Some(format!("{name} = {}", list(tensor.strides.as_ref()))),
            _ => None,
        };
    }
    match desc.members.get(desc.signature.position(name)?)? {
        Value::List(values) => Some(format!("{name} = {}", list(values.as_ref()))),
        Value::Integer(_) | Value::Scalar(_) => None,
    }
}
