//! `dmlcts diff`: the differences between two recorded runs.

use std::io::Write as _;

use dmlcts_report::write_comparison;
use dmlcts_results::compare;

use crate::{arguments::DiffArguments, colour, exit::Exit, output, problem::Problem};

/// Shows the differences. The exit says whether anything got worse.
pub(crate) fn diff(arguments: &DiffArguments) -> Result<Exit, Problem> {
    let comparison = compare(&arguments.old, &arguments.new)?;
    if comparison.is_of_nothing() {
        // Every case would be gone or new, and no two results could be compared.
        return Err(Problem::usage(
            format!("nothing was compared: {} and {} have no case in common", arguments.old, arguments.new),
            "compare runs of the same suite, seed and part",
        ));
    }
    let mut out = output::stdout();
    let written = write_comparison(&mut out, &comparison, colour::palette());
    output::unless_gone(written.and_then(|()| out.flush()))?;
    Ok(if comparison.is_worse() { Exit::Unexpected } else { Exit::Success })
}
