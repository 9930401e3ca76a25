//! The exit of a run beyond its verdicts. A run that shows nothing is no success, and neither is a run on a
//! backend that ends badly.

use std::io::Write as _;

use dmlcts_report::{command, counted, ended};
use dmlcts_runner::Summary;

use crate::{exit::Exit, output, problem::Problem};

/// The exit for the verdicts of a run on this backend, or a problem that outranks them.
pub(super) fn conclude(exit: Exit, summary: &Summary, backend: &str) -> Result<Exit, Problem> {
    let bad_end = summary.bad_end.as_ref().map(|what| bad_end(what.clone(), backend));
    // A failure or a lost backend is more important.
    let is_graver = matches!(exit, Exit::Unexpected | Exit::Broken);
    match bad_end.or_else(|| unjudged(summary, backend).filter(|_| !is_graver)) {
        // The user who interrupted the run knows why it ended, and the problem is only noted.
        Some(problem) if exit == Exit::Interrupted => {
            let _ = output::stderr().write_all(problem.render().as_bytes());
            Ok(exit)
        }
        Some(problem) => Err(problem),
        // A quiet run shows nothing else.
        None if exit == Exit::Broken => {
            let how = ended(summary, None).unwrap_or_else(|| "without an answer to each case".to_owned());
            output::note(&format!("error: the run ended {how}"));
            Ok(exit)
        }
        None => Ok(exit),
    }
}

/// The problem that processes of a backend ended badly.
pub(super) fn bad_end(message: String, backend: &str) -> Problem {
    let help = format!(
        "after `bye`, which is where destructors run and leaks are found, a backend is to end with exit code 0; {} whether it does",
        doctor_shows(backend)
    );
    Problem::Backend { message, help }
}

/// The problem that a run shows nothing: every case was skipped, or no output was compared.
fn unjudged(summary: &Summary, backend: &str) -> Option<Problem> {
    let name = &summary.capabilities.name;
    let shows = format!("{} what it declares", doctor_shows(backend));
    if summary.is_unjudged() {
        let all = counted(summary.tally().total(), "case");
        let what = format!(
            "nothing was judged: {all}, and all skipped, since {name} declares that it supports none of them"
        );
        Some(Problem::usage(what, shows))
    } else if summary.is_uncompared() {
        let all = counted(summary.totals.work.too_large, "case");
        let what = format!(
            "no output was compared: {all} would have had one, each with more memory than --memory gives, or with a tensor larger \
             than {name} takes"
        );
        Some(Problem::usage(what, format!("give the run more by --memory; {shows}")))
    } else {
        None
    }
}

fn doctor_shows(backend: &str) -> String {
    format!("`{}` shows", command(&["dmlcts", "doctor", "--backend", backend]))
}
