//! `dmlcts ledger`: the answers of backends to open questions, side by side.

use std::io::Write as _;

use dmlcts_report::write_ledger;
use dmlcts_results::Ledger;
use dmlcts_spec::Library;

use crate::{arguments::LedgerArguments, colour, exit::Exit, output, problem::Problem};

/// Shows a ledger.
pub(crate) fn ledger(arguments: &LedgerArguments) -> Result<Exit, Problem> {
    let ledger = Ledger::read(&arguments.file)?;
    let mut out = output::stdout();
    write_ledger(&mut out, ledger.form(), Library::embedded(), colour::palette())?;
    out.flush()?;
    Ok(Exit::Success)
}
