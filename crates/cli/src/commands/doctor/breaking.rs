//! Breaks the backend on purpose, at a case that passes. Each kind of fault must fail the run with the
//! expected class.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{Capabilities, OpenError, process::Command};
use dmlcts_diagnose::Explaining;
use dmlcts_model::Case;
use dmlcts_runner::{Configuration, Factory, Listed, RunError, Stop, Summary, Verdict};
use dmlcts_spec::{Library, Operator};

use super::{report::Report, run::run};
use crate::{arguments::DoctorArguments, backends, breakage::Fault, output, problem::Problem};

/// The time that a broken backend may be silent. It hangs on purpose, and a working case takes less.
const PATIENCE: Duration = Duration::from_secs(3);
/// The time that the backend that hangs may be silent at first: each of the waits until its case is blamed
/// takes that long. Where a slow backend fails in another way with that, it gets [`PATIENCE`].
const SHORT: Duration = Duration::from_millis(300);

/// The number of times that a failure runs again. One is enough, and each time repeats the waits of a hang.
const RETRIES: u32 = 1;

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
    let patience = PATIENCE.min(arguments.case_timeout);
    for fault in Fault::ALL {
        let words = ["serve", "--backend", &arguments.backend, "--break", fault.name(), "--break-at", &line];
        let words = [&words[..], &["--parent", &own]].concat();
        let what = format!("notices {}", fault.describe());
        let waits = if fault == Fault::Hang { vec![SHORT.min(patience), patience] } else { vec![patience] };
        let mut seen = None;
        for patience in waits {
            let command = Command::of(program.as_os_str(), &words, "the shim");
            let launcher = backends::launcher(command, patience);
            let end = deadline.and_then(|deadline| deadline.checked_add(Stop::MOMENT));
            let launcher = Arc::new(launcher.with_end(end));
            let backend: Arc<Factory> = Arc::new(move |purpose| Ok(Box::new(launcher.host(purpose)?)));
            let summary = if is_over() { None } else { Some(alone(at, backend, deadline)) };
            // A run that did not start in time, or whose failure did not run again, shows nothing.
            seen = match summary.filter(|_| !is_over()) {
                None => None,
                Some(summary) => Some(summary?.groups.first().map(|group| group.first.class)),
            };
            if matches!(seen, Some(Some(class)) if fault.is_caught_as(class)) {
                break;
            }
        }
        match seen {
            None => report.late(&what, 1)?,
            Some(Some(class)) if fault.is_caught_as(class) => report.fine(&what, &class.to_string())?,
            Some(other) => {
                let found = other.map_or_else(|| "it passed".to_owned(), |class| format!("seen as: {class}"));
                let remedy = "report it, with this line: that is a fault of dmlcts, or the backend fails at this case now and then";
                report.wrong(&what, &found, remedy)?;
            }
        }
    }
    Ok(())
}

/// Whether a backend declares what a case needs.
fn has(declared: &Capabilities, case: &Case) -> bool {
    let operator = &case.desc.signature.operator;
    let has_operator = declared.operators.as_ref().is_none_or(|operators| operators.contains(operator));
    let mut tensors = case.desc.input.iter().chain(&case.desc.output);
    has_operator
        && tensors.all(|tensor| {
            declared.ranks.contains(&tensor.dimension_count)
                && declared.data_types.contains(&tensor.data_type)
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
    let configuration = Configuration { jobs: 1, retries: RETRIES, deadline, ..Configuration::default() };
    Ok(run(
        Arc::new(Listed::new(vec![case.clone()], "example")),
        backend,
        (configuration, &Explaining::NONE),
    )?
    .0
    .summary)
}
