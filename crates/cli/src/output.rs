//! Standard output and standard error, and what their readers want. Everything that the program writes there goes through a
//! [`Screen`].

use std::{
    env,
    io::{self, BufWriter, IsTerminal, Stderr, StdoutLock, Write as _},
    sync::OnceLock,
};

use clap::ColorChoice;
use dmlcts_model::escaped;
use dmlcts_report::{Palette, Screen};

use crate::problem::Problem;

/// Large enough that listing millions of lines costs few system calls.
const BUFFER: usize = 1 << 18;

/// Standard output, buffered. Whoever uses it flushes it: an error on the way out must not get lost.
pub(crate) fn stdout() -> Screen<BufWriter<StdoutLock<'static>>> {
    Screen::new(BufWriter::with_capacity(BUFFER, io::stdout().lock()), palette().colour)
}

/// Standard error.
pub(crate) fn stderr() -> Screen<Stderr> {
    Screen::new(io::stderr(), has_colour_of_errors())
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

/// The value of `--color`; `auto` until it is known.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Takes the value of `--color`, once, before anything is printed.
pub(crate) fn choose_color(choice: ColorChoice) {
    // A second choice would come too late for what is printed already.
    let _ = COLOR.set(choice);
}

/// Colours where standard output has them.
pub(crate) fn palette() -> Palette {
    Palette { colour: has_colour(&io::stdout()) }
}

/// Whether a stream has colours. `auto` means where it is a terminal and `NO_COLOR` does not forbid them.
pub(crate) fn has_colour(stream: &impl IsTerminal) -> bool {
    match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Auto => stream.is_terminal() && !is_colour_unwanted(),
        ColorChoice::Always => true,
        ColorChoice::Never => false,
    }
}

/// Whether messages on standard error have colours.
pub(crate) fn has_colour_of_errors() -> bool {
    has_colour(&io::stderr())
}

/// Whether `NO_COLOR` is set to anything but nothing (<https://no-color.org>).
fn is_colour_unwanted() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
