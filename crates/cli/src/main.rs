//! The `dmlcts` program: reads arguments and wires the other crates together. What it does is in
//! [`commands`], one file a command; how it can end is in [`exit`].

mod arguments;
mod backends;
mod certificate;
mod commands;
mod exit;
mod output;
mod problem;
mod selection;
mod units;

use std::{
    io::{self, Write},
    panic,
    process::ExitCode,
};

use clap::Parser;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    stay_silent_about_caught_panics();
    match commands::execute(&arguments.command) {
        Ok(exit) => exit.into(),
        Err(problem) => {
            // Where nobody can be told, the exit code still tells.
            let _ = io::stderr().write_all(problem.render().as_bytes());
            problem.exit().into()
        }
    }
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
