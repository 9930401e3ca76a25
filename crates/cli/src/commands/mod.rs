//! The program's commands, one file for each.

mod accept;
mod backends;
mod case;
mod completions;
mod conclusion;
mod diff;
mod doctor;
mod explain;
mod export;
mod failures;
mod findings;
mod fuzz;
mod init;
mod list;
pub(crate) mod merge;
mod mutants;
mod obligations;
mod picker;
mod profiles;
mod replay;
mod run;
mod serve;
mod snapshot;
mod spec;
mod suites;

use std::time::Instant;

use crate::{arguments::Command, exit::Exit, problem::Problem};

/// Executes the command. `started` is the time at which the program started.
pub(crate) fn execute(command: &Command, started: Instant) -> Result<Exit, Problem> {
    match command {
        Command::Run(arguments) => run::run(arguments, started),
        Command::Fuzz(arguments) => fuzz::fuzz(arguments, started),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::Count(arguments) => list::count(arguments),
        Command::Show(arguments) => case::show(arguments),
        Command::Judge(arguments) => case::judge(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::Spec(arguments) => spec::spec(arguments),
        Command::Backends => backends::backends(),
        Command::Failures(arguments) => failures::failures(arguments),
        Command::Accept(arguments) => accept::accept(arguments),
        Command::Findings(arguments) => findings::findings(arguments, started),
        Command::Merge(arguments) => merge::merge(arguments),
        Command::Diff(arguments) => diff::diff(arguments),
        Command::Snapshot(arguments) => snapshot::snapshot(arguments, started),
        Command::Init(arguments) => init::init(arguments),
        Command::Doctor(arguments) => doctor::doctor(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Suites(arguments) => suites::suites(arguments),
        Command::Mutants(arguments) => mutants::mutants(arguments),
        Command::Profiles(arguments) => profiles::profiles(arguments),
        Command::Completions(arguments) => completions::completions(arguments),
    }
}
