//! `dmlcts diff`: the differences between two recorded runs.

use std::io::Write as _;

use dmlcts_report::{ComparedCases, write_comparison, write_html_comparison, write_markdown_comparison};
use dmlcts_results::{Compared, Each, compare};
use dmlcts_spec::Library;

use crate::{
    arguments::DiffArguments,
    colour,
    exit::Exit,
    output,
    problem::Problem,
    reports::{prepare_report, write_report},
};

/// Shows the differences. The exit says whether anything got worse.
pub(crate) fn diff(arguments: &DiffArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    arguments.html.iter().chain(&arguments.markdown).try_for_each(|path| prepare_report(path))?;
    let mut cases = ComparedCases::new(Library::embedded());
    let mut add = |case: &Compared<'_>| cases.add(case);
    let each = arguments.html.is_some().then_some(&mut add as Each<'_>);
    let comparison = compare(&arguments.old, &arguments.new, each)?;
    if comparison.is_of_nothing() {
        // Every case would be gone or new, and no two results could be compared.
        return Err(Problem::usage(
            format!("nothing was compared: {} and {} have no case in common", arguments.old, arguments.new),
            "compare runs of the same suite, seed and part",
        ));
    }
    let mut out = output::stdout();
    let written = write_comparison(&mut out, &comparison, colour::style());
    if let Some(path) = &arguments.html {
        write_report(path, |out| write_html_comparison(out, &comparison, cases))?;
    }
    if let Some(path) = &arguments.markdown {
        write_report(path, |out| write_markdown_comparison(out, &comparison))?;
    }
    output::unless_gone(written.and_then(|()| out.flush()))?;
    Ok(if comparison.is_worse() { Exit::Unexpected } else { Exit::Success })
}
