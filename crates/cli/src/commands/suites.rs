//! `dmlcts suites`: what there is to run.

use std::io::Write;

use dmlcts_generate::Suite;

use crate::{exit::Exit, output, problem::Problem, selection::load_suite};

/// Lists name and purpose of each suite that the program was built with.
pub(crate) fn suites() -> Result<Exit, Problem> {
    let mut out = output::stdout();
    for name in Suite::names() {
        let suite = load_suite(name)?;
        let purpose = suite.purpose().split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "{name:<18} {purpose}")?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
