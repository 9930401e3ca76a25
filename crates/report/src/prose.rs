//! Indented text, which the reports of findings, failures, cases and operators share.

use std::io::{self, Write};

use crate::Style;

/// The indentation of every line of a failure after the first.
pub(crate) const INDENT: &str = "  ";

/// Writes text, indented as the lines of a failure are.
pub(crate) fn write_prose(out: &mut dyn Write, style: Style, text: &str) -> io::Result<()> {
    writeln!(out, "{}", style.wrap(2 * INDENT.len(), &format!("{INDENT}{text}")))
}
