//! `dmlcts doctor`: a first look at a backend, for its author. It shows whether the backend works.
//!
//! Most of it is a run of the suite `smoke`, read question by question ([`reading`]). The runs behind it ask
//! for cases that the backend declares to lack ([`lacks`]). A check without a case is reported as untried,
//! never as passed.

mod failed;
mod lacks;
mod reading;
mod report;
mod run;

use std::{sync::Arc, time::Instant};

use dmlcts_backend::{
    Capabilities, Purpose,
    process::{Incidents, Shutdowns},
};
use dmlcts_report::{Tone, command, counted, span};
use dmlcts_runner::{Ending, RunError};
use dmlcts_spec::{Library, Operator};

use report::Report;
use run::smoke;

use crate::{
    arguments::DoctorArguments,
    backends::{self, Hosting},
    colour,
    exit::Exit,
    output,
    problem::Problem,
    remedy, signals,
};

/// Checks a backend, and returns the program's exit.
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<Exit, Problem> {
    signals::end_program();
    let mut report = Report::new(colour::style());
    // A timeout beyond the range of the clock means no deadline.
    let deadline = Instant::now().checked_add(arguments.timeout);
    let (case_timeout, memory) = (arguments.case_timeout, arguments.backend_memory);
    let hosting = Hosting { case_timeout, end: deadline, memory, ..Hosting::default() };
    let factory = backends::factory(&arguments.backend, &hosting)?;
    let started = Instant::now();
    // Its processes end after the run of `smoke`, so that a process that does not end delays no check.
    let first = match factory(Purpose::Cases) {
        Ok(backend) => backend,
        Err(error) => {
            let elsewhere = "`dmlcts backends` says who can answer on this machine";
            let remedy = remedy::of_backend(&arguments.backend, &error);
            report.wrong("starts", &error.to_string(), remedy.as_deref().unwrap_or(elsewhere))?;
            return Ok(Exit::Broken);
        }
    };
    report.fine("starts", &format!("in {}", span(started.elapsed())))?;
    let capabilities = first.capabilities().clone();
    if !declares(&mut report, &capabilities)? {
        return Ok(Exit::Unexpected);
    }
    environment(&mut report, &arguments.backend, &hosting, &capabilities)?;
    let (diagnosis, failures) = match smoke(Arc::clone(&factory), deadline) {
        Err(Problem::Run(RunError::Backend(error))) => {
            report.wrong("runs", &error.to_string(), "fix that first: no case was run")?;
            return Ok(Exit::Broken);
        }
        other => other?,
    };
    drop(first);
    let answers = reading::works(&mut report, arguments, &diagnosis, &failures)?;
    ends(&mut report, &hosting.incidents.shutdowns())?;
    if answers {
        lacks::refuses(&mut report, (&factory, &capabilities), deadline)?;
    }
    let is_lost = diagnosis.summary.ending == Ending::BackendLost;
    // A worker that was left behind may have a process that hangs.
    dmlcts_backend::process::end_all();
    report.end()?;
    next(&arguments.backend)?;
    if is_lost {
        return Ok(Exit::Broken);
    }
    Ok(if report.failures > 0 { Exit::Unexpected } else { Exit::Success })
}

/// Shows the runs that follow, each of which asks more than the one before.
fn next(backend: &str) -> Result<(), Problem> {
    let runs = [
        ("--fail-fast", "the first failure"),
        ("--strategy documented", "the examples of the pages, on every type"),
        ("--where valid", "without what must be refused"),
        ("", "the suite `smoke`"),
        ("--suite ci", "the gate"),
    ];
    for (place, (options, what)) in runs.iter().enumerate() {
        let head = if place == 0 { "next" } else { "" };
        let words = ["dmlcts", "run", "--backend", backend].into_iter().chain(options.split_whitespace());
        let words: Vec<&str> = words.collect();
        output::show(&format!("{head:<5} {}    # {what}", command(&words)))?;
    }
    Ok(())
}

/// Shows the backend's declaration. Returns false if nothing in it could be tested.
fn declares(report: &mut Report, capabilities: &Capabilities) -> Result<bool, Problem> {
    let known: Vec<&str> = Library::embedded().operators().iter().map(Operator::name).collect();
    let named = capabilities.operators.as_deref();
    let has = |name: &&&str| named.is_none_or(|named| named.iter().any(|operator| operator == **name));
    let operators: Vec<&str> = known.iter().filter(has).copied().collect();
    let Capabilities { name, version, device, feature_level, data_types, lacks, ranks, .. } = capabilities;
    let device = if device.is_empty() { String::new() } else { format!(" ({device})") };
    let lacks = match lacks.len() as u64 {
        0 => String::new(),
        count => format!("; {} declared", counted(count, "lack")),
    };
    let found = format!(
        "{name} {version}{device}: {}, {} of {} to {} dimensions, at feature level {feature_level}{lacks}",
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

/// Starts the backend without the variables of this environment, except `PATH` and `HOME`, and shows if it is
/// another one then. The printed commands name no variables, so that such a backend fails here and passes
/// elsewhere.
fn environment(
    report: &mut Report,
    backend: &str,
    hosting: &Hosting,
    capabilities: &Capabilities,
) -> Result<(), Problem> {
    let Some(command) = backend.strip_prefix("exec:").filter(|_| cfg!(unix)) else { return Ok(()) };
    let kept = ["PATH", "HOME"].map(|name| std::env::var(name).map(|value| format!("{name}={value}")));
    let kept: Vec<String> = kept.into_iter().flatten().collect();
    if kept.iter().any(|variable| variable.contains('"')) {
        return Ok(());
    }
    let kept = kept.iter().fold(String::new(), |words, variable| words + "\"" + variable + "\" ");
    let hosting = Hosting { incidents: Incidents::default(), ..hosting.clone() };
    let bare = backends::factory(&format!("exec:env -i {kept}{command}"), &hosting)?(Purpose::Cases);
    let of = |one: &Capabilities| [&one.name, &one.version, &one.device, &one.driver].map(Clone::clone);
    let found = match bare.map(|bare| bare.capabilities().clone()) {
        Err(_) => "it does not start without the variables of this environment".to_owned(),
        Ok(bare) if of(&bare) != of(capabilities) => {
            let named = of(&bare).join(" ");
            format!("without the variables of this environment it is {}", named.trim_end())
        }
        Ok(_) => return Ok(()),
    };
    report.line(Tone::Note, "note ", "depends on variables", &found)?;
    report.below("name them in its command, so that the printed commands repeat a case: --backend 'exec:env NAME=value ...'")
}

/// Shows how the processes of the `smoke` run ended.
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
