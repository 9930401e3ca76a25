//! The suite `smoke` in every way to run it: the output must be the same.

use super::common::{assert_expected, gpu, run, suite};
use dmlcts_runner::Configuration;
use dmlcts_wgpu::Options;

/// `memory` is the maximum memory of a case.
fn passes(options: Options, memory: u64) {
    let Some(gpu) = gpu(options) else { return };
    assert_expected(&run(&gpu, suite("smoke"), Configuration { memory, ..Configuration::default() }));
}

#[test]
fn small_cases_run_together() {
    passes(Options::default(), 64 << 20);
}

#[test]
fn each_case_runs_as_if_it_were_large() {
    passes(Options { batches: false, ..Options::default() }, 1 << 20);
}

#[test]
fn tensors_are_bound_in_parts_of_a_few_cells() {
    // Parts of the input times parts of the output: even small tensors have hundreds.
    passes(Options { batches: false, window: 48, ..Options::default() }, 4 << 10);
}
