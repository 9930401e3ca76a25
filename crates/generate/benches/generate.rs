//! What generating costs: a case of each kind, its line, a tiny fill, and the start of a suite.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dmlcts_generate::{Length, Part, Suite, fill};
use dmlcts_model::{DataType, Fill, line};
use dmlcts_spec::{Library, Source};

/// Tiny random cases, as a run draws them.
const RANDOM: &str =
    "suite: bench\npurpose: Random cases.\nparts:\n  - {id: random, strategy: random, elements: 64}\n";

/// The cases of a part, over and over.
fn cases(criterion: &mut Criterion, name: &str, part: &Part<'_>, case: &mut dmlcts_model::Case, lines: bool) {
    let count = match part.length() {
        Length::Finite(length) => length.min(100_000),
        Length::Endless => 100_000,
    };
    // Pools are filled on the first round; a run of millions does not notice.
    for index in 0..count {
        part.case(index, case);
    }
    let mut index = 0;
    let mut text = String::new();
    let mut group = criterion.benchmark_group("generate");
    group.throughput(Throughput::Elements(1));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            part.case(index, case);
            index = (index + 1) % count;
            if lines {
                text.clear();
                line::write(case, &mut text);
                black_box(text.len());
            }
            black_box(&case.fill);
        });
    });
    group.finish();
}

fn generate(criterion: &mut Criterion) {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("bench.yaml", RANDOM)).expect("it is a suite");
    let random = suite.expand(library, 0).expect("the spec has what it names");
    let exhaustive = Suite::load("exhaustive").expect("it is embedded");
    let exhaustive = exhaustive.expand(library, 0).expect("the spec has what it names");
    let mut case = random.blank().expect("the spec has operators");
    cases(criterion, "random case", &random.parts()[0], &mut case, false);
    cases(criterion, "random case and its line", &random.parts()[0], &mut case, true);
    cases(criterion, "exhaustive case of two axes", &exhaustive.parts()[1], &mut case, false);
    cases(criterion, "exhaustive case of two axes and its line", &exhaustive.parts()[1], &mut case, true);
}

fn fills(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fill");
    let fills = [
        ("iota", Fill::Iota),
        ("coordinates", Fill::Coordinates { pass: 0 }),
        ("random", Fill::Random { seed: 1 }),
        ("special", Fill::Special { seed: 1 }),
    ];
    for (name, fill) in fills {
        let mut memory = [0; 96];
        group.bench_function(format!("{name}, 24 elements of FLOAT32"), |bencher| {
            bencher.iter(|| fill::write(black_box(&fill), DataType::FLOAT32, black_box(&mut memory)));
        });
    }
    group.finish();
}

fn start(criterion: &mut Criterion) {
    let library = Library::embedded();
    let mut group = criterion.benchmark_group("start");
    group.sample_size(10);
    group.bench_function("smoke, every case once", |bencher| {
        bencher.iter(|| {
            let suite = Suite::load("smoke").expect("it is embedded");
            let expansion = suite.expand(library, 0).expect("the spec has what it names");
            let mut case = expansion.blank().expect("the spec has operators");
            for part in expansion.parts() {
                let mut index = 0;
                while part.case(index, &mut case) {
                    index += 1;
                }
            }
        });
    });
    group.bench_function("the tuples of the exhaustive box", |bencher| {
        bencher.iter(|| {
            let suite = Suite::load("exhaustive").expect("it is embedded");
            suite.expand(library, 0).expect("the spec has what it names").length()
        });
    });
    group.finish();
}

criterion_group!(benches, generate, fills, start);
criterion_main!(benches);
