//! The kernel without a fault is right on a whole suite. So a mutant is wrong because of its fault alone.

use std::sync::Arc;

use dmlcts_generate::Suite;
use dmlcts_mutants::without_fault;
use dmlcts_runner::{Configuration, Run, Stop, SuiteSource, Verdict};
use dmlcts_spec::Library;

#[test]
fn the_kernel_without_a_fault_passes_the_suite() {
    let expansion = Suite::load("smoke").and_then(|suite| suite.expand(Library::embedded(), 0));
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(SuiteSource::new(expansion.expect("the suite expands"), &[])),
        backend: Arc::new(|_| Ok(Box::new(without_fault()))),
        configuration: Configuration::default(),
        stop: Stop::default(),
    };
    let summary = dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts");
    let failed: Vec<_> = summary.groups.iter().map(|group| group.first.case.to_string()).collect();
    assert_eq!(summary.tally().unexpected(), 0, "{failed:#?}");
    assert!(summary.tally().of(Verdict::Pass) > 0);
}
