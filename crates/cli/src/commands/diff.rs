//! `dmlcts diff`: the differences between two recorded runs.

use std::{
    io::{self, Write as _},
    path::Path,
};

use dmlcts_report::{ComparedCases, write_comparison, write_html_comparison, write_markdown_comparison};
use dmlcts_results::{compare, compare_each, prepare_to_replace, replace};
use dmlcts_spec::Library;

use crate::{arguments::DiffArguments, colour, exit::Exit, output, problem::Problem};

/// Shows the differences. The exit says whether anything got worse.
pub(crate) fn diff(arguments: &DiffArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    for path in arguments.html.iter().chain(&arguments.markdown) {
        prepare_to_replace(Path::new(path)).map_err(|error| Problem::unopened_report(path, &error))?;
    }
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
        let mut text = Vec::new();
        let written = write_html_comparison(&mut text, &comparison, cases);
        write_report(path, &text, written)?;
    }
    if let Some(path) = &arguments.markdown {
        let mut text = Vec::new();
        let written = write_markdown_comparison(&mut text, &comparison);
        write_report(path, &text, written)?;
    }
    output::unless_gone(written.and_then(|()| out.flush()))?;
    Ok(if comparison.is_worse() { Exit::Unexpected } else { Exit::Success })
}

fn write_report(path: &str, text: &[u8], made: io::Result<()>) -> Result<(), Problem> {
    let written = made.and_then(|()| replace(Path::new(path), text));
    written.map_err(|cause| Problem::Report { path: path.to_owned(), cause })
}
