//! What Ctrl-C and other signals that ask to end do: nothing that was said or started is left behind.

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

/// A second signal within this time is taken for the first one.
const ECHO: Duration = Duration::from_millis(500);

/// What is said at the first signal, where a run goes on.
const ENDS: &str =
    "interrupted: the run ends with the summary of what ran; a second signal ends it at once, without one";

/// The first signal ends a run that goes on, with its summary, and says so; any later one ends the program at once.
pub(crate) fn end_run(stop: &Stop, runs: &Arc<AtomicBool>) {
    let (stop, runs) = (stop.clone(), Arc::clone(runs));
    // Without a handler a signal ends the program at once, which is no reason not to run.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || {
        if !runs.load(Ordering::Relaxed) {
            end("interrupted before the first case");
        }
        if first.is_none() {
            stop.request(Ending::Interrupted);
            // A bar has not ended its line.
            let bar = if io::stderr().is_terminal() { "\n" } else { "" };
            say(&format!("{bar}{ENDS}"));
        }
        // Who passes a signal on to a group sends it twice: that is no wish to lose the summary.
        if first.get_or_insert_with(Instant::now).elapsed() >= ECHO {
            end("");
        }
    });
}

/// A signal ends the program at once, and with it the processes that it started.
pub(crate) fn end_program() {
    let _ = ctrlc::set_handler(|| end("interrupted"));
}

/// Has a write that makes a file larger than it may be (`ulimit -f`) fail as on a full disk, which is told, instead of ending the program
/// without a word. Held back and not ignored, since processes that this one starts would ignore it, too. To be called before there are threads.
pub(crate) fn survive_large_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // Where that is refused, the signal ends the program as before.
        let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    }
}

/// Ends the program, with a word of it where there is one.
fn end(word: &str) -> ! {
    if !word.is_empty() {
        say(word);
    }
    dmlcts_backend::process::end_all();
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

/// Says something on standard error. Where nobody can be told, the exit code still tells.
fn say(word: &str) {
    let _ = writeln!(io::stderr(), "{word}");
}
