//! One test for each rule: a valid desc is accepted, and with one change it is refused for that rule's
//! reason.

use dmlcts_backend::{Operators, Refusal};
use dmlcts_model::{DataType, FeatureLevel, Value};
use dmlcts_reference::Reference;

use crate::common::{case, create};

const SLICE: &str = "SLICE FLOAT32 in=4,5 out=2,5 Offsets=1,0 Sizes=2,5 Strides=2,1";
const SLICE1: &str = "SLICE1 FLOAT32 in=4,5 out=2,5 InputWindowOffsets=1,0 InputWindowSizes=3,5 \
                      InputWindowStrides=-2,1";
const PADDING1: &str = "PADDING1 FLOAT32 in=4,5 out=6,6 PaddingMode=CONSTANT StartPadding=2,0 EndPadding=0,1";

/// The line with one word replaced by another, or with a word added.
fn with(line: &str, word: &str, by: &str) -> String {
    if word.is_empty() {
        return format!("{line} {by}");
    }
    assert!(line.split_whitespace().any(|candidate| candidate == word), "{word} is not in {line}");
    let words = line.split_whitespace().map(|candidate| if candidate == word { by } else { candidate });
    words.collect::<Vec<_>>().join(" ")
}

/// Asserts that the changed line is refused as invalid, and the reason.
#[track_caller]
fn refused(line: &str, word: &str, by: &str, reason: &str) {
    create(line).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"));
    let changed = with(line, word, by);
    match create(&changed) {
        Err(Refusal::Invalid(found)) => assert!(found.contains(reason), "{changed}: {found}"),
        other => panic!("{changed}: {other:?}"),
    }
}

#[track_caller]
fn accepted(line: &str, word: &str, by: &str) {
    let changed = with(line, word, by);
    create(&changed).unwrap_or_else(|refusal| panic!("{changed}: {refusal:?}"));
}

/// A desc that breaks one rule passes without its check, and one that breaks a later rule, too, does not.
#[test]
fn a_reference_without_a_check_makes_the_others() {
    let reference = Reference::new();
    let without = |words: &str, reason: &str| {
        let desc = case(&with(SLICE, "", words)).desc;
        reference.refusal_without(&desc, reason).map(|refusal| format!("{refusal:?}"))
    };
    let small = "InputTensor.TotalTensorSizeInBytes=4";
    assert_eq!(without(small, "TotalTensorSizeInBytes is less"), None);
    assert!(without(small, "a size is 0").expect("refused").contains("TotalTensorSizeInBytes is less"));
    let both = format!("{small} OutputTensor.Flags=1");
    assert!(without(&both, "TotalTensorSizeInBytes is less").expect("refused").contains("OWNED_BY_DML"));
}

#[test]
fn null_tensors() {
    refused(SLICE, "in=4,5", "InputTensor=null DimensionCount=2", "InputTensor is null");
    refused(SLICE, "out=2,5", "OutputTensor=null", "OutputTensor is null");
}

#[test]
fn null_lists() {
    refused(SLICE, "in=4,5", "in=null InputTensor.DimensionCount=2", "InputTensor.Sizes is null");
    refused(SLICE, "out=2,5", "out=null OutputTensor.DimensionCount=2", "OutputTensor.Sizes is null");
    refused(SLICE, "Offsets=1,0", "Offsets=null", "Offsets is null");
    refused(SLICE1, "InputWindowSizes=3,5", "InputWindowSizes=null", "InputWindowSizes is null");
    refused(PADDING1, "EndPadding=0,1", "EndPadding=null", "EndPadding is null");
}

#[test]
fn lists_of_another_length() {
    refused(SLICE, "Strides=2,1", "Strides=2", "Strides has not one value an axis");
    refused(SLICE, "Sizes=2,5", "Sizes=2,5,1", "Sizes has not one value an axis");
    refused(SLICE1, "InputWindowStrides=-2,1", "InputWindowStrides=", "InputWindowStrides has not one");
    refused(PADDING1, "StartPadding=2,0", "StartPadding=2,0,0", "StartPadding has not one value an axis");
    refused(SLICE, "", "InputTensor.Strides=5", "InputTensor.Strides has not one value an axis");
}

#[test]
fn counts_that_disagree() {
    refused(SLICE, "", "DimensionCount=3", "DimensionCount is not that of the tensors");
    refused(SLICE1, "", "DimensionCount=1", "DimensionCount is not that of the tensors");
    refused(PADDING1, "", "DimensionCount=0", "DimensionCount is not that of the tensors");
    refused(SLICE, "out=2,5", "out=2,5,1", "dimension counts differ");
    refused(SLICE, "", "InputTensor.DimensionCount=3", "dimension counts differ");
}

#[test]
fn data_types() {
    refused(SLICE, "", "OutputTensor.DataType=INT32", "data types differ");
    refused(SLICE, "FLOAT32", "UNKNOWN", "data type is not supported");
    refused(SLICE1, "FLOAT32", "UINT4", "data type is not supported");
    refused(PADDING1, "FLOAT32", "99", "data type is not supported");
}

