//! `dmlcts diff`: the differences between two recorded runs.

use std::{io::Write as _, path::Path};

use dmlcts_report::{ComparedCases, write_comparison, write_html_comparison};
use dmlcts_results::{Comparison, compare, compare_each, prepare_to_replace, replace};
use dmlcts_spec::Library;

use crate::{arguments::DiffArguments, colour, exit::Exit, output, problem::Problem};

/// Shows the differences. The exit says whether anything got worse.
pub(crate) fn diff(arguments: &DiffArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    let (comparison, page) = match &arguments.html {
        Some(path) => {
            prepare_to_replace(Path::new(path)).map_err(|error| Problem::unopened_report(path, &error))?;
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
        write_page(path, &comparison, cases)?;
    }
    output::unless_gone(written.and_then(|()| out.flush()))?;
    Ok(if comparison.is_worse() { Exit::Unexpected } else { Exit::Success })
}

fn write_page(path: &str, comparison: &Comparison, cases: ComparedCases) -> Result<(), Problem> {
    let mut text = Vec::new();
    let written = write_html_comparison(&mut text, comparison, cases);
    let written = written.and_then(|()| replace(Path::new(path), &text));
    written.map_err(|cause| Problem::Report { path: path.to_owned(), cause })
}
