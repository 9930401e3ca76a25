//! Reads a marshalled desc through the same pointers as the library.

use std::{slice, sync::Arc};

use dmlcts_model::{
    Case, Enumeration, Member,
    MemberKind::{self, Count, DataType, I32List, Scalar, U32List},
    Signature, Signatures, line,
};

use super::*;

/// The signatures of the three operators, with their members in the order of the pages.
fn signatures() -> Signatures {
    let modes = Arc::new(Enumeration { name: "DML_PADDING_MODE".to_owned(), enumerators: Vec::new() });
    let operator = |name: &str, members: &[(&str, MemberKind)]| {
        let member =
            |(name, kind): &(&str, MemberKind)| Member { name: (*name).to_owned(), kind: kind.clone() };
        Arc::new(Signature { operator: name.to_owned(), members: members.iter().map(member).collect() })
    };
    Signatures::new([
        operator(
            "SLICE",
            &[("DimensionCount", Count), ("Offsets", U32List), ("Sizes", U32List), ("Strides", U32List)],
        ),
        operator(
            "SLICE1",
            &[
                ("DimensionCount", Count),
                ("InputWindowOffsets", U32List),
                ("InputWindowSizes", U32List),
                ("InputWindowStrides", I32List),
            ],
        ),
        operator(
            "PADDING1",
            &[
                ("PaddingMode", MemberKind::Enumeration(modes)),
                ("PaddingValueDataType", DataType),
                ("PaddingValue", Scalar),
                ("DimensionCount", Count),
                ("StartPadding", U32List),
                ("EndPadding", U32List),
            ],
        ),
        operator("TILE", &[("RepeatsCount", Count), ("Repeats", U32List)]),
    ])
}