#[test]
fn dimension_counts() {
    let nine = "SLICE FLOAT32 in=1,1,1,1,1,1,1,1,1 out=1,1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0,0 \
                Sizes=1,1,1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1,1,1";
    let without = "SLICE FLOAT32 in= out= Offsets= Sizes= Strides=";
    for line in [nine, without] {
        assert!(matches!(create(line), Err(Refusal::Invalid(reason)) if reason.contains("dimension count")));
    }
}

#[test]
fn sizes_of_zero() {
    refused(SLICE, "in=4,5", "in=4,0", "a size is 0");
    refused(PADDING1, "out=6,6", "out=0,6", "a size is 0");
}

#[test]
fn too_many_elements() {
    let line = |size: u32| {
        format!("SLICE UINT8 in=65536,{size} out=65536,{size} Offsets=0,0 Sizes=65536,{size} Strides=1,1")
    };
    assert!(create(&line(65535)).is_ok());
    let refusal = create(&line(65536)).unwrap_err();
    assert!(matches!(refusal, Refusal::Invalid(reason) if reason.contains("2^32 - 1 elements")));
    refused(SLICE, "in=4,5", "in=4294967295,4294967295", "more than 2^32 - 1 elements");
}

#[test]
fn strides_that_span_too_much() {
    // 3 * 1,431,655,762 + 4 * 2 + 1 = 2^32 - 1, and 3 * 1,431,655,765 + 1 = 2^32.
    accepted(SLICE, "", "InputTensor.Strides=1431655762,2");
    refused(SLICE, "", "InputTensor.Strides=1431655765,0", "span more than 2^32 - 1 elements");
    refused(SLICE, "", "InputTensor.Strides=4294967295,4294967295", "span more than 2^32 - 1 elements");
}

#[test]
fn total_sizes() {
    accepted(SLICE, "", "InputTensor.TotalTensorSizeInBytes=80");
    refused(SLICE, "", "InputTensor.TotalTensorSizeInBytes=79", "TotalTensorSizeInBytes");
    accepted(SLICE, "", "OutputTensor.TotalTensorSizeInBytes=18446744073709551615");
    let bytes = SLICE.replace("FLOAT32", "UINT8");
    // Ten bytes, which are rounded up to twelve.
    refused(&bytes, "", "OutputTensor.TotalTensorSizeInBytes=11", "TotalTensorSizeInBytes");
    accepted(&bytes, "", "OutputTensor.TotalTensorSizeInBytes=13");
}

#[test]
fn alignments() {
    for alignment in ["4", "8", "16", "2147483648"] {
        accepted(SLICE, "", &format!("InputTensor.GuaranteedBaseOffsetAlignment={alignment}"));
    }
    for alignment in ["1", "2", "12", "17", "4294967295"] {
        let word = format!("OutputTensor.GuaranteedBaseOffsetAlignment={alignment}");
        refused(SLICE, "", &word, "GuaranteedBaseOffsetAlignment");
    }
}

#[test]
fn flags() {
    accepted(SLICE, "", "InputTensor.Flags=1");
    refused(SLICE, "", "OutputTensor.Flags=1", "for inputs only");
    refused(SLICE, "", "InputTensor.Flags=2", "flags without a name");
}

#[test]
fn outputs_that_overlap_themselves() {
    accepted(SLICE, "", "InputTensor.Strides=0,0");
    accepted(SLICE, "", "OutputTensor.Strides=1,2");
    refused(SLICE, "", "OutputTensor.Strides=0,1", "overlap itself");
    refused(SLICE, "", "OutputTensor.Strides=4,1", "overlap itself");
}

/// Whether an output overlaps itself can take too long to find out. That is no reason to leave another rule
/// unchecked.
#[test]
fn an_intricate_output_that_breaks_another_rule_is_invalid() {
    let intricate = "SLICE FLOAT32 in=4,4000000 out=2,4000000 OutputTensor.Strides=3,2 Offsets=0,0 \
                     Sizes=2,4000000 Strides=1,1";
    assert!(matches!(create(intricate), Err(Refusal::Unsupported(_))), "{intricate}");
    let invalid = with(intricate, "Offsets=0,0", "Offsets=3,0");
    assert!(matches!(create(&invalid), Err(Refusal::Invalid(_))), "{invalid}");
}

#[test]
fn slice_rules() {
    refused(SLICE, "Sizes=2,5", "Sizes=1,5", "Sizes is not OutputTensor.Sizes");
    refused(SLICE, "Offsets=1,0", "Offsets=2,0", "reads beyond the input");
    refused(SLICE, "Strides=2,1", "Strides=3,1", "reads beyond the input");
    refused(SLICE, "Offsets=1,0", "Offsets=4294967295,0", "reads beyond the input");
    refused(SLICE, "Strides=2,1", "Strides=0,1", "a stride is 0");
    let one = "SLICE FLOAT32 in=4 out=1 Offsets=3 Sizes=1 Strides=2147483647";
    refused(one, "Strides=2147483647", "Strides=2147483648", "above INT_MAX");
}

