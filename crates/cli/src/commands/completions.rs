//! `dmlcts completions`: a shell's completion script on standard output.

use clap::CommandFactory as _;

use crate::{
    arguments::{Arguments, CompletionsArguments},
    exit::Exit,
    output,
    problem::Problem,
};

/// Prints the script.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Problem> {
    // clap panics on a closed pipe, so the script is built in memory first.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "dmlcts", &mut script);
    output::write(|out| out.write_all(&script))?;
    Ok(Exit::Success)
}
