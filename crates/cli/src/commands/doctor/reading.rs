//! Reads a run of `smoke`, question by question.

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_model::Outcome;
use dmlcts_report::{Replay, Tone, counted, grouped, rate, span};
use dmlcts_results::BackendOptions;
use dmlcts_runner::{Class, Ending, Summary, Tally, Verdict};
use dmlcts_spec::{Library, Operator};

use super::{
    failed::{Failed, Failures},
    report::Report,
};
use crate::{arguments::DoctorArguments, problem::Problem};

/// The remedy if no failed case was kept.
const SEE_THE_RUN: &str = "`dmlcts run` on it names the cases";

/// Reads the run. Returns false if the backend answered nothing.
pub(super) fn works(
    report: &mut Report,
    arguments: &DoctorArguments,
    diagnosis: &Diagnosis,
    failures: &Failures,
) -> Result<bool, Problem> {
    let options = BackendOptions {
        argument: arguments.backend.clone(),
        in_process: false,
        case_timeout: arguments.case_timeout,
        memory: None,
    };
    let summary = &diagnosis.summary;
    let reading = Reading { summary, findings: &diagnosis.findings, failures, options };
    let all = summary.tally();
    let is_answered = all.tried() > broken(&all);
    // Cases that are skipped because of the declaration say nothing about the checks.
    let is_excused = summary.ending == Ending::Complete && all.of(Verdict::Skip) == all.total();
    if !is_answered && !is_excused {
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

/// A run of `smoke` and its results.
struct Reading<'a> {
    summary: &'a Summary,
    findings: &'a [Finding],
    failures: &'a Failures,
    /// The backend and its options, for a command that runs a case again.
    options: BackendOptions,
}

impl Reading<'_> {
    fn tally(&self, strategy: &str) -> Tally {
        let found = self.summary.strategies.iter().find(|(name, _)| name == strategy);
        found.map_or_else(Tally::default, |(_, tally)| *tally)
    }

    /// Shows a failed check with its first case, in the smallest form that was found: the failure, its number
    /// of cases, and the command that runs the case again. Without a case, it shows the remedy. Failures of
    /// an operator and class that were shown already count as the same mistake.
    fn wrong(
        &self,
        report: &mut Report,
        (what, found): (&str, &str),
        wanted: impl Fn(&Failed) -> bool,
        remedy: &str,
    ) -> Result<(), Problem> {
        let failed: Vec<&Failed> = self.failures.all(wanted).collect();
        let Some(news) =
            failed.iter().find(|failed| !report.shown.contains(&(failed.operator, failed.class)))
        else {
            if failed.is_empty() {
                return report.wrong(what, found, remedy);
            }
            return report.line(Tone::Bad, "also ", what, &format!("{found}, in the same way as above"));
        };
        report.shown.push((news.operator, news.class));
        let operator = Library::embedded().operators().get(news.operator).map(Operator::name);
        let alike =
            |one: &&Finding| Some(one.first.operator.name()) == operator && one.first.class == news.class;
        let alike: Vec<&Finding> = self.findings.iter().filter(alike).collect();
        let one = match alike.iter().map(|group| group.cases).sum() {
            0 | 1 => "for one".to_owned(),
            cases => format!("for one of {} of {}", counted(cases, "case"), operator.unwrap_or_default()),
        };
        report.wrong(what, found, &format!("{one}: {}", news.cause))?;
        let group = alike.iter().find(|group| group.first.judgement.violated == news.violated);
        let smallest = group.and_then(|group| group.smallest.as_ref()).map(|small| small.case.to_string());
        let line = smallest.as_ref().unwrap_or(&news.line);
        let replay = Replay { options: self.options.words() };
        report.below(&format!("look at it: {}", replay.run(line)))
    }

    fn has(&self, wanted: impl Fn(&Failed) -> bool) -> bool {
        self.failures.all(wanted).next().is_some()
    }

    /// Shows a check for which no case ran, and why.
    fn untried(&self, report: &mut Report, what: &str) -> Result<(), Problem> {
        match self.summary.ending {
            Ending::BackendLost => report.untried(what, "the backend was lost before"),
            Ending::Complete => report.untried(what, "the backend declares that it supports none of them"),
            _ => report.late(what),
        }
    }

    /// Shows a check that needs an operator to run.
    fn unrun(&self, report: &mut Report, what: &str) -> Result<(), Problem> {
        match self.summary.ending {
            Ending::Timeout => report.late(what),
            _ => report.untried(what, "no operator ran"),
        }
    }

    /// Shows that a backend said hello and answered nothing.
    fn nothing(&self, report: &mut Report, arguments: &DoctorArguments) -> Result<(), Problem> {
        let all = self.summary.tally();
        let found = match &self.summary.lost {
            Some(reason) => reason.clone(),
            None if all.tried() == 0 => format!("to no case within {}", span(arguments.timeout)),
            None => format!("to none of {}", counted(all.tried(), "case")),
        };
        let remedy = "fix that first: it answers nothing that it is asked";
        self.wrong(report, ("answers", &found), |_| true, remedy)
    }

    fn examples(&self, report: &mut Report) -> Result<(), Problem> {
        let (what, tally) = ("answers the examples", self.tally("documented"));
        match (tally.tried(), wrong(&tally)) {
            (0, _) if tally.total() > 0 && tally.total() == tally.of(Verdict::Skip) => {
                report.wrong(what, "none is of what it declares", "declare what it can do")
            }
            (0, _) => self.untried(report, what),
            (tried, 0) => {
                let found = format!(
                    "{} of Microsoft's pages, on every type and rank that it declares",
                    counted(tried, "example")
                );
                report.fine(what, &found)
            }
            (tried, wrong) => {
                let found = format!("{} of {} are wrong", grouped(wrong), grouped(tried));
                self.wrong(report, (what, &found), |failed| failed.strategy == "documented", SEE_THE_RUN)
            }
        }
    }

    fn invalid_descs(&self, report: &mut Report) -> Result<(), Problem> {
        let tally = self.tally("negative");
        let (survives, refuses) = ("survives invalid descs", "refuses them");
        let tried = tally.tried();
        if tried == 0 {
            self.untried(report, survives)?;
            return self.untried(report, refuses);
        }
        let of_negative = |wanted: fn(&Failed) -> bool| {
            move |failed: &Failed| failed.strategy == "negative" && wanted(failed)
        };
        let count = |wanted: fn(&Failed) -> bool| -> u64 {
            self.failures.all(of_negative(wanted)).map(|failed| failed.cases).sum()
        };
        let [is_ended, is_taken, is_neighbour]: [fn(&Failed) -> bool; 3] = [
            |failed| !failed.is_valid() && failed.is_break(),
            |failed| !failed.is_valid() && !failed.is_break() && failed.class != Class::Lost,
            |failed| failed.is_valid() && failed.class != Class::Lost,
        ];
        let (total, ended, taken) = (grouped(tried), count(is_ended), count(is_taken));
        let neighbours = count(is_neighbour);
        if ended == 0 {
            report.fine(survives, &format!("{total} cases, each one flaw away from valid"))?;
        } else {
            let found =
                format!("{} of {total} ended it, made it hang, or had it lose its way", grouped(ended));
            self.wrong(report, (survives, &found), of_negative(is_ended), SEE_THE_RUN)?;
        }
        match taken {
            _ if broken(&tally) == tried => report.untried(refuses, "it survives none")?,
            0 if neighbours == 0 => report.fine(refuses, "and accepts their valid neighbours")?,
            0 => report.fine(refuses, "with an error, as it should")?,
            _ => {
                let found = format!("{} of {total} are answered in another way", grouped(taken));
                self.wrong(report, (refuses, &found), of_negative(is_taken), SEE_THE_RUN)?;
            }
        }
        if neighbours > 0 && broken(&tally) < tried {
            let found = format!("{} beside invalid ones went wrong", counted(neighbours, "valid case"));
            let what = "answers their neighbours";
            self.wrong(report, (what, &found), of_negative(is_neighbour), SEE_THE_RUN)?;
        }
        Ok(())
    }

    fn memory(&self, report: &mut Report) -> Result<(), Problem> {
        let touches = |failed: &Failed| matches!(failed.outcome, Outcome::Strayed(_));
        let forgets = |failed: &Failed| failed.class == Class::Remembered;
        let (keeps, remembers) = ("keeps to its memory", "remembers nothing");
        let runs = self.summary.totals.work.runs;
        if self.has(touches) {
            self.wrong(report, (keeps, "something else was written to"), touches, SEE_THE_RUN)?;
        } else if runs == 0 {
            self.unrun(report, keeps)?;
        } else if self.options.argument.starts_with("exec:") {
            // The memory of another program's process cannot be read.
            report.untried(keeps, "nobody sees into the memory of another program's process")?;
        } else {
            report.fine(keeps, "guards around outputs are whole, inputs as they were")?;
        }
        if self.has(forgets) {
            let found = "a later run of the same operator went wrong";
            self.wrong(report, (remembers, found), forgets, SEE_THE_RUN)
        } else if runs == 0 {
            self.unrun(report, remembers)
        } else {
            report.fine(remembers, "a created operator ran again on other data")
        }
    }

    fn elsewhere(&self, report: &mut Report) -> Result<(), Problem> {
        let (all, documented, negative) =
            (self.summary.tally(), self.tally("documented"), self.tally("negative"));
        let rest = |count: fn(&Tally) -> u64| count(&all) - count(&documented) - count(&negative);
        let what = "holds elsewhere";
        match (rest(Tally::tried), rest(wrong)) {
            (0, _) => self.untried(report, what),
            (tried, 0) => report.fine(what, &format!("{} further cases of `smoke`", grouped(tried))),
            (tried, wrong) => {
                let is_other =
                    |failed: &Failed| !["documented", "negative"].contains(&failed.strategy.as_str());
                let found =
                    format!("{} of {} further cases of `smoke` are wrong", grouped(wrong), grouped(tried));
                self.wrong(report, (what, &found), is_other, SEE_THE_RUN)
            }
        }
    }

    fn speed(&self, report: &mut Report) -> Result<(), Problem> {
        let (tried, elapsed) = (self.summary.tally().tried(), self.summary.totals.elapsed);
        let found =
            format!("{} cases/s: {} in {}", rate(tried, elapsed), counted(tried, "case"), span(elapsed));
        match self.summary.ending {
            Ending::Complete => report.fine("keeps up", &found),
            Ending::BackendLost => {
                let reason = self.summary.lost.as_deref().unwrap_or("it was lost");
                report.wrong("goes on", reason, "fix the first failure above")
            }
            _ => report.wrong("keeps up", &found, &too_slow(&self.summary.tally())),
        }
    }
}

/// The remedy if the deadline came, depending on the verdicts so far.
fn too_slow(tally: &Tally) -> String {
    match tally.of(Verdict::Timeout) {
        0 => "that is slow for `smoke`: keep what is costly to create, or give it more --timeout".to_owned(),
        hung => format!(
            "it hung at {}, each for as long as --case-timeout: fix that first, bear with less by \
             --case-timeout, or declare `create_timeout` if it compiles",
            counted(hung, "case")
        ),
    }
}

/// The number of cases with an unexpected verdict.
fn wrong(tally: &Tally) -> u64 {
    tally.unexpected() - tally.of(Verdict::Lost)
}

/// The number of cases that crashed the backend or timed out.
fn broken(tally: &Tally) -> u64 {
    tally.of(Verdict::Crash) + tally.of(Verdict::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_backend_gets_no_advice_on_speed() {
        let mut tally = Tally::default();
        tally.count_many(Verdict::Pass, 100);
        assert!(too_slow(&tally).starts_with("that is slow for `smoke`"));
        tally.count_many(Verdict::Timeout, 3);
        assert!(too_slow(&tally).starts_with("it hung at 3 cases, each for as long as --case-timeout"));
    }
}
