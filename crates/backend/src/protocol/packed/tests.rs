//! What is written reads back, and what makes no sense is named.

use std::sync::Arc;

use dmlcts_model::{
    BindingOffsets, DataType, Desc, List, Member, MemberKind, Signature, Signatures, Tensor, Value,
};
use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::{
    Batch, Job, Run,
    protocol::{Bounds, Frame, FrameKind},
};

fn signatures() -> Signatures {
    let member = |(name, kind): (&str, MemberKind)| Member { name: name.to_owned(), kind };
    let operator = |name: &str, members: Vec<(&str, MemberKind)>| {
        let members = members.into_iter().map(member).collect();
        Arc::new(Signature { operator: name.to_owned(), members })
    };
    Signatures::new([
        operator(
            "PAD",
            vec![("Count", MemberKind::Count), ("Steps", MemberKind::I32List), ("Value", MemberKind::Scalar)],
        ),
        operator("BARE", vec![]),
        operator("CUT", vec![("Mode", MemberKind::I32), ("Sizes", MemberKind::U32List)]),
    ])
}

fn any_list(value: impl Strategy<Value = i64>) -> impl Strategy<Value = Option<List>> {
    option::weighted(0.8, vec(value, 0..10).prop_map(List::from_vec))
}

fn unsigned() -> impl Strategy<Value = i64> {
    prop_oneof![0..20_i64, Just(i64::from(u32::MAX))]
}

fn signed() -> impl Strategy<Value = i64> {
    prop_oneof![-20..20_i64, Just(i64::from(i32::MIN)), Just(i64::from(i32::MAX))]
}

fn any_tensor() -> impl Strategy<Value = Option<Tensor>> {
    let lists = (any_list(unsigned()), any_list(unsigned()));
    let fields = (any::<u32>(), any::<u32>(), any::<u32>(), lists, 0..40_u64, any::<u32>());
    let tensor =
        fields.prop_map(|(code, flags, dimension_count, (sizes, strides), total_size, alignment)| Tensor {
            data_type: DataType(code),
            flags,
            dimension_count,
            sizes,
            strides,
            total_size,
            alignment,
        });
    option::weighted(0.9, tensor)
}

fn any_desc() -> impl Strategy<Value = Desc> {
    let integers = (unsigned(), signed());
    let lists = (any_list(unsigned()), any_list(signed()));
    let parts = (0..3_usize, any_tensor(), any_tensor(), integers, lists, any::<[u8; 8]>());
    parts.prop_map(|(operator, input, output, integers, lists, bytes)| {
        let signatures = signatures();
        let signature = signatures.iter().nth(operator).expect("there are three");
        let value = |member: &Member| match member.kind {
            MemberKind::U32List => Value::List(lists.0.clone()),
            MemberKind::I32List => Value::List(lists.1.clone()),
            MemberKind::Scalar => Value::Scalar(bytes),
            MemberKind::I32 => Value::Integer(integers.1),
            _ => Value::Integer(integers.0),
        };
        let members = signature.members.iter().map(value).collect();
        Desc { signature: Arc::clone(signature), input, output, members }
    })
}

/// The descs as jobs that run so often, the inputs one behind the other, and what the outputs are full of.
fn batch(descs: &[(Desc, u64, usize)]) -> (Batch, Vec<u8>, Vec<u8>) {
    let (mut batch, mut inputs, mut fills) = (Batch::default(), Vec::new(), Vec::new());
    for (desc, offset, runs) in descs {
        let job = batch.push(desc, BindingOffsets { input: *offset, output: !*offset });
        if let (Some(input), Some(output)) = (&desc.input, &desc.output) {
            for run in 0..*runs {
                let [input, output] = [input.total_size as usize, output.total_size as usize];
                job.runs.push(Run { input: 0..input, output: 0..output });
                inputs.extend(vec![run as u8; input]);
                fills.push(run as u8 ^ 0xB5);
            }
        }
    }
    (batch, inputs, fills)
}

/// A header and a body.
fn written(jobs: &[Job], inputs: &[u8], fills: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let packed = Packed::of(jobs, fills, inputs.len()).expect("every member holds what it can");
    let bytes = [packed.into_frame(None, inputs.len()).as_slice(), inputs].concat();
    let bounds = Bounds { header: 10_000, body: 1 << 30 };
    let frame = Frame::read(&mut bytes.as_slice(), bounds).expect("it is a frame").expect("it is there");
    assert_eq!(frame.kind, FrameKind::Packed);
    (frame.header, frame.body)
}

#[test]
fn a_header_that_is_longer_than_its_room_finds_it() {
    let tensor = Tensor::packed(DataType::UINT8, List::from_elem(4, 1));
    let signature = |length| Arc::new(Signature { operator: "X".repeat(length), members: Vec::new() });
    let mut lengths = Vec::new();
    for length in [1, 40, 140, 1000] {
        let desc = Desc::usual(signature(length), tensor.clone(), tensor.clone());
        let (jobs, inputs, fills) = batch(&[(desc, 7, 1)]);
        let (header, body) = written(jobs.jobs(), &inputs, &fills);
        let known = Signatures::new([signature(length)]);
        let mut read = Batch::default();
        assert_eq!(read_packed(&header, &body, &known, &mut read, 1 << 20), Ok(None));
        assert_eq!(*read.jobs()[0].desc, *jobs.jobs()[0].desc);
        assert_eq!(read.inputs, inputs);
        lengths.push(header.len());
    }
    assert!(lengths[0] == lengths[1] && lengths[3] > 1000, "short ones share a room: {lengths:?}");
}

