//! What stands behind a clause or a question: the definitions that it uses, what may be answered, and, for a desc,
//! the axes that decide it with the values there. A clause reads `OutputTensor.Sizes <= reachable`; whoever breaks it
//! wants to know what `reachable` is, and how much it comes to.

use std::{
    io::{self, Write},
    sync::Arc,
};

use dmlcts_model::{Desc, FeatureLevel};
use dmlcts_spec::{
    Answer, Operator, Question,
    expression::{Definition, Expression, Place, Term, Type, parse},
    program::{Builder, Inputs, Mask, Values},
};

/// On how many axes the values are shown.
const MOST_AXES: usize = 2;

/// The definitions that expressions use, also through others, in the order of the spec.
pub(crate) fn definitions<'a>(
    operator: &'a Operator,
    expressions: &[&'a Expression],
) -> Vec<&'a Arc<Definition>> {
    let mut names: Vec<&str> = expressions.iter().flat_map(|expression| expression.names()).collect();
    let mut used = Vec::new();
    // Each uses none but those above it.
    for definition in operator.scope().definitions().iter().rev() {
        if names.contains(&definition.name.as_str()) {
            names.extend(definition.expression.names());
            used.push(definition);
        }
    }
    used.reverse();
    used
}

/// Writes what the names in an expression mean that are neither members nor fields.
pub(crate) fn write_definitions(
    out: &mut dyn Write,
    indent: &str,
    operator: &Operator,
    expressions: &[&Expression],
) -> io::Result<()> {
    definitions(operator, expressions).into_iter().try_for_each(|definition| {
        writeln!(out, "{indent}where {} = {}", definition.name, definition.expression)
    })
}

/// Writes what may be answered to a question, and the definitions that it and its readings use.
pub(crate) fn write_answers(
    out: &mut dyn Write,
    indent: &str,
    operator: &Operator,
    question: &Question,
) -> io::Result<()> {
    let answers: Vec<String> = question.allow.iter().map(|answer| answer_text(operator, *answer)).collect();
    writeln!(out, "{indent}allowed: {}", answers.join("; "))?;
    let readings = question.allow.iter().filter_map(|answer| match answer {
        Answer::Reading(reading) => operator.readings().get(reading.checked_sub(1)?),
        Answer::Reject | Answer::Accept => None,
    });
    let expressions: Vec<&Expression> =
        [&question.expression].into_iter().chain(readings.map(|reading| &reading.expression)).collect();
    write_definitions(out, indent, operator, &expressions)
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

/// What is asked of each axis of a desc.
pub(crate) struct Asked<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) desc: &'a Desc,
    pub(crate) level: FeatureLevel,
}

impl Asked<'_> {
    /// Writes the axes on which a condition is as `is_wanted` says, and what its names come to there. Nothing where
    /// it is not asked of each axis.
    pub(crate) fn write_axes(
        &self,
        out: &mut dyn Write,
        indent: &str,
        (expression, term): (&Expression, &Term),
        is_wanted: fn(Mask) -> u8,
    ) -> io::Result<()> {
        if !term.per_axis {
            return Ok(());
        }
        let definitions = definitions(self.operator, &[expression]);
        let mut names: Vec<&str> = Vec::new();
        let defined = definitions.iter().flat_map(|definition| definition.expression.names());
        for name in expression.names().into_iter().chain(defined) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut builder = Builder::new(Arc::clone(self.operator.signature()));
        let condition = builder.add(term);
        let named: Vec<_> = names
            .into_iter()
            .filter_map(|name| {
                let term = self.operator.scope().check(&parse(name).ok()?, Place::EachAxis).ok()?;
                (term.per_axis && term.value_type == Type::Integer && name != "axis")
                    .then(|| (name, builder.add(&term)))
            })
            .collect();
        let program = builder.finish();
        let mut values = Values::default();
        let evaluation = program.evaluate(Inputs::new(self.desc, self.level), &mut values);
        let Some(lanes) = evaluation.lanes(condition) else { return Ok(()) };
        let wanted = is_wanted(evaluation.mask(condition));
        let axes: Vec<usize> = (0..lanes.min(8)).filter(|axis| wanted >> axis & 1 == 1).collect();
        for &axis in axes.iter().take(MOST_AXES) {
            let values: Vec<String> = named
                .iter()
                .filter_map(|&(name, id)| Some(format!("{name} = {}", evaluation.integer(id, axis)?)))
                .collect();
            writeln!(out, "{indent}on axis {axis}: {}", values.join(", "))?;
        }
        if axes.len() > MOST_AXES {
            let more: Vec<String> = axes[MOST_AXES..].iter().map(usize::to_string).collect();
            writeln!(out, "{indent}also on axis {}", more.join(", "))?;
        }
        Ok(())
    }
}
