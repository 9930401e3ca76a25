//! `dmlcts doctor`: a first look at a backend, for its author. Is it well, and would the gate notice if it were not?
//!
//! The first half is a run of the suite `smoke`, read question by question ([`reading`]). The second half breaks the
//! backend on purpose, through a shim around it in a process of its own, and shows that each way to be broken fails the run
//! ([`breaking`]). What came to no case is said to be untried, and never to be well.

mod breaking;
mod failed;
mod reading;

use std::{sync::Arc, time::Instant};

use dmlcts_backend::{
    Capabilities, Lack, Purpose,
    process::{Deadline, Incidents, Shutdowns},
};
use dmlcts_model::{DataType, escaped};
use dmlcts_report::{Palette, Tone, counted, span};
use dmlcts_runner::{
    Class, Configuration, Ending, Event, Factory, Run, RunError, Source, Stop, SuiteSource, Summary,
};
use dmlcts_spec::{Library, Operator};

use failed::Failures;

use crate::{
    arguments::DoctorArguments,
    backends::{self, Hosting},
    exit::Exit,
    output,
    problem::Problem,
    selection::load_suite,
    signals,
};

/// Why a check was not tried that no time was left for.
const NO_TIME: &str = "the time was up before";

/// What was found, line by line. It goes on where nobody reads it any more, since the exit code is still to come.
struct Report {
    palette: Palette,
    failures: usize,
    /// The checks that no time was left for.
    late: usize,
    /// The operators and ways in which cases failed that were shown to fail.
    shown: Vec<(usize, Class)>,
}

impl Report {
    /// Shows what is as it should be.
    fn fine(&mut self, what: &str, found: &str) -> Result<(), Problem> {
        self.line(Tone::Good, "ok   ", what, found)
    }

    /// Shows what is not, and what to do.
    fn wrong(&mut self, what: &str, found: &str, remedy: &str) -> Result<(), Problem> {
        self.failures += 1;
        self.line(Tone::Bad, "FAIL ", what, found)?;
        self.below(remedy)
    }

    /// Shows more of the last line.
    fn below(&mut self, text: &str) -> Result<(), Problem> {
        output::show(&format!("{:30} {}", "", self.palette.paint(Tone::Note, escaped(text))))
    }

    /// Shows what there was nothing to tell by. Why not has a line of its own, as a failure.
    fn untried(&mut self, what: &str, why: &str) -> Result<(), Problem> {
        self.line(Tone::Note, "--   ", what, &format!("not tried: {why}"))
    }

    /// Shows that the time was up before this many checks.
    fn late(&mut self, what: &str, checks: usize) -> Result<(), Problem> {
        self.late += checks;
        self.untried(what, NO_TIME)
    }

    /// Shows how many checks no time was left for: a backend is not well for all that they would tell.
    fn end(&mut self) -> Result<(), Problem> {
        if self.late == 0 {
            return Ok(());
        }
        self.failures += 1;
        let were = if self.late == 1 { "was" } else { "were" };
        let checks = counted(self.late as u64, "check");
        let found = format!("{checks} {were} not tried for want of time; --timeout gives more");
        self.line(Tone::Bad, "FAIL ", "tries every check", &found)
    }

    fn line(&mut self, tone: Tone, mark: &str, what: &str, found: &str) -> Result<(), Problem> {
        output::show(&format!("{} {what:<24} {}", self.palette.paint(tone, mark), escaped(found)))
    }
}

/// Looks at a backend, and says how the program ends.
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<Exit, Problem> {
    signals::end_program();
    let mut report = Report { palette: output::palette(), failures: 0, late: 0, shown: Vec::new() };
    // A time that is beyond all clocks is never up.
    let deadline = Instant::now().checked_add(arguments.timeout);
    let hosting = Hosting {
        case_timeout: arguments.case_timeout,
        end: deadline,
        deadline: Deadline::default(),
        max_hangs: None,
        incidents: Incidents::default(),
        in_process: false,
        is_served: false,
    };
    let factory = backends::factory(&arguments.backend, &hosting)?;
    let started = Instant::now();
    // Its processes end when `smoke` has run, so that one that stays delays no check.
    let first = match factory(Purpose::Cases) {
        Ok(backend) => backend,
        Err(error) => {
            let elsewhere = "`dmlcts backends` says who can answer on this machine";
            let remedy = backends::remedy(&arguments.backend, &error);
            report.wrong("starts", &error.to_string(), remedy.as_deref().unwrap_or(elsewhere))?;
            return Ok(Exit::Broken);
        }
    };
    report.fine("starts", &format!("in {}", span(started.elapsed())))?;
    let capabilities = first.capabilities().clone();
    if !declares(&mut report, &capabilities)? {
        return Ok(Exit::Unexpected);
    }
    let (summary, failures) = match smoke(Arc::clone(&factory), deadline) {
        Err(Problem::Run(RunError::Backend(error))) => {
            report.wrong("runs", &error.to_string(), "mend that first: no case was run")?;
            return Ok(Exit::Broken);
        }
        other => other?,
    };
    drop(first);
    let answers = reading::works(&mut report, arguments, &summary, &failures)?;
    ends(&mut report, &hosting.incidents.shutdowns())?;
    let is_lost = summary.ending == Ending::BackendLost;
    if answers && !is_lost {
        breaking::breaks(&mut report, arguments, (&factory, &capabilities), deadline)?;
    }
    // A worker that was left behind may have a process that hangs.
    dmlcts_backend::process::end_all();
    report.end()?;
    if is_lost {
        return Ok(Exit::Broken);
    }
    Ok(if report.failures > 0 { Exit::Unexpected } else { Exit::Success })
}

