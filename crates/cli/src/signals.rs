//! Handles Ctrl-C and other signals that ask the program to end: the summary is printed, and no process is
//! left behind.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use dmlcts_runner::{Ending, Stop};

use crate::exit::Exit;

/// A second signal within this time counts as the first one.
const ECHO: Duration = Duration::from_millis(500);

/// The message at the first signal during a run.
const ENDS: &str =
    "interrupted: the run ends with the summary of what ran; a second signal ends it at once, without one";

/// Whether a run has begun. A signal before that ends the program at once, since there is nothing to sum up.
#[derive(Clone, Default)]
pub(crate) struct Begun(Arc<AtomicBool>);

impl Begun {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The first signal ends a run with its summary and prints a message. A later signal ends the program at
/// once.
pub(crate) fn end_run() -> (Stop, Begun) {
    let (stop_of_run, begun_of_run) = (Stop::default(), Begun::default());
    let (stop, begun) = (stop_of_run.clone(), begun_of_run.clone());
    // Without a handler, a signal ends the program at once. The run can go on without one.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || {
        if !begun.0.load(Ordering::Relaxed) {
            end("interrupted before the first case");
        }
        if first.is_none() {
            stop.request(Ending::Interrupted);
            // The progress bar has not ended its line.
            let bar = if io::stderr().is_terminal() { "\n" } else { "" };
            say(&format!("{bar}{ENDS}"));
        }
        // A program that passes a signal on to its group sends it twice. The second one must not suppress the
        // summary.
        if first.get_or_insert_with(Instant::now).elapsed() >= ECHO {
            end("");
        }
    });
    (stop_of_run, begun_of_run)
}

/// A signal ends the program at once, with the processes that it started.
pub(crate) fn end_program() {
    let _ = ctrlc::set_handler(|| end("interrupted"));
}

/// Makes a write beyond the maximum file size (`ulimit -f`) fail like a write to a full disk, so that the
/// error is reported. Without this, a signal ends the program without a message. The signal is blocked, not
/// ignored, since child processes would inherit that it is ignored. Call this before threads start.
pub(crate) fn survive_large_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // If this fails, the signal ends the program as before.
        let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    }
}

/// Ends the program, with a message if `word` is not empty.
fn end(word: &str) -> ! {
    if !word.is_empty() {
        say(word);
    }
    dmlcts_backend::process::end_all();
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

/// Writes a message to standard error and ignores errors: the exit code reports the same.
fn say(word: &str) {
    let _ = writeln!(io::stderr(), "{word}");
}
