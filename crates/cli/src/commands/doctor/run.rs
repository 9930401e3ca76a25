//! Runs of `doctor`, which keep the failed cases.

use std::{sync::Arc, time::Instant};

use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions};
use dmlcts_runner::{
    CaseSource, Configuration, Event as RunEvent, Factory, Run, RunError, Stop, SuiteSource,
};
use dmlcts_spec::Library;

use super::failed::Failures;
use crate::{problem::Problem, selection::load_suite};

/// Runs cases on the backend, and keeps those that failed.
pub(super) fn run(
    source: Arc<dyn CaseSource>,
    backend: Arc<Factory>,
    (configuration, explaining): (Configuration, &ExplainOptions),
) -> Result<(Diagnosis, Failures), Problem> {
    let configuration = Configuration { record: true, ..configuration };
    let run = Run { library: Library::embedded(), source, backend, configuration, stop: Stop::default() };
    let mut failures = Failures::default();
    let diagnosis = dmlcts_diagnose::run(&run, explaining, &mut |event| {
        if let Event::Run(RunEvent::Cases { cases, .. }) = event {
            failures.hear(cases);
        }
    })?;
    Ok((diagnosis, failures))
}

/// Runs the suite `smoke`.
pub(super) fn smoke(
    backend: Arc<Factory>,
    deadline: Option<Instant>,
) -> Result<(Diagnosis, Failures), Problem> {
    let expansion = load_suite("smoke")?
        .expand(Library::embedded(), 0)
        .map_err(|error| RunError::Backend(format!("the suite `smoke` does not expand: {error}").into()))?;
    let configuration = Configuration { deadline, ..Configuration::default() };
    run(Arc::new(SuiteSource::new(expansion, &[])), backend, (configuration, &ExplainOptions::default()))
}
