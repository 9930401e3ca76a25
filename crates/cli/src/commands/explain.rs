//! `dmlcts explain`: what the spec says of a case, clause by clause and element by element.

use std::io::Write;

use dmlcts_report::{Layout, write_derivation, write_every_clause, write_judgement};
use dmlcts_spec::Scratch;

use super::case::judged;
use crate::{arguments::CaseArguments, exit::Exit, output, problem::Problem};

/// Explains the case of the arguments.
pub(crate) fn explain(arguments: &CaseArguments) -> Result<Exit, Problem> {
    let judged = judged(arguments)?;
    let (case, operator) = (&judged.case, judged.operator);
    let (mut out, palette) = (output::stdout(), output::palette());
    writeln!(out, "{case}\n")?;
    write_judgement(&mut out, operator, judged.level, &judged.judgement, palette)?;
    write_every_clause(&mut out, operator, &judged.judgement)?;
    let mut scratch = Scratch::default();
    let valid = operator.judge_valid(&case.desc, judged.level, &mut scratch);
    if let (Some(valid), Some(reading), Some(input), Some(tensor)) =
        (valid, judged.reading(), &case.desc.input, &case.desc.output)
    {
        let memory = judged.memory();
        let held = memory.as_ref().and_then(|memory| memory.output.as_deref());
        writeln!(out)?;
        if let Some(memory) = &memory {
            let layout =
                Layout { name: "InputTensor", remark: "", tensor: input, memory: &memory.input, marked: &[] };
            layout.write(&mut out, "", palette)?;
        }
        if let Some(held) = held {
            let layout = Layout { name: "OutputTensor", remark: "", tensor, memory: held, marked: &[] };
            layout.write(&mut out, "", palette)?;
        }
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
