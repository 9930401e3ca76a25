//! Findings of whole runs, on backends that behave as their test says.

mod budgets;
mod earlier;
mod findings;
#[path = "../../../runner/tests/it/fixture.rs"]
#[allow(dead_code, reason = "the tests of the runner use the rest")]
mod fixture;
mod flakes;
mod fourth_operator;
mod shrunk;

use dmlcts_diagnose::{Diagnosis, ExplainOptions};
use dmlcts_runner::Run;

/// A run and its findings. `cases` is the number of cases that a finding may cost.
fn diagnosed(run: &Run, cases: Option<usize>) -> Diagnosis {
    dmlcts_diagnose::run(run, &ExplainOptions { cases, ..ExplainOptions::default() }, &mut |_| {})
        .expect("the backend starts")
}
