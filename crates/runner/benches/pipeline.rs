//! How many cases a second a whole run takes: generating, judging, filling, expecting, running on the
//! reference and comparing, for random descs of up to 64 elements and ranks 1 to 8.

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dmlcts_generate::Suite;
use dmlcts_reference::Reference;
use dmlcts_runner::{Configuration, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, Source};

const SUITE: &str = "
suite: tiny
purpose: How fast a whole run is.
parts:
  - {id: random, strategy: random, elements: 64}
";

/// Long enough that starting threads and filling pools does not count.
const CASES: u64 = 500_000;

fn pipeline(criterion: &mut Criterion) {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("tiny.yaml", SUITE)).expect("the suite is one");
    let parts = Arc::new(SuiteSource::new(suite.expand(library, 0).expect("the suite expands"), &[]));
    let mut group = criterion.benchmark_group("pipeline");
    group.sample_size(10).throughput(Throughput::Elements(CASES));
    for jobs in [1, 2] {
        let run = |parts: &Arc<SuiteSource>| Run {
            library,
            source: Arc::clone(parts) as Arc<_>,
            backend: Arc::new(|_| Ok(Box::new(Reference::backend()))),
            configuration: Configuration { jobs, limit: Some(CASES), ..Configuration::default() },
            stop: Stop::default(),
        };
        group.bench_function(format!("{jobs} threads"), |bencher| {
            bencher.iter(|| {
                let summary = dmlcts_runner::run(&run(&parts), &mut |_| {}).expect("the reference starts");
                assert_eq!(summary.tally().unexpected(), 0);
                black_box(summary.totals.progress.ran)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
