//! `dmlcts failures`: the failed cases of a recorded run, each as a command to paste or to pipe into a shell.
//!
//! Words of the file are quoted, so that each stays one word, also after `#`. A line that is no case is
//! refused: it could be an option.

use std::io::Write as _;

use dmlcts_model::line;
use dmlcts_report::{command, counted};
use dmlcts_results::{CaseForm, Error, Item, Reader};
use dmlcts_runner::Verdict;
use dmlcts_spec::Library;

use crate::{arguments::FailuresArguments, exit::Exit, output, problem::Problem};

/// Lists the failed cases in the order of the run.
pub(crate) fn failures(arguments: &FailuresArguments) -> Result<Exit, Problem> {
    let path = &arguments.file;
    let mut reader = Reader::open(path)?;
    let header = reader.header();
    let mut words = ["dmlcts", "run"].map(str::to_owned).to_vec();
    words.extend(header.backend_options().words().into_iter().chain(header.selection.words_of_a_case()));
    let mut out = output::stdout();
    // The header is the first line.
    let (mut number, mut cases, mut failed) = (1, 0, 0);
    while let Some(item) = reader.next()? {
        number += 1;
        let Item::Case(case) = item else { continue };
        cases += 1;
        let is_known = case.verdict == Verdict::ExpectedFail;
        if case.verdict.is_unexpected() || is_known && arguments.known {
            failed += 1;
            line::parse(&case.line, Library::embedded().signatures()).map_err(|error| {
                let cause = format!("`{}` is no case: {error}", case.line);
                Error::Line { path: path.clone(), number, cause }
            })?;
            words.push(case.line.to_string());
            // Some shells do not accept comments at a prompt, so that the text after `#` is quoted, too.
            writeln!(out, "{} # {}", command(&words), command(&[how(&case)]))?;
            words.pop();
        }
    }
    out.flush()?;
    if failed == 0 {
        output::note(&format!("none of {} failed", counted(cases, "case")));
    }
    Ok(Exit::Success)
}

/// The class of a failure and the known failure that it matches; for other cases, the verdict.
fn how(case: &CaseForm<'_>) -> String {
    let mut text = case.class.map_or_else(|| case.verdict.id(), |class| class.id()).to_owned();
    if let Some(rate) = case.rate {
        text.extend([", in ", &rate.failed.to_string(), " of ", &counted(rate.runs.into(), "run")]);
    }
    if let Some(known) = &case.known {
        text.extend([", known as ", known]);
    }
    text
}
