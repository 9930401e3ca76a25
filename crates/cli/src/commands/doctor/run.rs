//! Runs of `doctor`, which keep the failed cases.

use std::{sync::Arc, time::Instant};

use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions};
use dmlcts_runner::{CaseSource, Configuration, Event as RunEvent, Factory, Run, Stop, SuiteSource};
use dmlcts_spec::Library;

use super::failed::Failures;
use crate::{problem::Problem, selection::expand};

/// Runs cases on the backend, and keeps those that failed.
pub(super) fn run(
    source: Arc<dyn CaseSource>,
    backend: Arc<Factory>,
    (configuration, explaining): (Configuration, &ExplainOptions),
) -> Result<(Diagnosis, Failures), Problem> {
    let configuration = Configuration { record: true, ..configuration };
    let strategies = source.strategies();
    let run = Run { library: Library::embedded(), source, backend, configuration, stop: Stop::default() };
    let mut failures = Failures::default();
    let diagnosis = dmlcts_diagnose::run(&run, explaining, &mut |event| {
        if let Event::Run(RunEvent::Cases { cases, .. }) = event {
            failures.add(cases, &strategies);
        }
    })?;
    Ok((diagnosis, failures))
}

/// Runs the suite `smoke`.
pub(super) fn smoke(
    backend: Arc<Factory>,
    deadline: Option<Instant>,
) -> Result<(Diagnosis, Failures), Problem> {
    let source = Arc::new(SuiteSource::new(expand("smoke", 0)?, &[]));
    let configuration = Configuration { deadline, ..Configuration::default() };
    run(source, backend, (configuration, &ExplainOptions::default()))
}
