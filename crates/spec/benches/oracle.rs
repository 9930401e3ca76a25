//! How fast the oracle plans and executes small tensors, and tensors with a long axis.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput};
use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_spec::{Library, Scratch};

/// Small tensors of each operator, as they fill a run of many cases.
const SMALL: &[(&str, &str)] = &[
    ("slice rank 1", "SLICE FLOAT32 in=24 out=12 Offsets=1 Sizes=12 Strides=2 fill=iota"),
    (
        "slice rank 4",
        "SLICE FLOAT32 in=2,3,4,5 out=1,2,3,4 Offsets=1,0,1,1 Sizes=1,2,3,4 Strides=1,2,1,1 fill=iota",
    ),
    (
        "slice rank 8",
        "SLICE FLOAT32 in=1,2,1,3,2,1,4,2 out=1,2,1,3,1,1,2,2 Offsets=0,0,0,0,1,0,0,0 Sizes=1,2,1,3,1,1,2,2 \
         Strides=1,1,1,1,1,1,2,1 fill=iota",
    ),
    (
        "slice1 rank 1",
        "SLICE1 FLOAT32 in=48 out=24 InputWindowOffsets=0 InputWindowSizes=48 InputWindowStrides=-2 fill=iota",
    ),
    (
        "slice1 rank 4",
        "SLICE1 FLOAT32 in=2,3,4,5 out=2,3,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=2,3,4,4 \
         InputWindowStrides=1,-1,-2,2 fill=iota",
    ),
    (
        "slice1 rank 8",
        "SLICE1 FLOAT32 in=1,2,1,3,2,1,4,2 out=1,2,1,3,1,1,2,2 InputWindowOffsets=0,0,0,0,1,0,0,0 \
         InputWindowSizes=1,2,1,3,1,1,4,2 InputWindowStrides=1,-1,1,-1,1,1,2,-1 fill=iota",
    ),
    (
        "padding1 constant rank 1",
        "PADDING1 FLOAT32 in=16 out=24 PaddingMode=CONSTANT PaddingValue=9 StartPadding=4 EndPadding=4 fill=iota",
    ),
    (
        "padding1 reflection rank 1",
        "PADDING1 FLOAT32 in=5 out=24 PaddingMode=REFLECTION StartPadding=9 EndPadding=10 fill=iota",
    ),
    (
        "padding1 symmetric rank 4",
        "PADDING1 FLOAT32 in=1,2,2,3 out=1,3,3,5 PaddingMode=SYMMETRIC StartPadding=0,1,0,1 \
         EndPadding=0,0,1,1 fill=iota",
    ),
    (
        "padding1 reflection rank 8",
        "PADDING1 FLOAT32 in=1,2,1,2,1,2,1,2 out=1,2,1,3,1,2,2,3 PaddingMode=REFLECTION \
         StartPadding=0,0,0,1,0,0,1,1 EndPadding=0,0,0,0,0,0,0,0 fill=iota",
    ),
];

/// Reads of a long axis: a line, a few lines, and a period of ten coordinates.
const LONG: &[(&str, &str)] = &[
    ("slice", "SLICE UINT8 in=2000000 out=1000000 Offsets=1 Sizes=1000000 Strides=2 fill=iota"),
    (
        "padding1 constant",
        "PADDING1 UINT8 in=500000 out=1000000 PaddingMode=CONSTANT PaddingValue=9 StartPadding=250000 \
         EndPadding=250000 fill=iota",
    ),
    (
        "padding1 reflection",
        "PADDING1 UINT8 in=6 out=1000000 PaddingMode=REFLECTION StartPadding=1 EndPadding=999993 fill=iota",
    ),
];

fn main() {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    measure(&mut criterion, "oracle, plan and execute", SMALL);
    measure(&mut criterion, "oracle, a long axis", LONG);
    criterion.final_summary();
}

fn measure(criterion: &mut Criterion, group: &str, cases: &[(&str, &str)]) {
    let library = Library::embedded();
    let mut group = criterion.benchmark_group(group);
    for (name, text) in cases {
        let case = parse(text);
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let mut scratch = Scratch::default();
        let valid = operator.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch);
        let valid = valid.unwrap_or_else(|_| panic!("{name} is not valid"));
        let input = vec![1; memory(&case, true)];
        let mut output = vec![0; memory(&case, false)];
        group.throughput(Throughput::Bytes(output.len() as u64));
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                let mut plan = operator.plan(valid, 0, &mut scratch).expect("planned");
                plan.execute(black_box(&input), black_box(&mut output)).expect("executed");
            });
        });
    }
    group.finish();
}

fn parse(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The bytes of one of the tensors' memory.
fn memory(case: &Case, input: bool) -> usize {
    let tensor = if input { &case.desc.input } else { &case.desc.output };
    tensor.as_ref().map_or(0, |tensor| tensor.total_size as usize)
}
