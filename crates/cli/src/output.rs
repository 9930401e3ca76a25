//! Standard output and standard error, and what their readers want. Everything that the program writes there goes through a
//! [`Screen`].

use std::io::{self, BufWriter, Stderr, StdoutLock, Write as _};

use dmlcts_model::escaped;
use dmlcts_report::Screen;

use crate::{colour, problem::Problem};

/// Large enough that listing millions of lines costs few system calls.
const BUFFER: usize = 1 << 18;

/// Standard output, buffered. Whoever uses it flushes it: an error on the way out must not get lost.
pub(crate) fn stdout() -> Screen<BufWriter<StdoutLock<'static>>> {
    Screen::new(BufWriter::with_capacity(BUFFER, io::stdout().lock()), colour::palette().colour)
}

/// Standard error.
pub(crate) fn stderr() -> Screen<Stderr> {
    Screen::new(io::stderr(), colour::has_colour_of_errors())
}

/// Shows a line on standard error. The program goes on where that fails: its exit code tells as much.
pub(crate) fn note(line: &str) {
    let _ = writeln!(stderr(), "{}", escaped(line));
}

/// Takes it for no failure that the reader went away: for commands whose verdict holds whether or not somebody reads it.
pub(crate) fn unless_gone(written: io::Result<()>) -> Result<(), Problem> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Shows a line at once, if anybody still reads.
pub(crate) fn show(line: &str) -> Result<(), Problem> {
    let mut out = stdout();
    unless_gone(writeln!(out, "{line}").and_then(|()| out.flush()))
}