pub(crate) fn case(text: &str) -> Case {
    line::parse(text, &signatures()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn marshalled(text: &str) -> Marshalled {
    Marshalled::new(&case(text).desc).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    Marshalled::new(&case(text).desc).expect_err(text).to_string()
}

/// The first values of an array, as many as every array has at least.
fn values<T: Copy>(array: *const T) -> Vec<T> {
    assert!(!array.is_null());
    // SAFETY: every array that is not null has this many values, and this is called while `with` keeps the
    // array alive.
    unsafe { slice::from_raw_parts(array, LEAST_VALUES) }.to_vec()
}

/// The struct behind a pointer of `with`.
fn pointed<T: Copy>(pointer: *const std::ffi::c_void) -> T {
    // SAFETY: the caller names the type that the desc's own type field stands for, and `with` keeps the
    // struct alive.
    unsafe { *pointer.cast::<T>() }
}

fn buffer(tensor: *const DML_TENSOR_DESC) -> DML_BUFFER_TENSOR_DESC {
    let tensor: DML_TENSOR_DESC = pointed(tensor.cast());
    assert_eq!(tensor.Type, DML_TENSOR_TYPE_BUFFER);
    pointed(tensor.Desc)
}

/// Values, followed by unused elements up to [`LEAST_VALUES`].
fn padded<T: Copy>(values: &[T], spare: T) -> Vec<T> {
    let mut values = values.to_vec();
    values.resize(LEAST_VALUES, spare);
    values
}

#[test]
fn every_member_of_a_slice_arrives() {
    let text = "SLICE FLOAT16 in=4,6 out=2,3 InputTensor.Flags=1 InputTensor.Strides=8,1 \
                InputTensor.TotalTensorSizeInBytes=64 OutputTensor.GuaranteedBaseOffsetAlignment=32 \
                Offsets=1,2 Sizes=2,3 Strides=4294967295,1 fill=iota";
    let marshalled = marshalled(text);
    assert!(marshalled.owns_input());
    assert_eq!(marshalled.alignments(), [0, 32]);
    marshalled.with(|desc| {
        assert_eq!(desc.Type, DML_OPERATOR_SLICE);
        let desc: DML_SLICE_OPERATOR_DESC = pointed(desc.Desc);
        assert_eq!(desc.DimensionCount, 2);
        assert_eq!(values(desc.Offsets), padded(&[1, 2], 0));
        assert_eq!(values(desc.Sizes), padded(&[2, 3], 1));
        assert_eq!(values(desc.Strides), padded(&[u32::MAX, 1], 1));
        let input = buffer(desc.InputTensor);
        assert_eq!((input.DataType.0, input.Flags.0, input.DimensionCount), (2, 1, 2));
        assert_eq!(values(input.Sizes), padded(&[4, 6], 1));
        assert_eq!(values(input.Strides), padded(&[8, 1], 1));
        assert_eq!((input.TotalTensorSizeInBytes, input.GuaranteedBaseOffsetAlignment), (64, 0));
        let output = buffer(desc.OutputTensor);
        assert!(output.Strides.is_null());
        assert_eq!((output.TotalTensorSizeInBytes, output.GuaranteedBaseOffsetAlignment), (12, 32));
    });
}

#[test]
fn negative_strides_arrive_as_they_are() {
    let text = "SLICE1 UINT8 in=5 out=2 InputWindowOffsets=0 InputWindowSizes=5 \
                InputWindowStrides=-2147483648 fill=iota";
    marshalled(text).with(|desc| {
        assert_eq!(desc.Type, DML_OPERATOR_SLICE1);
        let desc: DML_SLICE1_OPERATOR_DESC = pointed(desc.Desc);
        assert_eq!(values(desc.InputWindowStrides), padded(&[i32::MIN], 1));
        assert_eq!(values(desc.InputWindowSizes), padded(&[5], 1));
        assert_eq!(values(desc.InputWindowOffsets), padded(&[0], 0));
    });
}

#[test]
fn a_padding_value_arrives_with_all_eight_bytes() {
    let text = "PADDING1 INT8 in=2 out=7 PaddingMode=-1 PaddingValueDataType=99 \
                PaddingValue=0x0123456789ABCDEF StartPadding=4 EndPadding=1 fill=iota";
    marshalled(text).with(|desc| {
        assert_eq!(desc.Type, DML_OPERATOR_PADDING1);
        let desc: DML_PADDING1_OPERATOR_DESC = pointed(desc.Desc);
        assert_eq!((desc.PaddingMode.0, desc.PaddingValueDataType.0), (-1, 99));
        assert_eq!(u64::from_le_bytes(desc.PaddingValue.Bytes), 0x0123_4567_89AB_CDEF);
        assert_eq!(desc.DimensionCount, 1);
        assert_eq!(values(desc.StartPadding), padded(&[4], 0));
        assert_eq!(values(desc.EndPadding), padded(&[1], 0));
    });
}

#[test]
fn null_is_what_the_case_says_is_null_and_nothing_else() {
    let text = "SLICE FLOAT32 in=null out=4 InputTensor.DimensionCount=1 Offsets=null Sizes=4 Strides=1 \
                DimensionCount=1 fill=iota";
    marshalled(text).with(|desc| {
        let desc: DML_SLICE_OPERATOR_DESC = pointed(desc.Desc);
        assert!(desc.Offsets.is_null() && !desc.Sizes.is_null() && !desc.Strides.is_null());
        let input = buffer(desc.InputTensor);
        assert!(input.Sizes.is_null() && input.Strides.is_null());
    });
    let text = "SLICE FLOAT32 out=4 InputTensor=null DimensionCount=1 Offsets=0 Sizes=4 Strides=1 fill=iota";
    marshalled(text).with(|desc| {
        let desc: DML_SLICE_OPERATOR_DESC = pointed(desc.Desc);
        assert!(desc.InputTensor.is_null() && !desc.OutputTensor.is_null());
    });
}

#[test]
fn arrays_have_room_for_the_greatest_count_of_the_desc() {
    let text = "SLICE FLOAT32 in=4 out=4 DimensionCount=40 Offsets=0 Sizes=4 Strides=1 fill=iota";
    marshalled(text).with(|desc| {
        let desc: DML_SLICE_OPERATOR_DESC = pointed(desc.Desc);
        let input = buffer(desc.InputTensor);
        for array in [desc.Offsets, desc.Sizes, desc.Strides, input.Sizes] {
            // SAFETY: the greatest count of the desc is 40, and `with` keeps the arrays alive.
            let values = unsafe { slice::from_raw_parts(array, 40) };
            assert!(values[16..].iter().all(|value| *value <= SPARE_SIZE));
        }
    });
}

#[test]
fn counts_beyond_every_array_are_not_sent() {
    for count in [MOST_DIMENSIONS + 1, u32::MAX] {
        let text =
            format!("SLICE FLOAT32 in=4 out=4 DimensionCount={count} Offsets=0 Sizes=4 Strides=1 fill=iota");
        assert!(refused(&text).contains(&format!("a count of {count} is not sent")));
        let text = format!(
            "SLICE FLOAT32 in=4 out=4 OutputTensor.DimensionCount={count} Offsets=0 Sizes=4 Strides=1 fill=iota"
        );
        assert!(refused(&text).contains("is not sent"));
    }
}

#[test]
fn lengths_that_c_cannot_say_are_not_sent() {
    let members = "Offsets=0 Sizes=4 Strides=1";
    for (text, list) in [
        ("SLICE FLOAT32 in=4 out=4 Offsets=0,0 Sizes=4 Strides=1 fill=iota", "Offsets"),
        ("SLICE FLOAT32 in=4 out=4 Offsets=0 Sizes= Strides=1 fill=iota", "Sizes"),
        (
            &format!("SLICE FLOAT32 in=4 out=4 OutputTensor.Strides=1,1 {members} fill=iota"),
            "OutputTensor.Strides",
        ),
        (
            &format!(
                "SLICE FLOAT32 in=4,1 out=4 InputTensor.DimensionCount=1 DimensionCount=1 {members} fill=iota"
            ),
            "InputTensor.Sizes",
        ),
    ] {
        assert!(refused(text).contains(&format!("that {list} has another")), "{text}: {}", refused(text));
    }
    // The counts differ here, which the library can detect.
    marshalled("SLICE FLOAT32 in=4 out=4,1 Offsets=0 Sizes=4 Strides=1 fill=iota");
    marshalled("SLICE FLOAT32 in=4 out=4 DimensionCount=0 Offsets=0 Sizes=4 Strides=1 fill=iota");
}

#[test]
fn another_operator_is_named() {
    assert!(refused("TILE FLOAT32 in=4 out=8 Repeats=2 fill=iota").contains("TILE"));
}

#[test]
fn descs_that_are_equal_in_c_are_equal() {
    let text = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2";
    let with = |rest: &str| marshalled(&format!("{text} {rest}"));
    assert_eq!(with("fill=iota"), with("InputBinding.Offset=64 fill=random:7"));
    assert_ne!(with("fill=iota"), with("InputTensor.Strides=1 fill=iota"));
}
