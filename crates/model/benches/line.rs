//! How fast case lines are written, which bounds how fast a suite can be listed, and read.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dmlcts_model::{Case, Member, MemberKind, Signature, Signatures, line};

/// SLICE1's signature, and cases of it from rank 1 to 8.
fn cases() -> (Signatures, Vec<Case>) {
    let members = [
        ("DimensionCount", MemberKind::Count),
        ("InputWindowOffsets", MemberKind::U32List),
        ("InputWindowSizes", MemberKind::U32List),
        ("InputWindowStrides", MemberKind::I32List),
    ];
    let members = members.map(|(name, kind)| Member { name: name.to_owned(), kind }).into();
    let signature = Arc::new(Signature { operator: "SLICE1".to_owned(), members });
    let signatures = Signatures::new([signature]);
    let list = |values: [&str; 8], rank: usize| values[..rank].join(",");
    let cases = (1..=8)
        .map(|rank| {
            let sizes = list(["3", "1", "4", "1", "5", "9", "2", "16"], rank);
            let offsets = list(["1", "0", "2", "0", "0", "3", "0", "11"], rank);
            let strides = list(["-1", "1", "2", "1", "-3", "1", "1", "2"], rank);
            let text = format!(
                "SLICE1 FLOAT32 in={sizes} out={sizes} InputWindowOffsets={offsets} \
                 InputWindowSizes={sizes} InputWindowStrides={strides} fill=random:{rank}"
            );
            line::parse(&text, &signatures).expect("the line is well formed")
        })
        .collect();
    (signatures, cases)
}

fn lines(criterion: &mut Criterion) {
    let (signatures, cases) = cases();
    let texts: Vec<String> = cases.iter().map(Case::to_string).collect();
    let mut group = criterion.benchmark_group("line");
    group.throughput(Throughput::Elements(cases.len() as u64));
    let mut out = String::new();
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            out.clear();
            for case in &cases {
                line::write(black_box(case), &mut out);
                out.push('\n');
            }
        });
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            for text in &texts {
                black_box(line::parse(black_box(text), &signatures)).expect("the line is well formed");
            }
        });
    });
    group.finish();
}

criterion_group!(benches, lines);
criterion_main!(benches);
