//! `dmlcts diff`: the differences between two recorded runs.

use std::io::Write as _;

use dmlcts_report::{ComparedCases, write_comparison, write_html_comparison, write_markdown_comparison};
use dmlcts_results::{compare, compare_each};
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
    let (comparison, page) = match &arguments.html {
        Some(path) => {
            let mut cases = ComparedCases::new(Library::embedded());
            let comparison = compare_each(&arguments.old, &arguments.new, &mut |case| cases.add(case))?;
            (comparison, Some((path, cases)))
        }
        None => (compare(&arguments.old, &arguments.new)?, None),
    };
    if comparison.is_of_nothing() {
        // Every case would be gone or new, and no two results could be compared.
        return Err(Problem::usage(
            format!("nothing was compared: {} and {} have no case in common", arguments.old, arguments.new),
            "compare runs of the same suite, seed and part",
        ));
    }
    let mut out = output::stdout();
    let written = write_comparison(&mut out, &comparison, colour::style());
    if let Some((path, cases)) = page {
        write_report(path, |out| write_html_comparison(out, &comparison, cases))?;
    }
    if let Some(path) = &arguments.markdown {
        write_report(path, |out| write_markdown_comparison(out, &comparison))?;
    }
    output::unless_gone(written.and_then(|()| out.flush()))?;
    Ok(if comparison.is_worse() { Exit::Unexpected } else { Exit::Success })
}
