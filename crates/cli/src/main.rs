//! The `dmlcts` program: reads arguments and wires the other crates together. What it does is in
//! [`commands`], one file a command; how it can end is in [`exit`].

mod again;
mod arguments;
mod backends;
mod bless;
mod breakage;
mod certificate;
mod commands;
mod exit;
mod given;
mod known;
mod ledger;
mod output;
mod paths;
mod problem;
mod profile;
mod record;
mod reports;
mod selection;
mod signals;
mod units;

use std::{
    io::{self, Write},
    panic,
    process::ExitCode,
    time::Instant,
};

use clap::Parser;

use crate::{exit::Exit, problem::Problem};

fn main() -> ExitCode {
    let started = Instant::now();
    stay_silent_about_caught_panics();
    signals::survive_large_files();
    let ended = match arguments::Arguments::try_parse() {
        Ok(arguments) => commands::execute(&arguments.command, started),
        Err(said) => say(&said),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(problem) => {
            // Where nobody can be told, the exit code still tells.
            let _ = io::stderr().write_all(problem.render().as_bytes());
            problem.exit().into()
        }
    }
}

/// Says what clap has to say instead of arguments: what is wrong with them, or the help that they ask for.
fn say(said: &clap::Error) -> Result<Exit, Problem> {
    if said.use_stderr() {
        // Where nobody can be told, the exit code still tells.
        let _ = said.print();
        return Ok(Exit::Usage);
    }
    let (mut out, text) = (output::stdout(), said.render());
    if output::palette().colour {
        write!(out, "{}", text.ansi())?;
    } else {
        write!(out, "{text}")?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// A backend's panic is a verdict, and shown as one. Any other is shown as usual.
fn stay_silent_about_caught_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |information| {
        if !dmlcts_runner::is_caught_here() {
            usual(information);
        }
    }));
}
