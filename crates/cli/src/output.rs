//! Standard output and standard error, with or without colours. The program writes everything through a
//! [`Screen`].

use std::io::{self, BufWriter, Stderr, StdoutLock, Write};

use dmlcts_model::escaped;
use dmlcts_report::Screen;

use crate::{colour, problem::Problem};

/// This size keeps the number of system calls low when millions of lines are listed.
const BUFFER: usize = 1 << 18;

/// Standard output, buffered. The caller flushes it, so that no error is lost.
pub(crate) fn stdout() -> Screen<BufWriter<StdoutLock<'static>>> {
    Screen::new(BufWriter::with_capacity(BUFFER, io::stdout().lock()), colour::style().colour)
}

/// Standard error.
pub(crate) fn stderr() -> Screen<Stderr> {
    Screen::new(io::stderr(), colour::has_colour_of_errors())
}

/// Writes a line to standard error and ignores errors: the exit code reports the same.
pub(crate) fn note(line: &str) {
    let _ = writeln!(stderr(), "{}", escaped(line));
}

/// Ignores a closed pipe, for commands whose exit code matters even if their output is not read.
pub(crate) fn unless_gone(written: io::Result<()>) -> Result<(), Problem> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes to standard output, flushes it and ignores a closed pipe.
pub(crate) fn write(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    let mut out = stdout();
    unless_gone(write(&mut out).and_then(|()| out.flush()))
}

/// Writes a line at once and ignores a closed pipe.
pub(crate) fn show(line: &str) -> Result<(), Problem> {
    write(|out| writeln!(out, "{line}"))
}
