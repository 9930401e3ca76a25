//! How long judging takes, and loading.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_spec::{Coverage, Library, Scratch};

/// Valid descs of ranks 1, 4 and 8.
fn cases() -> Vec<(&'static str, Case)> {
    let lines = [
        ("SLICE/1", "SLICE FLOAT32 in=24 out=5 Offsets=2 Sizes=5 Strides=3"),
        ("SLICE/4", "SLICE FLOAT32 in=1,2,3,4 out=1,2,2,2 Offsets=0,0,1,1 Sizes=1,2,2,2 Strides=1,1,1,2"),
        (
            "SLICE/8",
            "SLICE FLOAT32 in=1,2,1,2,1,2,3,2 out=1,2,1,2,1,1,2,2 Offsets=0,0,0,0,0,1,1,0 Sizes=1,2,1,2,1,1,2,2 \
             Strides=1,1,1,1,1,1,1,1",
        ),
        (
            "SLICE1/1",
            "SLICE1 FLOAT32 in=24 out=5 InputWindowOffsets=2 InputWindowSizes=20 InputWindowStrides=-3",
        ),
        (
            "SLICE1/4",
            "SLICE1 FLOAT32 in=1,2,3,4 out=1,2,2,2 InputWindowOffsets=0,0,1,1 InputWindowSizes=1,2,2,3 \
             InputWindowStrides=1,-1,1,2",
        ),
        (
            "SLICE1/8",
            "SLICE1 FLOAT32 in=1,2,1,2,1,2,3,2 out=1,2,1,2,1,1,2,2 InputWindowOffsets=0,0,0,0,0,1,1,0 \
             InputWindowSizes=1,2,1,2,1,1,2,2 InputWindowStrides=1,1,-1,1,1,1,-1,1",
        ),
        ("PADDING1/1", "PADDING1 FLOAT32 in=8 out=24 PaddingMode=REFLECTION StartPadding=9 EndPadding=7"),
        (
            "PADDING1/4",
            "PADDING1 FLOAT32 in=1,2,1,2 out=1,3,2,4 PaddingMode=EDGE StartPadding=0,1,0,1 EndPadding=0,0,1,1",
        ),
        (
            "PADDING1/8",
            "PADDING1 FLOAT32 in=1,2,1,2,1,1,1,2 out=1,2,1,3,1,2,1,3 PaddingMode=WRAP StartPadding=0,0,0,1,0,1,0,0 \
             EndPadding=0,0,0,0,0,0,0,1",
        ),
    ];
    let signatures = Library::embedded().signatures();
    lines.map(|(name, text)| (name, line::parse(text, signatures).expect("the line is well formed"))).to_vec()
}

fn judge(criterion: &mut Criterion) {
    let library = Library::embedded();
    let mut scratch = Scratch::default();
    let mut group = criterion.benchmark_group("judge");
    for (name, case) in cases() {
        let operator = library.operator(&case.desc.signature.operator).expect("the library has it");
        assert!(operator.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch).is_ok(), "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| operator.judge(black_box(&case.desc), FeatureLevel::NEWEST, &mut scratch));
        });
    }
    group.finish();
}

fn mark(criterion: &mut Criterion) {
    let library = Library::embedded();
    let (mut scratch, mut coverage) = (Scratch::default(), Coverage::new(library));
    let cases = cases();
    let (_, case) = &cases[4];
    let operator = library.operator(&case.desc.signature.operator).expect("the library has it");
    let level = FeatureLevel::NEWEST;
    let judgement = operator.judge(&case.desc, level, &mut scratch);
    criterion.bench_function("mark", |bencher| {
        bencher.iter(|| coverage.mark(operator, black_box(&case.desc), level, judgement, &mut scratch));
    });
}

fn load(criterion: &mut Criterion) {
    let sources = Library::embedded_sources();
    criterion.bench_function("load", |bencher| bencher.iter(|| Library::load(black_box(&sources)).is_ok()));
}

criterion_group!(benches, judge, mark, load);
criterion_main!(benches);
