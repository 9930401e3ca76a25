//! The judgements of the embedded specs: each clause broken alone, level by level, and the points that the
//! pages leave open.

use dmlcts_model::{FeatureLevel, line};
use dmlcts_spec::{Library, Operator, Scratch, Validity};

/// Judges a case line; `broken`, `exact` and `open` give the ids, without the operator's name.
struct Judged {
    validity: Validity,
    broken: Vec<&'static str>,
    exact: Vec<&'static str>,
    open: Vec<&'static str>,
}

fn short(id: &'static str) -> &'static str {
    id.split_once('.').map_or(id, |(_, id)| id)
}

fn judge_at(text: &str, level: FeatureLevel) -> Judged {
    let library = Library::embedded();
    let case = line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let operator: &Operator = library.operator(&case.desc.signature.operator).expect("the line named it");
    let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
    let clauses = |set: dmlcts_spec::IdSet| set.iter().map(|at| short(&operator.clauses()[at].id)).collect();
    Judged {
        validity: judgement.validity(),
        broken: clauses(judgement.violated),
        exact: clauses(judgement.boundary),
        open: judgement.questions.iter().map(|at| short(&operator.questions()[at].id)).collect(),
    }
}

fn judge(text: &str) -> Judged {
    judge_at(text, FeatureLevel::NEWEST)
}

fn level(text: &str) -> FeatureLevel {
    text.parse().expect("it is a level")
}

#[track_caller]
fn breaks(text: &str, ids: &[&str]) {
    let judged = judge(text);
    assert_eq!(judged.broken, ids, "{text}");
    assert_eq!(judged.validity, Validity::Invalid, "{text}");
}

const SLICE: &str = "SLICE FLOAT32 in=4,4 out=2,2 Offsets=0,1 Sizes=2,2 Strides=2,2";
const SLICE1: &str =
    "SLICE1 FLOAT32 in=4,4 out=2,2 InputWindowOffsets=0,1 InputWindowSizes=4,3 InputWindowStrides=-2,2";
const PADDING1: &str = "PADDING1 FLOAT32 in=4,4 out=5,6 PaddingMode=EDGE StartPadding=1,0 EndPadding=0,2";

/// A valid line with the value of a key replaced, or a key added.
fn with(line: &str, changes: &[(&str, &str)]) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for (key, value) in changes {
        let word = format!("{key}={value}");
        match words.iter_mut().find(|word| word.split('=').next() == Some(key)) {
            Some(known) => *known = word,
            None => words.push(word),
        }
    }
    words.join(" ")
}

#[test]
fn the_lines_that_these_tests_start_from_are_valid() {
    for line in [SLICE, SLICE1, PADDING1] {
        assert_eq!(judge(line).validity, Validity::Valid, "{line}: {:?}", judge(line).broken);
    }
}

#[test]
fn every_rule_of_tensors_can_be_broken_alone() {
    for line in [SLICE, SLICE1, PADDING1] {
        let breaks = |changes: &[(&str, &str)], id: &str| breaks(&with(line, changes), &[id]);
        breaks(&[("InputTensor.Strides", "4")], "input.strides-length");
        breaks(&[("OutputTensor.Strides", "9,3,1")], "output.strides-length");
        breaks(&[("InputTensor.TotalTensorSizeInBytes", "60")], "input.total-size");
        breaks(&[("OutputTensor.TotalTensorSizeInBytes", "8")], "output.total-size");
        breaks(&[("InputTensor.GuaranteedBaseOffsetAlignment", "24")], "input.alignment");
        breaks(&[("OutputTensor.GuaranteedBaseOffsetAlignment", "2")], "output.alignment");
        breaks(&[("OutputTensor.Flags", "1")], "owned-output");
        breaks(&[("OutputTensor.Strides", "0,1")], "output-disjoint");
        breaks(&[("OutputTensor.Strides", "1,1")], "output-disjoint");
        breaks(&[("InputTensor.DataType", "INT32")], "types-agree");
        breaks(&[("DimensionCount", "3")], "DimensionCount.agrees");
    }
    let null = "SLICE1 FLOAT32 InputTensor=null out=2,2 InputWindowOffsets=0,1 InputWindowSizes=4,3 InputWindowStrides=-2,2 DimensionCount=2";
    breaks(null, &["input.present"]);
    breaks(
        &with(SLICE1, &[("in", "null"), ("InputTensor.DimensionCount", "2"), ("DimensionCount", "2")]),
        &["input.sizes-present"],
    );
    breaks(
        "SLICE1 FLOAT32 in=65536,65536 out=1,1 InputWindowOffsets=0,0 InputWindowSizes=1,1 InputWindowStrides=1,1",
        &["input.element-count"],
    );
}

