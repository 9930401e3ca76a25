//! What Ctrl-C and other signals that ask to end do: nothing that was said or started is left behind.

use std::{
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use dmlcts_runner::{Ending, Stop};

use crate::exit::Exit;

/// A second signal within this time is taken for the first one.
const ECHO: Duration = Duration::from_millis(500);

/// The first signal ends a run that goes on, with its summary; any later one ends the program at once.
pub(crate) fn end_run(stop: &Stop, runs: &Arc<AtomicBool>) {
    let (stop, runs) = (stop.clone(), Arc::clone(runs));
    // Without a handler a signal ends the program at once, which is no reason not to run.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || {
        // Who passes a signal on to a group sends it twice: that is no wish to lose the summary.
        let is_echo = first.get_or_insert_with(Instant::now).elapsed() < ECHO;
        if !runs.load(Ordering::Relaxed) {
            end("interrupted before the first case");
        }
        if stop.is_requested() && !is_echo {
            end("");
        }
        stop.request(Ending::Interrupted);
    });
}

/// A signal ends the program at once, and with it the processes that it started.
pub(crate) fn end_program() {
    let _ = ctrlc::set_handler(|| end("interrupted"));
}

/// Ends the program, with a word of it where there is one.
fn end(word: &str) -> ! {
    if !word.is_empty() {
        // Where nobody can be told, the exit code still tells.
        let _ = writeln!(io::stderr(), "{word}");
    }
    dmlcts_backend::process::end_all();
    std::process::exit(i32::from(Exit::Interrupted.code()));
}
