//! `dmlcts failures`: the failed cases of a recorded run, each as a command to paste or to pipe into a shell.
//!
//! The text after `#` names the finding of the case, if the file has a summary.
//!
//! Words of the file are quoted, so that each stays one word, also after `#`. A line that is not a case line
//! is refused: it could be an option.

use std::{fs, io::Write as _};

use dmlcts_diagnose::{Finding, Membership};
use dmlcts_model::{FeatureLevel, line};
use dmlcts_report::{Replay, command, counted};
use dmlcts_results::{CaseForm, Error, Item, Reader};
use dmlcts_runner::Verdict;
use dmlcts_spec::Library;

use crate::{arguments::FailuresArguments, exit::Exit, output, problem::Problem, recorded::strategies};

/// Lists the failed cases in the order of the run.
pub(crate) fn failures(arguments: &FailuresArguments) -> Result<Exit, Problem> {
    let path = &arguments.file;
    let findings = findings(path)?;
    let mut reader = Reader::open(path)?;
    let header = reader.header();
    let level = header.feature_level().unwrap_or(FeatureLevel::NEWEST);
    let mut membership = Membership::new(&findings, Library::embedded(), level);
    let replay = Replay::of(header);
    let mut out = output::stdout();
    // The header is the first line.
    let (mut number, mut cases, mut failed, mut is_cut) = (1, 0, 0, true);
    let again = header.command.clone();
    while let Some(item) = reader.next()? {
        number += 1;
        is_cut &= !matches!(item, Item::Summary(_));
        let Item::Case(case) = item else { continue };
        cases += 1;
        let is_known = case.verdict == Verdict::ExpectedFail;
        if case.verdict.is_unexpected() || is_known && arguments.known {
            failed += 1;
            let parsed = line::parse(&case.line, Library::embedded().signatures()).map_err(|error| {
                let cause = format!("`{}` is not a case: {error}", case.line);
                Error::Line { path: path.clone(), number, cause }
            })?;
            let outcome = case.outcome.as_ref().and_then(|outcome| outcome.outcome().ok());
            let how_failed = case.class.zip(outcome).filter(|_| !is_known);
            let place = how_failed
                .and_then(|(class, outcome)| membership.finding_of(&parsed, (case.verdict, class, &outcome)));
            let finding = place.and_then(|place| findings.get(place));
            // Some shells do not accept comments at a prompt, so that the text after `#` is quoted, too.
            writeln!(out, "{} # {}", replay.run(&case.line), command(&[how(&case, finding)]))?;
        }
    }
    out.flush()?;
    let cases = counted(cases, "case");
    if is_cut {
        let failed = if failed == 0 { "none of which failed" } else { "whose failures are listed" };
        output::note(&format!(
            "note: the run of {path} was cut off after {cases}, {failed}; resume it: {again} --resume {path}"
        ));
    } else if failed == 0 {
        output::note(&format!("none of {cases} failed"));
    }
    Ok(Exit::Success)
}

/// The findings of a file. There are none if the file has no summary, if it is of another version, or if it
/// cannot be read twice, as a pipe.
fn findings(path: &str) -> Result<Vec<Finding>, Problem> {
    if !fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return Ok(Vec::new());
    }
    let mut reader = Reader::open(path)?;
    let mut found = None;
    // The second reading reports the line that cannot be read.
    while let Ok(Some(item)) = reader.next() {
        if let Item::Summary(summary) = item {
            found = Some(summary);
        }
    }
    let strategies = strategies(&reader.header().selection, None);
    let level = reader.header().feature_level();
    let findings =
        found.zip(level.ok()).map(|(found, level)| found.findings(Library::embedded(), &strategies, level));
    Ok(findings.and_then(Result::ok).unwrap_or_default())
}

/// The class of a failure, its finding, and the known failure that it matches; for other cases, the verdict.
fn how(case: &CaseForm<'_>, finding: Option<&Finding>) -> String {
    let mut text = case.class.map_or_else(|| case.verdict.id(), |class| class.id()).to_owned();
    if let Some(rate) = case.rate {
        text.extend([", in ", &rate.failed.to_string(), " of ", &counted(rate.runs.into(), "run")]);
    }
    if let Some(finding) = finding {
        text.extend([", finding ", &finding.id]);
    }
    if let Some(known) = &case.known {
        text.extend([", known as ", known]);
    }
    text
}
