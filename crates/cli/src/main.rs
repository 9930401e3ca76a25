//! The `dmlcts` program reads arguments and connects the other crates. [`commands`] has one file for each
//! command, and [`exit`] has the exit codes.

mod again;
mod arguments;
mod backends;
mod certificate;
mod colour;
mod commands;
mod exit;
mod given;
mod known;
mod output;
mod paths;
mod problem;
mod profile;
mod record;
mod recorded;
mod remedy;
mod reports;
mod selection;
mod signals;
mod units;
mod version;

use std::{env, io::Write, process::ExitCode, time::Instant};

use clap::{Parser, error::ErrorKind};
use dmlcts_model::escaped;

use crate::{exit::Exit, problem::Problem};

fn main() -> ExitCode {
    let started = Instant::now();
    dmlcts_runner::silence_caught_panics();
    // Backends inherit no files that were open before. The standard library closes later ones.
    #[cfg(unix)]
    close_fds::set_fds_cloexec(3, &[]);
    signals::survive_large_files();
    let parsed = arguments::Arguments::try_parse();
    colour::choose(match &parsed {
        Ok(arguments) => arguments.color,
        Err(_) => arguments::color_of(env::args_os()),
    });
    let ended = match parsed {
        Ok(arguments) => commands::execute(&arguments.command, started),
        Err(said) => match unquoted_backend(&said) {
            Some(problem) => Err(problem),
            None => say(&on_one_line(said)),
        },
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(problem) => {
            // If standard error cannot be written, the exit code still reports the problem.
            let _ = output::stderr().write_all(problem.render().as_bytes());
            problem.exit().into()
        }
    }
}

/// The error for missing quotes, if words of a backend's command are left over.
fn unquoted_backend(said: &clap::Error) -> Option<Problem> {
    let is_left_over = matches!(said.kind(), ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict);
    is_left_over.then(|| given::unquoted_backend(env::args_os().skip(1))).flatten()
}

/// Parses the escaped arguments again, so that the error repeats no control character.
fn on_one_line(said: clap::Error) -> clap::Error {
    let words = env::args_os().map(|word| escaped(&word.to_string_lossy()).into_owned());
    arguments::Arguments::try_parse_from(words).err().unwrap_or(said)
}

/// Prints clap's message: an error in the arguments, or the help that they ask for.
fn say(said: &clap::Error) -> Result<Exit, Problem> {
    let text = said.render();
    if said.use_stderr() {
        // If standard error cannot be written, the exit code still reports the error.
        let text = if colour::has_colour_of_errors() { text.ansi().to_string() } else { text.to_string() };
        let _ = output::stderr().write_all(text.as_bytes());
        return Ok(Exit::Usage);
    }
    let mut out = output::stdout();
    if colour::style().colour {
        write!(out, "{}", text.ansi())?;
    } else {
        write!(out, "{text}")?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