#[test]
fn every_own_clause_can_be_broken_alone() {
    breaks(&with(SLICE1, &[("InputWindowSizes", "4,0")]), &["window-not-empty"]);
    breaks(&with(SLICE1, &[("InputWindowOffsets", "1,1")]), &["window-in-bounds"]);
    breaks(&with(SLICE1, &[("InputWindowStrides", "0,2")]), &["stride-nonzero"]);
    breaks(&with(SLICE1, &[("out", "3,2")]), &["output-reachable"]);
    breaks(&with(SLICE1, &[("InputWindowOffsets", "0")]), &["InputWindowOffsets.length"]);
    breaks(&with(SLICE1, &[("InputWindowOffsets", "null")]), &["InputWindowOffsets.present"]);
    breaks(&with(SLICE, &[("Offsets", "2,1")]), &["reads-in-bounds"]);
    breaks(&with(SLICE, &[("out", "1,2")]), &["output-size"]);
    breaks(&with(PADDING1, &[("StartPadding", "2,0")]), &["output-size"]);
    breaks(&with(PADDING1, &[("PaddingValueDataType", "UNKNOWN")]), &["value-type"]);
    breaks(&with(PADDING1, &[("PaddingMode", "5")]), &["mode"]);
    breaks(&with(PADDING1, &[("PaddingMode", "-1")]), &["mode"]);
}

#[test]
fn sums_do_not_wrap() {
    // 4 + 0xFFFFFFFF + 1 is 2^32 + 4; where the output has 4, the sum wraps, and the question is open.
    breaks(
        "PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE StartPadding=4294967295 EndPadding=1",
        &["output-size"],
    );
    breaks("SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=4294967295", &["reads-in-bounds"]);
    breaks(
        "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=4294967295 InputWindowSizes=2 InputWindowStrides=1",
        &["window-in-bounds"],
    );
    let huge = "SLICE FLOAT32 in=4294967295,4294967295,4294967295,4294967295,4294967295,4294967295,4294967295,4294967295 \
                out=1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0 Sizes=1,1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1,1";
    assert!(judge(huge).broken.contains(&"input.element-count"));
}

#[test]
fn levels_decide_types_dimensions_and_modes() {
    let older = judge_at(SLICE1, level("2.1"));
    assert_eq!(older.broken, ["dimensions"]);
    assert_eq!(judge_at(SLICE1, level("2.0")).broken, ["introduced", "dimensions"]);
    let wide = SLICE1.replace("FLOAT32", "FLOAT64");
    assert_eq!(judge_at(&wide, level("4.0")).broken, ["types"]);
    assert_eq!(judge_at(&wide, level("4.1")).validity, Validity::Valid);
    let wrap = with(PADDING1, &[("PaddingMode", "WRAP")]);
    assert_eq!(judge_at(&wrap, level("6.3")).broken, ["mode"]);
    assert_eq!(judge_at(&wrap, level("6.4")).validity, Validity::Valid);
    for data_type in ["UINT4", "INT4", "UNKNOWN", "14"] {
        assert_eq!(judge(&SLICE1.replace("FLOAT32", data_type)).broken, ["types"], "{data_type}");
    }
    let nine = "SLICE UINT8 in=1,1,1,1,1,1,1,1,1 out=1,1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0,0 \
                Sizes=1,1,1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1,1,1";
    assert_eq!(judge(nine).broken, ["dimensions"]);
    assert_eq!(judge("SLICE UINT8 in= out= Offsets= Sizes= Strides=").broken, ["dimensions"]);
}

