//! `dmlcts explain`: the spec's judgement of a case, clause by clause, and the source of its output, element
//! by element.

use std::io::Write;

use dmlcts_model::Side;
use dmlcts_report::{write_bindings, write_derivation, write_every_clause, write_judgement, write_tensor};
use dmlcts_spec::{Library, Scratch};

use super::case::{Heading, Judged, each_case};
use crate::{arguments::CaseArguments, colour, exit::Exit, problem::Problem};

/// Explains the cases of the arguments.
pub(crate) fn explain(arguments: &CaseArguments) -> Result<Exit, Problem> {
    each_case(arguments, Heading::Always, |out, judged| {
        writeln!(out)?;
        write(out, judged)
    })
}

fn write(mut out: &mut dyn Write, judged: &Judged) -> Result<(), Problem> {
    let (case, operator, style) = (&judged.case, judged.operator, colour::style());
    write_judgement(&mut out, operator, &case.desc, judged.level, &judged.judgement, style)?;
    write_bindings(&mut out, &Library::embedded().broken_bindings(case), style)?;
    write_every_clause(&mut out, operator, &judged.judgement, style)?;
    let memory = judged.memory();
    writeln!(out)?;
    write_tensor(&mut out, &case.desc, Side::Input, &memory.input, style)?;
    write_tensor(&mut out, &case.desc, Side::Output, &memory.output, style)?;
    let mut scratch = Scratch::default();
    let valid = operator.judge_valid(&case.desc, judged.level, &mut scratch);
    if let (Ok(valid), Some(reading), Some(tensor)) = (valid, judged.reading(), &case.desc.output) {
        let held = memory.output.as_deref().ok();
        writeln!(out)?;
        let fill = operator.semantics().fill.and_then(|place| operator.signature().members.get(place));
        let fill = fill.map_or("fill", |member| member.name.as_str());
        // A case without a plan has no derivation; its judgement is complete.
        if let Ok(mut plan) = operator.plan(valid, reading, &mut scratch) {
            write_derivation(&mut out, tensor, held, fill, |coordinates| {
                plan.source(coordinates).ok().flatten()
            })?;
        }
    }
    Ok(())
}