#[test]
fn slice1_rules() {
    refused(SLICE1, "InputWindowSizes=3,5", "InputWindowSizes=0,5", "the window is empty");
    refused(SLICE1, "InputWindowSizes=3,5", "InputWindowSizes=4,5", "beyond the input");
    refused(SLICE1, "InputWindowOffsets=1,0", "InputWindowOffsets=4294967295,0", "beyond the input");
    refused(SLICE1, "InputWindowStrides=-2,1", "InputWindowStrides=0,1", "a stride is 0");
    refused(SLICE1, "InputWindowStrides=-2,1", "InputWindowStrides=-3,1", "strides reach");
    refused(SLICE1, "InputWindowStrides=-2,1", "InputWindowStrides=3,1", "strides reach");
    for stride in [i32::MIN, -1, 1, i32::MAX] {
        let one = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=3 InputWindowSizes=1";
        accepted(one, "", &format!("InputWindowStrides={stride}"));
    }
}

#[test]
fn padding1_rules() {
    refused(PADDING1, "EndPadding=0,1", "EndPadding=0,2", "with both paddings");
    refused(PADDING1, "StartPadding=2,0", "StartPadding=4294967295,0", "with both paddings");
    // 4 + 0xffffffff + 3 is 6 in 32 bits only.
    let wrapping = with(PADDING1, "StartPadding=2,0", "StartPadding=4294967295,0");
    let wrapping = with(&wrapping, "EndPadding=0,1", "EndPadding=3,1");
    assert!(matches!(create(&wrapping), Err(Refusal::Invalid(_))));
    refused(PADDING1, "", "PaddingValueDataType=UNKNOWN", "PaddingValueDataType");
    refused(PADDING1, "PaddingMode=CONSTANT", "PaddingMode=5", "PaddingMode");
    refused(PADDING1, "PaddingMode=CONSTANT", "PaddingMode=-1", "PaddingMode");
    let edge = with(PADDING1, "PaddingMode=CONSTANT", "PaddingMode=EDGE");
    refused(&edge, "", "PaddingValueDataType=INT32", "PaddingValueDataType");
    accepted("PADDING1 INT8 in=1 out=4 PaddingMode=REFLECTION StartPadding=1", "", "EndPadding=2");
}

/// Creates the operator of a line at a level.
fn at(level: &str, line: &str) -> bool {
    let mut reference = Reference::new();
    reference.set_feature_level(level.parse().expect("the level exists"));
    match reference.create(&case(line).desc) {
        Ok(_) => true,
        Err(Refusal::Invalid(_)) => false,
        Err(other) => panic!("{line}: {other:?}"),
    }
}

/// The first level that accepts a line; every later one accepts it as well.
fn since(line: &str) -> Option<String> {
    let levels: Vec<String> = FeatureLevel::all().iter().map(FeatureLevel::to_string).collect();
    let first = levels.iter().position(|level| at(level, line))?;
    assert!(levels[first..].iter().all(|level| at(level, line)), "{line}");
    Some(levels[first].clone())
}

#[test]
fn support_begins_where_the_tables_say() {
    let list = |value: &str, rank: usize| vec![value; rank].join(",");
    let line = |operator: &str, data_type: DataType, rank: usize| {
        let (zeroes, ones) = (list("0", rank), list("1", rank));
        let members = match operator {
            "SLICE" => format!("Offsets={zeroes} Sizes={ones} Strides={ones}"),
            "SLICE1" => {
                format!("InputWindowOffsets={zeroes} InputWindowSizes={ones} InputWindowStrides={ones}")
            }
            _ => format!("PaddingMode=EDGE StartPadding={zeroes} EndPadding={zeroes}"),
        };
        format!("{operator} {data_type} in={ones} out={ones} {members}")
    };
    for rank in 1..=8 {
        for data_type in DataType::all() {
            let by_rank = if rank == 4 || rank == 5 { "1.0" } else { "3.0" };
            let (slice, slice1, padding1) = match data_type.bits() {
                Some(4) | None => (None, None, None),
                Some(64) => (Some("4.1"), Some("4.1"), Some("5.0")),
                Some(8) => (Some("2.1"), Some("2.1"), Some("5.0")),
                _ => (Some("1.0"), Some("2.1"), Some("5.0")),
            };
            for (operator, by_type) in [("SLICE", slice), ("SLICE1", slice1), ("PADDING1", padding1)] {
                let expected = by_type.map(|level| level.max(by_rank).to_owned());
                let line = line(operator, data_type, rank);
                assert_eq!(since(&line), expected, "{line}");
            }
        }
    }
    let wrap = "PADDING1 INT8 in=2 out=3 PaddingMode=WRAP StartPadding=1 EndPadding=0";
    assert_eq!(since(wrap).as_deref(), Some("6.4"));
}

#[test]
fn operators_and_members_of_others() {
    let mut desc = case(SLICE).desc;
    desc.members.pop();
    assert!(matches!(Reference::new().create(&desc), Err(Refusal::Invalid(_))));
    desc.members.push(Value::Integer(0));
    assert!(matches!(Reference::new().create(&desc), Err(Refusal::Invalid(_))));
}
