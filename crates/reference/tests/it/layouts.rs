//! Positions and widths of elements: strides on both sides, holes, every width, bits that conversions would
//! destroy, and descs of any kind, none of which may panic.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Operators, Run};
use dmlcts_model::{BindingOffsets, DataType, Desc, List, MemberKind, Outcome, Tensor, Value};
use dmlcts_reference::Reference;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{case, run, signatures};

#[test]
fn strided_outputs_leave_their_holes_alone() {
    let output = run(
        "SLICE UINT8 in=2,3 out=2,3 OutputTensor.Strides=8,2 Offsets=0,0 Sizes=2,3 Strides=1,1",
        &[1, 2, 3, 4, 5, 6, 0, 0],
        0xcd,
    );
    let hole = 0xcd;
    let expected = [1, hole, 2, hole, 3, hole, hole, hole, 4, hole, 5, hole, 6, hole, hole, hole];
    assert_eq!(output, expected);
    let padded = run(
        "PADDING1 UINT8 in=1,2 out=2,3 OutputTensor.Strides=1,2 PaddingMode=CONSTANT PaddingValue=9 \
         StartPadding=1,0 EndPadding=0,1",
        &[1, 2, 0, 0],
        0xcd,
    );
    // Transposed: columns 9 1, 9 2, 9 9.
    assert_eq!(padded, [9, 1, 9, 2, 9, 9, 0xcd, 0xcd]);
}

#[test]
fn strided_inputs_are_read_where_they_lie() {
    let transposed = run(
        "SLICE1 UINT8 in=3,2 out=3,2 InputTensor.Strides=1,3 InputWindowOffsets=0,0 InputWindowSizes=3,2 \
         InputWindowStrides=-1,1",
        &[1, 2, 3, 4, 5, 6, 0, 0],
        0,
    );
    assert_eq!(transposed, [3, 6, 2, 5, 1, 4, 0, 0]);
    let broadcast = run(
        "PADDING1 UINT8 in=2,2 out=4,2 InputTensor.Strides=0,1 PaddingMode=WRAP StartPadding=1,0 \
         EndPadding=1,0",
        &[7, 8, 0, 0],
        0,
    );
    assert_eq!(broadcast, [7, 8, 7, 8, 7, 8, 7, 8]);
}

#[test]
fn bits_survive_in_every_width() {
    for data_type in DataType::all().filter(|data_type| data_type.element_size().is_some()) {
        let size = data_type.element_size().expect("the filter keeps whole bytes");
        // Signalling NaNs, -0, denormals and other values, as the width allows.
        let element = |bits: u64| bits.to_le_bytes()[..size].to_vec();
        let elements = [0x7f80_0001, 0x8000_0000_8000_8000, 1, 0x7ff0_0000_0000_0001].map(element);
        let output = run(
            &format!(
                "PADDING1 {data_type} in=4 out=6 PaddingMode=CONSTANT PaddingValue=0xfff47f81fc01ff81 \
                 StartPadding=1 EndPadding=1"
            ),
            &elements.concat(),
            0,
        );
        let value = element(0xfff4_7f81_fc01_ff81);
        let mut expected = [value.clone(), elements.concat(), value].concat();
        expected.resize(expected.len().next_multiple_of(4), 0);
        assert_eq!(output, expected, "{data_type}");
    }
}

#[test]
fn a_batch_ends_in_outcomes() {
    let mut backend = Reference::backend();
    let mut batch = Batch::default();
    let good = case("SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=2");
    let bad = case("SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=3");
    batch.inputs = vec![1, 2, 3, 4];
    batch.outputs = vec![0; 4];
    batch.push(&good.desc, good.binding).runs.push(Run { input: 0..4, output: 0..4 });
    batch.push(&bad.desc, bad.binding);
    batch.push(&good.desc, good.binding);
    batch.push(&good.desc, good.binding).runs.push(Run { input: 0..3, output: 0..4 });
    batch.push(&good.desc, good.binding).runs.push(Run { input: 0..4, output: 0..1 });
    backend.run(&mut batch);
    assert_eq!(batch.outputs, [2, 4, 0, 0]);
    let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
    assert!(matches!(
        outcomes.as_slice(),
        [
            Outcome::Output,
            Outcome::Rejected { .. },
            Outcome::Accepted,
            Outcome::Failed { .. },
            Outcome::Failed { .. }
        ]
    ));
}

fn number() -> impl Strategy<Value = i64> {
    let edges = [i64::from(u32::MAX), i64::from(i32::MAX), i64::from(i32::MIN), 1 << 16, 65535, i64::MAX];
    prop_oneof![4 => 0..4i64, 1 => -3..0i64, 1 => prop::sample::select(edges.to_vec()), 1 => any::<i64>()]
}

fn list(rank: usize) -> impl Strategy<Value = Option<List>> {
    let any = vec(number(), 0..12);
    let likely = vec(number(), rank);
    prop_oneof![4 => likely.prop_map(Some), 1 => any.prop_map(Some), 1 => Just(None)]
        .prop_map(|list| list.map(List::from_vec))
}

fn tensor(rank: usize) -> impl Strategy<Value = Option<Tensor>> {
    let count = prop_oneof![6 => Just(rank as u32), 1 => any::<u32>()];
    let size = prop_oneof![Just(u64::MAX), Just(4096), any::<u64>()];
    let strides = prop_oneof![Just(None), list(rank)];
    let fields = (0..13u32, 0..3u32, count, list(rank), strides, size, prop_oneof![Just(0), any::<u32>()]);
    let tensor = fields.prop_map(|(code, flags, dimension_count, sizes, strides, total_size, alignment)| {
        let data_type = DataType(code);
        Some(Tensor { data_type, flags, dimension_count, sizes, strides, total_size, alignment })
    });
    prop_oneof![12 => tensor, 1 => Just(None)]
}

/// Any desc that the model can hold, beyond what C can.
fn desc() -> impl Strategy<Value = Desc> {
    let all: Vec<_> = signatures().iter().cloned().collect();
    (prop::sample::select(all), 0..10usize).prop_flat_map(|(signature, rank)| {
        let members: Vec<_> = signature
            .members
            .iter()
            .map(|member| match member.kind {
                MemberKind::U32List | MemberKind::I32List => list(rank).prop_map(Value::List).boxed(),
                MemberKind::Scalar => Just(Value::Scalar([1; 8])).boxed(),
                MemberKind::Count => Just(Value::Integer(rank as i64)).boxed(),
                _ => number().prop_map(Value::Integer).boxed(),
            })
            .collect();
        (tensor(rank), tensor(rank), members).prop_map(move |(input, output, members)| Desc {
            signature: Arc::clone(&signature),
            input,
            output,
            members: members.into(),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_desc_panics(desc in desc()) {
        let mut reference = Reference::new();
        if let Ok(mut operator) = reference.create(&desc) {
            // Too small for some: refused, not read beyond.
            let _ = reference.run(&mut operator, BindingOffsets::default(), &[0; 4096], &mut [0; 4096]);
        }
    }
}
