//! `dmlcts failures`: the cases of a recorded run that failed, each as a command that can be pasted.

use std::io::{self, Write as _};

use dmlcts_report::{command, counted};
use dmlcts_results::{CaseForm, Item, Reader};
use dmlcts_runner::Verdict;

use crate::{arguments::FailuresArguments, exit::Exit, output, problem::Problem};

/// Lists them, in the order of the cases.
pub(crate) fn failures(arguments: &FailuresArguments) -> Result<Exit, Problem> {
    let mut reader = Reader::open(&arguments.file)?;
    let header = reader.header();
    let mut words = ["dmlcts", "run"].map(str::to_owned).to_vec();
    words.extend(header.asked().words().into_iter().chain(header.selection.words_of_a_case()));
    let mut out = output::stdout();
    let (mut cases, mut failed) = (0, 0);
    while let Some(item) = reader.next()? {
        let Item::Case(case) = item else { continue };
        cases += 1;
        // A verdict that this program does not know is worth a look.
        let verdict = Verdict::from_id(&case.verdict);
        let is_known = verdict == Some(Verdict::ExpectedFail);
        if verdict.is_none_or(Verdict::is_unexpected) || is_known && arguments.known {
            failed += 1;
            words.push(case.line.to_string());
            writeln!(out, "{} # {}", command(&words), how(&case))?;
            words.pop();
        }
    }
    out.flush()?;
    if failed == 0 {
        // Where nobody can be told, an empty list tells as much.
        let _ = writeln!(io::stderr(), "none of {} failed", counted(cases, "case"));
    }
    Ok(Exit::Success)
}

/// In which way a case failed, and as what it is known; else what it came to.
fn how(case: &CaseForm<'_>) -> String {
    let mut text = case.class.clone().unwrap_or_else(|| case.verdict.to_string());
    if let Some(rate) = case.rate {
        text.extend([", in ", &rate.failed.to_string(), " of ", &counted(rate.runs.into(), "run")]);
    }
    if let Some(known) = &case.known {
        text.extend([", known as ", known]);
    }
    text
}
