//! How fast the reference is: tiny cases, where creating an operator counts as much as running it, and large
//! tensors, where only the copy does.

#[path = "../tests/it/common.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod common;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_reference::Reference;

/// A batch that runs each line once.
fn batch(lines: &[&str]) -> Batch {
    let mut batch = Batch::default();
    for line in lines {
        let case = common::case(line);
        let bytes = |tensor: &Option<dmlcts_model::Tensor>| {
            tensor.as_ref().map_or(0, |tensor| tensor.total_size as usize)
        };
        let (input, output) = (batch.inputs.len(), batch.outputs.len());
        batch.inputs.resize((input + bytes(&case.desc.input)).next_multiple_of(16), 1);
        batch.outputs.resize((output + bytes(&case.desc.output)).next_multiple_of(16), 0);
        let run = Run {
            input: input..input + bytes(&case.desc.input),
            output: output..output + bytes(&case.desc.output),
        };
        batch.push(&case.desc, case.binding).runs.push(run);
    }
    batch
}

fn tiny(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tiny");
    let slices = [
        "SLICE FLOAT32 in=30 out=24 Offsets=2 Sizes=24 Strides=1",
        "SLICE INT8 in=9,8 out=4,6 Offsets=1,2 Sizes=4,6 Strides=2,1",
        "SLICE1 FLOAT16 in=2,5,7 out=2,4,3 InputWindowOffsets=0,1,0 InputWindowSizes=2,4,7 \
         InputWindowStrides=1,-1,3",
        "SLICE FLOAT64 in=1,2,4,7 out=1,2,2,6 Offsets=0,0,1,1 Sizes=1,2,2,6 Strides=1,1,2,1",
        "SLICE1 UINT32 in=3,1,2,5,2 out=3,1,2,2,2 InputWindowOffsets=0,0,0,1,0 InputWindowSizes=3,1,2,4,2 \
         InputWindowStrides=1,1,-1,2,1",
        "SLICE1 INT16 in=1,3,1,4,2,1,3 out=1,2,1,4,1,1,3 InputWindowOffsets=0,1,0,0,1,0,0 \
         InputWindowSizes=1,2,1,4,1,1,3 InputWindowStrides=1,1,1,-1,1,1,-1",
    ];
    let paddings = [
        "PADDING1 FLOAT32 in=10 out=24 PaddingMode=REFLECTION StartPadding=8 EndPadding=6",
        "PADDING1 INT8 in=2,3 out=4,6 PaddingMode=CONSTANT PaddingValue=9 StartPadding=1,2 EndPadding=1,1",
        "PADDING1 FLOAT16 in=2,2,3 out=2,4,3 PaddingMode=EDGE StartPadding=0,1,0 EndPadding=0,1,0",
        "PADDING1 FLOAT64 in=1,1,2,3 out=1,2,2,6 PaddingMode=SYMMETRIC StartPadding=0,1,0,1 \
         EndPadding=0,0,0,2",
        "PADDING1 INT16 in=1,1,1,4,1,1,3 out=1,2,1,4,1,1,3 PaddingMode=WRAP StartPadding=0,1,0,0,0,0,0 \
         EndPadding=0,0,0,0,0,0,0",
    ];
    let invalid = ["SLICE FLOAT32 in=30 out=24 Offsets=2 Sizes=24 Strides=2"];
    for (name, lines) in [("slices", &slices[..]), ("paddings", &paddings), ("invalid", &invalid)] {
        let mut batch = batch(lines);
        let mut backend = Reference::backend();
        group.throughput(Throughput::Elements(lines.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| backend.run(black_box(&mut batch))));
    }
    group.finish();
}

fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("large");
    group.sample_size(10);
    let slice = |steps: &str, out: &str| {
        format!(
            "SLICE1 FLOAT32 in=4096,4096 out={out} InputWindowOffsets=0,0 InputWindowSizes=4096,4096 \
             InputWindowStrides={steps}"
        )
    };
    let padding = |mode: &str| {
        format!(
            "PADDING1 FLOAT32 in=2048,2048 out=4096,4096 PaddingMode={mode} StartPadding=1024,1024 \
             EndPadding=1024,1024"
        )
    };
    for (name, line, elements) in [
        ("identity", slice("1,1", "4096,4096"), 1u64 << 24),
        ("reversed", slice("-1,-1", "4096,4096"), 1 << 24),
        ("stride 2", slice("1,2", "4096,2048"), 1 << 23),
        ("constant", padding("CONSTANT"), 1 << 24),
        ("edge", padding("EDGE"), 1 << 24),
        ("reflection", padding("REFLECTION"), 1 << 24),
        ("bytes", slice("-1,1", "4096,4096").replace("FLOAT32", "UINT8"), 1 << 24),
    ] {
        let mut batch = batch(&[&line]);
        let mut backend = Reference::backend();
        group.throughput(Throughput::Elements(elements));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| backend.run(black_box(&mut batch)));
        });
    }
    group.finish();
}

criterion_group!(benches, tiny, large);
criterion_main!(benches);