#[test]
fn extreme_strides_are_judged_by_their_magnitude() {
    for stride in ["-2147483648", "2147483647", "-1"] {
        let line = format!(
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=1 InputWindowSizes=2 InputWindowStrides={stride}"
        );
        assert_eq!(judge(&line).validity, Validity::Valid, "{stride}");
    }
}

#[test]
fn a_clause_that_is_kept_with_nothing_to_spare_is_on_its_boundary() {
    let judged = judge(SLICE1);
    assert!(judged.exact.contains(&"window-in-bounds"), "offset 0 and window 4 fill the axis of 4");
    assert!(judged.exact.contains(&"output-reachable"));
    assert!(judged.exact.contains(&"input.total-size"));
    assert!(!judged.exact.contains(&"stride-nonzero"), "no stride is 1 or -1");
    assert!(!judged.exact.contains(&"dimensions"), "two dimensions are neither one nor eight");
    let rank_four = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,0 \
                     InputWindowSizes=1,1,3,3 InputWindowStrides=1,1,2,2";
    assert!(
        judge_at(rank_four, level("2.1")).exact.contains(&"dimensions"),
        "four was the least at level 2.1"
    );
    assert!(!judge(rank_four).exact.contains(&"dimensions"), "and is not since 3.0");
}

#[test]
fn what_the_pages_leave_open_is_open() {
    let open = |text: &str, ids: &[&str]| {
        let judged = judge(text);
        assert_eq!(judged.validity, Validity::Open, "{text}: {:?}", judged.broken);
        assert_eq!(judged.open, ids, "{text}");
    };
    open(&with(SLICE, &[("Strides", "0,2")]), &["stride-zero"]);
    open("SLICE FLOAT32 in=4 out=1 Offsets=0 Sizes=1 Strides=2147483648", &["stride-above-int-max"]);
    let one = "PADDING1 FLOAT32 in=1 out=3 PaddingMode=REFLECTION StartPadding=1 EndPadding=1";
    open(one, &["reflection-of-one"]);
    assert_eq!(judge(&one.replace("REFLECTION", "SYMMETRIC")).validity, Validity::Valid);
    let wraps = "PADDING1 FLOAT32 in=4 out=4 PaddingMode=EDGE StartPadding=4294967295 EndPadding=1";
    open(wraps, &["output-size-wraps"]);
    open(&with(SLICE1, &[("InputTensor.TotalTensorSizeInBytes", "65")]), &["input.total-size-multiple"]);
    open(
        &with(SLICE1, &[("OutputTensor.GuaranteedBaseOffsetAlignment", "8")]),
        &["output.alignment-below-buffer"],
    );
    open(&with(SLICE1, &[("InputTensor.Flags", "2")]), &["input.unknown-flags"]);
    let span = with(
        SLICE1,
        &[("InputTensor.Strides", "4294967295,1"), ("InputTensor.TotalTensorSizeInBytes", "51539607568")],
    );
    open(&span, &["input.span"]);
    // A desc that breaks a clause is invalid, even if it raises questions.
    assert_eq!(judge(&with(SLICE, &[("Strides", "0,2"), ("Offsets", "9,1")])).validity, Validity::Invalid);
}

#[test]
fn inputs_may_be_broadcast_strided_and_owned() {
    for (strides, total) in [("0,0", "4"), ("0,1", "16"), ("1,4", "64"), ("8,2", "124")] {
        let line =
            with(SLICE1, &[("InputTensor.Strides", strides), ("InputTensor.TotalTensorSizeInBytes", total)]);
        assert_eq!(judge(&line).validity, Validity::Valid, "{strides}: {:?}", judge(&line).broken);
    }
    assert_eq!(judge(&with(SLICE1, &[("InputTensor.Flags", "1")])).validity, Validity::Valid);
}