/// Shows what the backend declares; false where that is nothing that could be tried.
fn declares(report: &mut Report, capabilities: &Capabilities) -> Result<bool, Problem> {
    let known: Vec<&str> = Library::embedded().operators().iter().map(Operator::name).collect();
    let named = capabilities.operators.as_deref();
    let has = |name: &&&str| named.is_none_or(|named| named.iter().any(|operator| operator == **name));
    let operators: Vec<&str> = known.iter().filter(has).copied().collect();
    let Capabilities { name, version, device, feature_level, data_types, lacks, ranks, .. } = capabilities;
    let device = if device.is_empty() { String::new() } else { format!(" ({device})") };
    let without = |lack: &Lack| {
        let types: Vec<String> = lack.data_types.iter().map(DataType::to_string).collect();
        format!(" ({} without {})", lack.operator, types.join(", "))
    };
    let lacks: String = lacks.iter().map(without).collect();
    let found = format!(
        "{name} {version}{device}: {}, {}{lacks} of {} to {} dimensions, at feature level {feature_level}",
        if operators.is_empty() { "no operator".to_owned() } else { operators.join(", ") },
        counted(data_types.len() as u64, "data type"),
        ranks.start(),
        ranks.end(),
    );
    if operators.is_empty() || data_types.is_empty() || ranks.is_empty() {
        let remedy =
            format!("declare at least one of {}, one data type and one dimension count", known.join(", "));
        report.wrong("declares", &found, &remedy)?;
        return Ok(false);
    }
    report.fine("declares", &found)?;
    Ok(true)
}

/// Shows how the processes ended that the run of `smoke` had.
fn ends(report: &mut Report, shutdowns: &Shutdowns) -> Result<(), Problem> {
    let what = "ends when told to";
    if let Some(bad_end) = shutdowns.bad_end() {
        let remedy =
            "end with exit code 0 after `bye`: destructors and what runs at exit are a part of the backend";
        report.wrong(what, &bad_end, remedy)
    } else if shutdowns.late > 0 {
        let found = format!(
            "{} of its {} processes did not, and had to be ended: that takes seconds of each run, and hides what goes wrong at exit",
            shutdowns.late,
            shutdowns.well + shutdowns.late
        );
        report.line(Tone::Note, "note ", what, &found)
    } else if shutdowns.well > 0 {
        report.fine(what, "with exit code 0, each of its processes")
    } else {
        report.untried(what, "it has no process of its own, or none was left to be told")
    }
}

/// Runs something on the backend, until the time is up, and keeps what failed; in smaller cases, too, with `shrink`.
fn run(
    source: Arc<dyn Source>,
    backend: Arc<Factory>,
    (jobs, shrink): (Option<usize>, bool),
    deadline: Option<Instant>,
) -> Result<(Summary, Failures), Problem> {
    let usual = Configuration::default();
    let configuration =
        Configuration { jobs: jobs.unwrap_or(usual.jobs), deadline, shrink, record: true, ..usual };
    let run = Run { library: Library::embedded(), source, backend, configuration, stop: Stop::default() };
    let mut failures = Failures::default();
    let summary = dmlcts_runner::run(&run, &mut |event| {
        if let Event::Cases { cases, .. } = event {
            failures.hear(cases);
        }
    })?;
    Ok((summary, failures))
}

fn smoke(backend: Arc<Factory>, deadline: Option<Instant>) -> Result<(Summary, Failures), Problem> {
    let expansion = load_suite("smoke")?
        .expand(Library::embedded(), 0)
        .map_err(|error| RunError::Backend(format!("the suite `smoke` does not expand: {error}").into()))?;
    run(Arc::new(SuiteSource::new(expansion, &[])), backend, (None, true), deadline)
}
