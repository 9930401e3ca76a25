//! `dmlcts suites`: the built-in suites.

use std::io::Write;

use dmlcts_generate::Suite;
use dmlcts_model::escaped;

use crate::{arguments::SuitesArguments, exit::Exit, output, problem::Problem, selection::load_suite};

/// Lists the name and purpose of each built-in suite, or the parts of one suite.
pub(crate) fn suites(arguments: &SuitesArguments) -> Result<Exit, Problem> {
    let mut out = output::stdout();
    match &arguments.name {
        Some(name) => {
            let suite = load_suite(name)?;
            writeln!(out, "{}\n  {}\n", escaped(suite.name()), in_one_line(suite.purpose()))?;
            for part in &suite.form().parts {
                let note = in_one_line(part.note.as_deref().unwrap_or_default());
                let line = format!("  {:<13} {:<11} {note}", escaped(&part.id), part.strategy.name());
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        None => {
            for name in Suite::names() {
                writeln!(out, "{name:<18} {}", in_one_line(load_suite(name)?.purpose()))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn in_one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}
