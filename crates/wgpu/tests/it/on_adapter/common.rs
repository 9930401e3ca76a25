//! An adapter to test on, and running suites on it.

use std::{
    io::Write,
    sync::{Arc, OnceLock},
};

use dmlcts_generate::Suite;
use dmlcts_runner::{CaseSource, Configuration, Listed, Run, Stop, SuiteSource, Summary};
use dmlcts_spec::Library;
use dmlcts_wgpu::{Gpu, OpenError, Options};

/// The adapter, used in this way. Without one, it prints a message that no capture hides, or fails if
/// `DMLCTS_REQUIRE_WGPU` is 1.
#[track_caller]
pub(crate) fn gpu(options: Options) -> Option<Arc<Gpu>> {
    match Gpu::open_with("", options) {
        Ok(gpu) => Some(gpu),
        Err(OpenError::NoAdapter) if std::env::var("DMLCTS_REQUIRE_WGPU").as_deref() != Ok("1") => {
            static SAID: OnceLock<()> = OnceLock::new();
            SAID.get_or_init(|| {
                let said =
                    format!("\n*** SKIPPED: tests of the wgpu backend: {} ***\n", OpenError::NoAdapter);
                // An error of the message is ignored.
                let _ = std::io::stderr().write_all(said.as_bytes());
            });
            None
        }
        Err(error @ OpenError::NoAdapter) => panic!("DMLCTS_REQUIRE_WGPU asks for an adapter: {error}"),
        Err(error) => panic!("{error}"),
    }
}

/// Runs cases on an adapter.
pub(crate) fn run(gpu: &Arc<Gpu>, source: Arc<dyn CaseSource>, configuration: Configuration) -> Summary {
    let gpu = Arc::clone(gpu);
    let run = Run {
        library: Library::embedded(),
        source,
        backend: Arc::new(move |_| Ok(Box::new(gpu.backend()))),
        configuration,
        stop: Stop::default(),
    };
    dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts")
}

/// The cases of a suite.
pub(crate) fn suite(name: &str) -> Arc<dyn CaseSource> {
    let suite = Suite::load(name).expect("the suite loads");
    let expansion = suite.expand(Library::embedded(), 0).expect("the suite expands");
    Arc::new(SuiteSource::new(expansion, &[]))
}

/// The lines of cases.
pub(crate) fn lines(lines: &[&str]) -> Arc<dyn CaseSource> {
    let case = |line: &&str| {
        dmlcts_model::line::parse(line, Library::embedded().signatures())
            .unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    Arc::new(Listed::new(lines.iter().map(case).collect(), "listed"))
}

/// Fails with a message if anything was unexpected.
#[track_caller]
pub(crate) fn assert_expected(summary: &Summary) {
    let groups: Vec<_> = summary
        .groups
        .iter()
        .map(|group| {
            format!(
                "{} x {:?} {:?}: {}",
                group.cases, group.first.verdict, group.first.outcome, group.first.case
            )
        })
        .collect();
    assert_eq!(summary.tally().unexpected(), 0, "{groups:#?}");
    assert!(summary.totals.progress.ran > 0);
}
