//! How standard output and standard error look: their colours, and the width of lines.

use std::{
    env,
    io::{self, IsTerminal},
    sync::OnceLock,
};

use clap::ColorChoice;
use dmlcts_report::Style;
use terminal_size::{Width, terminal_size_of};

/// The value of `--color`; `auto` until it is known.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Takes the value of `--color`, once, before anything is printed.
pub(crate) fn choose(choice: ColorChoice) {
    // A second choice would come too late for what is printed already.
    let _ = COLOR.set(choice);
}

/// How standard output looks: with colours where it has them, and in lines of its width if it is a terminal.
pub(crate) fn style() -> Style {
    let width = terminal_size_of(io::stdout()).map(|(Width(columns), _)| usize::from(columns));
    Style { colour: has_colour(&io::stdout()), width }
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
