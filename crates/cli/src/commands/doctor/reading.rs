//! A run of `smoke`, read question by question: what does it tell of a backend?

use dmlcts_model::Outcome;
use dmlcts_report::{command, counted, grouped, rate, span};
use dmlcts_runner::{Class, Ending, Failure, Summary, Tally, Verdict};

use super::Report;
use crate::{arguments::DoctorArguments, problem::Problem};

/// Reads the run; false where the backend answered nothing at all, so that there was nothing to read.
pub(super) fn works(
    report: &mut Report,
    arguments: &DoctorArguments,
    summary: &Summary,
) -> Result<bool, Problem> {
    let reading = Reading { summary, backend: &arguments.backend };
    let all = summary.tally();
    let is_answered = tried(&all) > broken(&all);
    if !is_answered && (all.total() == 0 || all.of(Verdict::Skip) < all.total()) {
        reading.nothing(report, arguments)?;
        return Ok(false);
    }
    reading.examples(report)?;
    reading.invalid_descs(report)?;
    reading.memory(report)?;
    reading.elsewhere(report)?;
    reading.speed(report)?;
    Ok(true)
}

/// A run, and what it tells of a backend.
struct Reading<'a> {
    summary: &'a Summary,
    backend: &'a str,
}

impl Reading<'_> {
    fn tally(&self, strategy: &str) -> Tally {
        let found = self.summary.strategies.iter().find(|(name, _)| name == strategy);
        found.map_or_else(Tally::default, |(_, tally)| *tally)
    }

    /// How the first failure of this kind went, and how to see it again; empty where there is none.
    fn first(&self, wanted: impl Fn(&Failure) -> bool) -> Option<String> {
        let failure = self.summary.groups.iter().map(|group| &group.first).find(|failure| wanted(failure))?;
        let case = failure.case.to_string();
        let words = ["dmlcts", "run", "--backend", self.backend, &case].map(str::to_owned);
        Some(format!("{}: {}", failure.class, command(&words)))
    }

    /// Why cases that were to run did not.
    fn cut(&self) -> &'static str {
        match self.summary.ending {
            Ending::BackendLost => "the backend was lost before",
            Ending::Complete => "the backend declares nothing that they need",
            _ => "the time was up before",
        }
    }

    /// A backend that said hello, and nothing more.
    fn nothing(&self, report: &mut Report, arguments: &DoctorArguments) -> Result<(), Problem> {
        let all = self.summary.tally();
        let found = match &self.summary.lost {
            Some(reason) => reason.clone(),
            None if all.total() == 0 => format!("to no case within {}", span(arguments.timeout)),
            None => format!("to none of {}", counted(all.total(), "case")),
        };
        let remedy = self.first(|_| true);
        let remedy = remedy.as_deref().unwrap_or("mend that first: it answers nothing that it is asked");
        report.wrong("answers", &found, remedy)
    }

    fn examples(&self, report: &mut Report) -> Result<(), Problem> {
        let (what, tally) = ("answers the examples", self.tally("documented"));
        match (tried(&tally), wrong(&tally)) {
            (0, _) if tally.total() > 0 && tally.total() == tally.of(Verdict::Skip) => {
                report.wrong(what, "none is of what it declares", "declare what it can do")
            }
            (0, _) => report.untried(what, self.cut()),
            (tried, 0) => {
                let found = format!(
                    "{} of the pages' examples, on every type and rank that it declares",
                    grouped(tried)
                );
                report.fine(what, &found)
            }
            (tried, wrong) => {
                let found = format!("{} of {} are wrong", grouped(wrong), grouped(tried));
                let remedy = self.first(|failure| failure.strategy == "documented");
                report.wrong(what, &found, &remedy.unwrap_or_default())
            }
        }
    }

    fn invalid_descs(&self, report: &mut Report) -> Result<(), Problem> {
        let tally = self.tally("negative");
        let (survives, refuses) = ("survives invalid descs", "refuses them");
        let tried = tried(&tally);
        if tried == 0 {
            report.untried(survives, self.cut())?;
            return report.untried(refuses, self.cut());
        }
        let (total, broken) = (grouped(tried), broken(&tally));
        if broken == 0 {
            report.fine(survives, &format!("{total} cases, each one flaw away from valid"))?;
        } else {
            let remedy = self.first(|failure| failure.strategy == "negative" && is_break(failure.class));
            let found = format!("{} of {total} ended it", grouped(broken));
            report.wrong(survives, &found, &remedy.unwrap_or_default())?;
        }
        match wrong(&tally) - broken {
            _ if broken == tried => report.untried(refuses, "it survives none"),
            0 => report.fine(refuses, "and accepts their valid neighbours"),
            wrong => {
                let remedy = self.first(|failure| failure.strategy == "negative" && !is_break(failure.class));
                let found = format!("{} of {total} answers are wrong", grouped(wrong));
                report.wrong(refuses, &found, &remedy.unwrap_or_default())
            }
        }
    }

    fn memory(&self, report: &mut Report) -> Result<(), Problem> {
        // A worker process says in words what it found in its memory.
        let touches = |failure: &Failure| {
            matches!(failure.class, Class::WroteOutside | Class::InputChanged)
                || matches!(&failure.outcome, Outcome::Failed { reason, .. } if reason.contains("memory of the"))
        };
        let (keeps, remembers) = ("keeps to its memory", "remembers nothing");
        let runs = self.summary.totals.work.runs;
        match self.first(touches) {
            Some(remedy) => report.wrong(keeps, "something else was written to", &remedy)?,
            None if runs == 0 => report.untried(keeps, "no operator ran")?,
            // Nobody sees into a process that is not this program's.
            None if self.backend.starts_with("exec:") => {
                report.fine(keeps, "as far as its answers tell: a process's memory is its own")?;
            }
            None => report.fine(keeps, "guards around outputs are whole, inputs as they were")?,
        }
        match self.first(|failure| failure.class == Class::Remembered) {
            None if runs == 0 => report.untried(remembers, "no operator ran"),
            None => report.fine(remembers, "a created operator ran again on other data"),
            Some(remedy) => report.wrong(remembers, "a later run of the same operator went wrong", &remedy),
        }
    }

    fn elsewhere(&self, report: &mut Report) -> Result<(), Problem> {
        let (all, documented, negative) =
            (self.summary.tally(), self.tally("documented"), self.tally("negative"));
        let rest = |count: fn(&Tally) -> u64| count(&all) - count(&documented) - count(&negative);
        let what = "holds elsewhere";
        match (rest(tried), rest(wrong)) {
            (0, _) => report.untried(what, self.cut()),
            (tried, 0) => report.fine(what, &format!("{} further cases of `smoke`", grouped(tried))),
            (tried, wrong) => {
                let is_other = |failure: &Failure| !matches!(&*failure.strategy, "documented" | "negative");
                let found =
                    format!("{} of {} further cases of `smoke` are wrong", grouped(wrong), grouped(tried));
                report.wrong(what, &found, &self.first(is_other).unwrap_or_default())
            }
        }
    }

    fn speed(&self, report: &mut Report) -> Result<(), Problem> {
        let (ran, elapsed) = (self.summary.totals.progress.ran, self.summary.totals.elapsed);
        let found = format!("{} cases/s: {} in {}", rate(ran, elapsed), counted(ran, "case"), span(elapsed));
        match self.summary.ending {
            Ending::Complete => report.fine("keeps up", &found),
            Ending::BackendLost => {
                let reason = self.summary.lost.as_deref().unwrap_or("it was lost");
                report.wrong("goes on", reason, "mend the first failure above")
            }
            _ => {
                let remedy =
                    "that is slow for `smoke`: keep what is costly to create, or give it more --timeout";
                report.wrong("keeps up", &found, remedy)
            }
        }
    }
}

/// Cases that the backend was asked.
fn tried(tally: &Tally) -> u64 {
    tally.total() - tally.of(Verdict::Skip) - tally.of(Verdict::Lost)
}

/// Those whose verdict is unexpected.
fn wrong(tally: &Tally) -> u64 {
    tally.unexpected() - tally.of(Verdict::Lost)
}

/// Those that ended the backend, or that it was silent about.
fn broken(tally: &Tally) -> u64 {
    tally.of(Verdict::Crash) + tally.of(Verdict::Timeout)
}

fn is_break(class: Class) -> bool {
    matches!(class, Class::Crashed | Class::TimedOut)
}