proptest! {
    #[test]
    fn packed_cases_read_back_over_old_ones(
        descs in vec((any_desc(), any::<u64>(), 0..4_usize), 0..12),
        before in vec((any_desc(), any::<u64>(), 0..4_usize), 0..12),
    ) {
        let (jobs, inputs, fills) = batch(&descs);
        let (header, body) = written(jobs.jobs(), &inputs, &fills);
        let (mut read, _, _) = batch(&before);
        read.clear();
        prop_assert_eq!(read_packed(&header, &body, &signatures(), &mut read, 1 << 20), Ok(None));
        prop_assert_eq!(read.jobs().len(), jobs.jobs().len());
        for (read, job) in read.jobs().iter().zip(jobs.jobs()) {
            prop_assert_eq!((&read.desc, read.binding), (&job.desc, job.binding));
            prop_assert_eq!(read.runs.len(), job.runs.len());
        }
        let runs = || read.jobs().iter().flat_map(|job| &job.runs);
        let came: Vec<u8> = runs().flat_map(|run| read.inputs[run.input.clone()].to_vec()).collect();
        prop_assert_eq!(came, inputs);
        for (run, fill) in runs().zip(fills) {
            prop_assert!(read.outputs[run.output.clone()].iter().all(|byte| *byte == fill));
        }
    }

    #[test]
    fn a_body_that_is_cut_or_changed_makes_sense_or_says_what_does_not(
        descs in vec((any_desc(), any::<u64>(), 0..3_usize), 1..6),
        place in any::<prop::sample::Index>(),
        change in prop::sample::select(vec![vec![], vec![0; 4], vec![255; 4], vec![7]]),
        cut in 0..5_usize,
    ) {
        let (jobs, inputs, fills) = batch(&descs);
        let (header, mut body) = written(jobs.jobs(), &inputs, &fills);
        prop_assume!(!body.is_empty());
        let place = place.index(body.len());
        let (mut read, most) = (Batch::default(), 1 << 20);
        let said = read_packed(&header, &body[..place], &signatures(), &mut read, most);
        prop_assert!(said.is_err(), "the end is missing: {said:?}");
        // Another body of another length can make sense: without a word, the others mean something else.
        let end = (place + cut).min(body.len());
        body.splice(place..end, change);
        read.clear();
        let said = read_packed(&header, &body, &signatures(), &mut read, most);
        let inputs: usize = read.jobs().iter().flat_map(|job| &job.runs).map(|run| run.input.len()).sum();
        prop_assert!(said.is_err() || inputs <= body.len(), "{said:?}");
        prop_assert!(read.outputs.len() as u64 <= most + (1 << 10) * (1 + read.jobs().len() as u64));
    }
}

#[test]
fn values_beyond_a_member_are_not_packed() {
    let signatures = signatures();
    for (operator, values) in [
        ("CUT", [Value::Integer(1 << 31), Value::List(None)]),
        ("CUT", [Value::Integer(0), Value::List(Some(List::from_elem(-1, 1)))]),
        ("CUT", [Value::Integer(0), Value::List(Some(List::from_elem(1 << 32, 9)))]),
        ("CUT", [Value::List(None), Value::List(None)]),
    ] {
        let signature = signatures.get(operator).expect("it is one of them");
        let desc = Desc {
            signature: Arc::clone(signature),
            input: None,
            output: None,
            members: values.into_iter().collect(),
        };
        let (jobs, _, fills) = batch(&[(desc, 0, 0)]);
        assert!(Packed::of(jobs.jobs(), &fills, 0).is_none());
    }
}

#[test]
fn a_mistake_in_words_is_reported_with_its_case() {
    let said = |header: &str, words: &[u32]| {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let read = read_packed(header.as_bytes(), &body, &signatures(), &mut Batch::default(), 100);
        read.expect_err("it makes no sense")
    };
    let bare = r#"{"cases":2,"operators":["BARE"],"words":"#;
    assert!(said(&format!("{bare}9}}"), &[0; 8]).contains("shorter than its words"));
    assert!(said(&format!("{bare}9}}"), &[0; 9]).starts_with("case 1: the words end"));
    assert!(
        said(&format!("{bare}8}}"), &[0, 0, 0, 0, 0, 0, 0, 1])
            .starts_with("case 0: it is to run, and has no")
    );
    assert!(said(&format!("{bare}16}}"), &[1; 16]).starts_with("case 0: its operator"));
    assert!(said(&format!("{bare}17}}"), &[0; 17]).contains("longer than the cases need"));
    let unknown = r#"{"cases":0,"operators":["NONE"],"words":0}"#;
    assert!(said(unknown, &[]).contains("no operator `NONE`"));
}
