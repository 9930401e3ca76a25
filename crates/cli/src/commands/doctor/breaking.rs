//! Breaks the backend on purpose, at a case that passes. Each kind of fault must fail the run with the
//! expected class.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{
    Capabilities, OpenError,
    process::{Command, Launcher},
};
use dmlcts_model::Case;
use dmlcts_report::span;
use dmlcts_runner::{Configuration, Factory, Listed, RunError, Stop, Summary, Verdict};
use dmlcts_spec::{Library, Operator};

use super::{report::Report, run::run};
use crate::{arguments::DoctorArguments, backends, breakage::Fault, output, problem::Problem};

/// The time that a broken backend may be silent. It hangs on purpose, and a working case takes less.
const PATIENCE: Duration = Duration::from_secs(3);

/// The number of times that a failure runs again. One is enough, and each time repeats the waits of a hang.
const RETRIES: u32 = 1;
/// The maximum number of waits in the check for hangs: three until the case is blamed, and four for each time
/// that the failure runs again.
const HANGS: u32 = 3 + 4 * RETRIES;

/// Breaks the backend with each kind of fault.
pub(super) fn breaks(
    report: &mut Report,
    arguments: &DoctorArguments,
    (factory, declared): (&Arc<Factory>, &Capabilities),
    deadline: Option<Instant>,
) -> Result<(), Problem> {
    let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let examples = Library::embedded().operators().iter().flat_map(Operator::examples);
    // A backend may answer `unsupported` to a case that needs something undeclared, which would be no fault.
    let examples: Vec<&Case> =
        examples.map(|example| &example.case).filter(|case| has(declared, case)).collect();
    if examples.is_empty() {
        return report.untried("and broken on purpose", "no example of the pages is of what it declares");
    }
    let Some(at) = passing(&examples, factory, deadline)? else {
        if is_over() {
            return report.late("and broken on purpose", Fault::ALL.len());
        }
        return report.wrong(
            "and broken on purpose",
            "no example runs and passes, so that breaking one shows nothing",
            "make one of the pages' examples pass first: `dmlcts run --strategy documented` on it shows how each fails",
        );
    };
    output::show(&format!("and broken on purpose, at {at}:"))?;
    let program =
        std::env::current_exe().map_err(|error| RunError::Backend(OpenError::Own(error.to_string())))?;
    let (line, own) = (at.to_string(), std::process::id().to_string());
    for fault in Fault::ALL {
        let words = ["serve", "--backend", &arguments.backend, "--break", fault.name(), "--break-at", &line];
        let command =
            Command::of(program.as_os_str(), &[&words[..], &["--parent", &own]].concat(), "the shim");
        let patience = PATIENCE.min(arguments.case_timeout);
        if fault == Fault::Hang && !is_over() {
            output::note(&wait(patience));
        }
        let launcher = Launcher::new(command, patience).with_probes(backends::examples());
        let end = deadline.and_then(|deadline| deadline.checked_add(Stop::MOMENT));
        let launcher = Arc::new(launcher.with_end(end));
        let backend: Arc<Factory> = Arc::new(move |purpose| Ok(Box::new(launcher.host(purpose)?)));
        let what = format!("notices {}", fault.describe());
        let summary = if is_over() { None } else { Some(alone(at, backend, deadline)) };
        // A run that did not start in time, or whose failure did not run again, shows nothing.
        let Some(summary) = summary.filter(|_| !is_over()) else {
            report.late(&what, 1)?;
            continue;
        };
        let summary = summary?;
        let class = summary.groups.first().map(|group| group.first.class);
        match class {
            Some(class) if fault.is_caught_as(class) => report.fine(&what, &class.to_string())?,
            other => {
                let found = other.map_or_else(|| "it passed".to_owned(), |class| format!("seen as: {class}"));
                let remedy = "report it, with this line: that is a fault of dmlcts, or the backend fails at this case now and then";
                report.wrong(&what, &found, remedy)?;
            }
        }
    }
    Ok(())
}

/// The line before the check for hangs, which prints nothing for a while.
fn wait(patience: Duration) -> String {
    let (all, each) = (span(patience * HANGS), span(patience));
    let shorter = Duration::from_secs(1);
    let advice = if patience > shorter { "; --case-timeout 1s shortens it" } else { "" };
    format!("waiting for up to {all}: the backend hangs on purpose, {HANGS} times for {each}{advice}")
}

/// Whether a backend declares what a case needs.
fn has(declared: &Capabilities, case: &Case) -> bool {
    let operator = &case.desc.signature.operator;
    let has_operator = declared.operators.as_ref().is_none_or(|operators| operators.contains(operator));
    let lacks = |data_type| {
        let of_operator = declared.lacks.iter().filter(|lack| lack.operator == *operator);
        of_operator.flat_map(|lack| &lack.data_types).any(|lacking| *lacking == data_type)
    };
    let mut tensors = case.desc.input.iter().chain(&case.desc.output);
    has_operator
        && tensors.all(|tensor| {
            declared.ranks.contains(&tensor.dimension_count)
                && declared.data_types.contains(&tensor.data_type)
                && !lacks(tensor.data_type)
        })
}

/// The first of these examples that passes on the backend, if one is found before the deadline.
fn passing<'a>(
    examples: &[&'a Case],
    factory: &Arc<Factory>,
    deadline: Option<Instant>,
) -> Result<Option<&'a Case>, Problem> {
    for example in examples {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
        let summary = alone(example, Arc::clone(factory), deadline)?;
        // A case that is only created has no output to break.
        if summary.tally().of(Verdict::Pass) == 1 && summary.totals.work.runs > 0 {
            return Ok(Some(example));
        }
    }
    Ok(None)
}

/// Runs one case.
fn alone(case: &Case, backend: Arc<Factory>, deadline: Option<Instant>) -> Result<Summary, Problem> {
    let configuration =
        Configuration { jobs: 1, retries: RETRIES, shrink: false, deadline, ..Configuration::default() };
    Ok(run(Arc::new(Listed::new(vec![case.clone()], "example")), backend, configuration)?.0)
}
