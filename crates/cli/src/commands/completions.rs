//! `dmlcts completions`: a script for a shell, on standard output.

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::{
    arguments::{Arguments, CompletionsArguments},
    exit::Exit,
    output,
    problem::Problem,
};

/// Prints the script.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Problem> {
    // What writes the script panics where it cannot be written, as to a reader that has gone away: it goes into memory first.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "dmlcts", &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Success)
}
