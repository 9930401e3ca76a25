//! `dmlcts spec`: checks, shows and lists specs.

use std::{io::Write, path::Path};

use dmlcts_report::{counted, write_operator};
use dmlcts_spec::{Library, Operator, read_file};

use crate::{
    arguments::SpecCommand,
    colour,
    exit::Exit,
    output,
    problem::{Problem, unknown},
};

/// The name of the file with the definitions that operators share.
const COMMON: &str = "common.yaml";

/// Executes a command on specs.
pub(crate) fn spec(command: &SpecCommand) -> Result<Exit, Problem> {
    let mut out = output::stdout();
    match command {
        SpecCommand::Check { files } => {
            let loaded;
            let library = if files.is_empty() {
                Library::embedded()
            } else {
                loaded = check(files)?;
                &loaded
            };
            for operator in library.operators() {
                writeln!(out, "{}", describe(operator))?;
            }
            writeln!(out, "no mistakes (spec {})", library.short_hash())?;
        }
        SpecCommand::Show { operator } => {
            let library = Library::embedded();
            let found = library.operator(operator).ok_or_else(|| {
                let names: Vec<&str> = library.operators().iter().map(Operator::name).collect();
                Problem::usage(unknown("operator", operator, &names), "see `dmlcts spec list`")
            })?;
            write_operator(&mut out, found, colour::style())?;
        }
        SpecCommand::List => {
            for operator in Library::embedded().operators() {
                writeln!(out, "{:<10} {}", operator.name(), operator.summary())?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn describe(operator: &Operator) -> String {
    format!(
        "{}: {}, {}, {}",
        operator.name(),
        counted(operator.clauses().len() as u64, "clause"),
        counted(operator.questions().len() as u64, "question"),
        counted(operator.examples().len() as u64, "example"),
    )
}

/// Loads files together with the definitions that operators share.
fn check(files: &[String]) -> Result<Library, Problem> {
    let mut sources = Vec::new();
    let mut common = None;
    for path in files {
        let source = read_file(path)?;
        if Path::new(path).file_name().is_some_and(|name| name == COMMON) {
            common = Some(source);
        } else {
            sources.push(source);
        }
    }
    let common = common.or_else(|| Library::embedded_sources().into_iter().next());
    sources.splice(0..0, common);
    Ok(Library::load(&sources)?)
}
