//! The number of cases up to the first failure of a backend.

use std::sync::Arc;

use dmlcts_spec::Library;

use crate::{CaseSource, Configuration, Ending, Factory, Run, RunError, Runs, Stop, Summary};

/// The number of cases up to the first unexpected verdict of a backend, or up to its loss. `None` if there is
/// neither. The run has one thread.
pub fn cases_to_failure(
    library: &'static Library,
    backend: Arc<Factory>,
    source: &Arc<dyn CaseSource>,
    configuration: Configuration,
) -> Result<Option<u64>, RunError> {
    let configuration = Configuration {
        jobs: 1,
        max_failures: Some(1),
        max_hangs: Some(1),
        retries: 0,
        runs: Runs::default(),
        ..configuration
    };
    let run = Run { library, source: Arc::clone(source), backend, configuration, stop: Stop::default() };
    Ok(first_unexpected(&crate::run(&run, &mut |_| {})?, library.operators().len()))
}

/// The number of cases up to the first unexpected verdict of a run, or up to the loss of its backend.
fn first_unexpected(summary: &Summary, operators: usize) -> Option<u64> {
    let strategies = 0..summary.strategies.len();
    let places = strategies.flat_map(|strategy| (0..operators).map(move |operator| (strategy, operator)));
    let first = places.filter_map(|(strategy, operator)| {
        summary.totals.first_unexpected(strategy, operator).map(|unexpected| unexpected.index + 1)
    });
    first.min().or_else(|| (summary.ending != Ending::Complete).then_some(summary.totals.progress.ran + 1))
}
