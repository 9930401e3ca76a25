//! The suite `smoke` against the reference, at every feature level that supports something new.
//! `.ci/mutation` runs this test on the reference with one fault at a time, so it ends at the first failure.

use std::{collections::BTreeSet, sync::Arc};

use dmlcts_generate::Suite;
use dmlcts_model::FeatureLevel;
use dmlcts_reference::Reference;
use dmlcts_runner::{Configuration, Factory, Run, Runs, Stop, SuiteSource};
use dmlcts_spec::Library;

/// The levels of rows of support and of enumerators.
fn levels() -> BTreeSet<FeatureLevel> {
    let operators = Library::embedded().operators().iter();
    let since = operators.flat_map(|operator| {
        let rows = operator.support().iter().map(|row| row.since);
        rows.chain(operator.modes().iter().map(|mode| mode.since))
    });
    since.collect()
}

#[test]
fn the_reference_passes_smoke_at_every_level() {
    let suite = Suite::load("smoke").unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"));
    let source = Arc::new(SuiteSource::new(expansion, &[]));
    // Most faults show at the newest level.
    for level in levels().into_iter().rev() {
        let backend: Arc<Factory> = Arc::new(|_| Ok(Box::new(Reference::backend())));
        let configuration = Configuration {
            level: Some(level),
            runs: Runs::Once,
            retries: 0,
            max_failures: Some(1),
            ..Configuration::default()
        };
        let source = Arc::clone(&source) as Arc<_>;
        let run = Run { library: Library::embedded(), source, backend, configuration, stop: Stop::default() };
        let summary = dmlcts_runner::run(&run, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(summary.lost, None);
        let failures: Vec<String> = summary
            .groups
            .iter()
            .map(|group| format!("{}: {}", group.first.case, group.first.class))
            .collect();
        assert!(failures.is_empty(), "at {level}: {failures:#?}");
    }
}
