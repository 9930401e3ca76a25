//! `dmlcts explain`: what the spec says of a case, clause by clause and element by element.

use std::io::Write;

use dmlcts_model::Side;
use dmlcts_report::{write_derivation, write_every_clause, write_judgement, write_tensor};
use dmlcts_spec::Scratch;

use super::case::judged;
use crate::{arguments::CaseArguments, exit::Exit, output, problem::Problem};

/// Explains the case of the arguments.
pub(crate) fn explain(arguments: &CaseArguments) -> Result<Exit, Problem> {
    let judged = judged(arguments)?;
    let (case, operator) = (&judged.case, judged.operator);
    let (mut out, palette) = (output::stdout(), output::palette());
    writeln!(out, "{case}\n")?;
    write_judgement(&mut out, operator, &case.desc, judged.level, &judged.judgement, palette)?;
    write_every_clause(&mut out, operator, &judged.judgement)?;
    let memory = judged.memory();
    writeln!(out)?;
    write_tensor(&mut out, &case.desc, Side::Input, &memory.input, palette)?;
    write_tensor(&mut out, &case.desc, Side::Output, &memory.output, palette)?;
    let mut scratch = Scratch::default();
    let valid = operator.judge_valid(&case.desc, judged.level, &mut scratch);
    if let (Ok(valid), Some(reading), Some(tensor)) = (valid, judged.reading(), &case.desc.output) {
        let held = memory.output.as_deref().ok();
        writeln!(out)?;
        let fill = operator.semantics().fill.and_then(|place| operator.signature().members.get(place));
        let fill = fill.map_or("fill", |member| member.name.as_str());
        // What cannot be planned cannot be derived either; the judgement above still stands.
        if let Ok(mut plan) = operator.plan(valid, reading, &mut scratch) {
            write_derivation(&mut out, tensor, held, fill, |coordinates| {
                plan.source(coordinates).ok().flatten()
            })?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}
