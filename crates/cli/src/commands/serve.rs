//! `dmlcts serve`: this program as a backend process. Tests of the host use it, and it lets a built-in
//! backend run in a process of its own.

use std::{io, time::Duration};

use dmlcts_backend::{
    Purpose,
    protocol::{ServeError, claim_stdout, end_with_parent, refuse, serve as answer},
};
use dmlcts_results::BackendOptions;
use dmlcts_runner::RunError;

use super::conclusion::bad_end;
use crate::{
    arguments::ServeArguments,
    backends::{self, Hosting},
    exit::Exit,
    problem::Problem,
};

/// Answers a host on standard input and output until it says bye.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Exit, Problem> {
    end_with_parent(arguments.parent)?;
    // Libraries and drivers may also print while they are loaded.
    let mut output = claim_stdout()?;
    let in_process = !arguments.backend.starts_with("exec:");
    // The host of this process enforces the deadline, and only the host knows it.
    let case_timeout = if in_process { Duration::MAX } else { BackendOptions::USUAL_CASE_TIMEOUT };
    // If this process hosts another one, outcomes report to its own host what happens there.
    let hosting = Hosting { is_served: true, case_timeout, in_process, ..Hosting::default() };
    let mut input = io::stdin().lock();
    let opened = backends::factory(&arguments.backend, &hosting)
        .and_then(|factory| Ok(factory(Purpose::Cases).map_err(RunError::Backend)?));
    let mut backend = match opened {
        Ok(backend) => backend,
        Err(problem) => {
            // The host gets the reason in a message, and people read it on standard error.
            if let Problem::Run(RunError::Backend(error)) = &problem {
                refuse(&error.to_string(), &mut input, &mut output)?;
            }
            return Err(problem);
        }
    };
    let ended = answer(&mut *backend, &mut input, &mut output);
    drop(backend);
    // The exit code tells the host of this process how a process behind it ended.
    let bad_end = hosting.incidents.shutdowns().bad_end().map(|what| bad_end(what, &arguments.backend));
    match ended {
        Ok(()) => bad_end.map_or(Ok(Exit::Success), Err),
        Err(ServeError::Io(error)) => Err(error.into()),
        Err(error) => Err(Problem::usage(
            error.to_string(),
            "`serve` speaks the protocol of crates/backend/PROTOCOL.md; `--backend 'exec:dmlcts serve'` starts it",
        )),
    }
}
