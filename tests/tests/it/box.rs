//! Judge and reference agree on every desc of a box, valid or not.
//!
//! They were written separately, one from YAML and one by hand. So a misread or forgotten rule shows as a
//! desc that one accepts and the other refuses. A desc that both accept is run, and the outputs are equal.
//! Descs that the pages leave open are counted: the reference may do either.

use std::{fmt, ops::RangeInclusive};

use dmlcts_backend::{Operators, Refusal};
use dmlcts_model::{BindingOffsets, Case, DataType, Desc, FeatureLevel, Fill, List, Side, Tensor, Value};
use dmlcts_reference::Reference;
use dmlcts_spec::{Library, Operator, Scratch, Validity};

/// The number of descs for each pair of answers.
#[derive(Default, PartialEq, Eq, Debug)]
struct Counts {
    valid: u32,
    invalid: u32,
    open: u32,
}

/// The judge and the reference, side by side.
struct Witnesses {
    operator: &'static Operator,
    level: FeatureLevel,
    scratch: Scratch,
    reference: Reference,
    counts: Counts,
}

impl Witnesses {
    fn new(operator: &str, level: FeatureLevel) -> Self {
        let mut reference = Reference::new();
        reference.set_feature_level(level);
        Self {
            operator: Library::embedded().operator(operator).expect("the library has the three operators"),
            level,
            scratch: Scratch::default(),
            reference,
            counts: Counts::default(),
        }
    }

    /// A desc with packed tensors of these sizes, as a start for variations.
    fn desc(&self, data_type: DataType, sizes: &[i64]) -> Desc {
        let tensor = Tensor::packed(data_type, List::from_slice(sizes));
        Desc::usual(self.operator.signature().clone(), tensor.clone(), tensor)
    }

    /// Judges a desc with both.
    fn check(&mut self, desc: &Desc) {
        let validity = self.operator.judge(desc, self.level, &mut self.scratch).validity();
        let answer = self.reference.create(desc);
        let agreed = match validity {
            Validity::Open => {
                self.counts.open += 1;
                true
            }
            Validity::Valid => {
                self.counts.valid += 1;
                answer.is_ok()
            }
            Validity::Invalid => {
                self.counts.invalid += 1;
                matches!(answer, Err(Refusal::Invalid(_)))
            }
        };
        assert!(agreed, "{}\nat {}: {validity:?}, but {answer:?}", Line(desc), self.level);
        if let Ok(operator) = answer {
            self.compare(desc, operator);
        }
    }

    /// Runs a desc that both accept, or an open one that the reference accepts: the outputs are equal, byte
    /// for byte.
    fn compare(&mut self, desc: &Desc, mut created: dmlcts_reference::Operator) {
        let bytes = |side| desc.tensor(side).map_or(0, |tensor| tensor.total_size as usize);
        let input: Vec<u8> = (1..=bytes(Side::Input) as u8).collect();
        let mut expected = vec![0xcd; bytes(Side::Output)];
        let mut actual = expected.clone();
        let valid = self.operator.judge_valid(desc, self.level, &mut self.scratch).expect("it was accepted");
        let plan = self.operator.plan(valid, 0, &mut self.scratch);
        plan.and_then(|mut plan| plan.execute(&input, &mut expected)).expect("the oracle computes it");
        let binding = BindingOffsets::default();
        self.reference.run(&mut created, binding, &input, &mut actual).expect("the reference runs it");
        assert_eq!(expected, actual, "{}", Line(desc));
    }
}

/// The line of a desc as a case, to run by hand.
struct Line<'a>(&'a Desc);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binding = BindingOffsets::default();
        Case { desc: Box::new(self.0.clone()), binding, fill: Fill::Iota }.fmt(f)
    }
}

fn set_extent(desc: &mut Desc, side: Side, extent: i64) {
    if let Some(tensor) = desc.tensor_mut(side) {
        *tensor = Tensor::packed(tensor.data_type, List::from_slice(&[extent]));
    }
}

/// Names of members, or of fields of tensors such as `InputTensor.DimensionCount`, with all their values.
type Ranges<'a> = &'a [(&'a str, RangeInclusive<i64>)];

/// Every desc of rank 1 with tensors of these sizes, and these values of the named members.
fn every_desc(operator: &str, sizes: RangeInclusive<i64>, members: Ranges<'_>) -> Counts {
    let mut witnesses = Witnesses::new(operator, FeatureLevel::NEWEST);
    let mut desc = witnesses.desc(DataType::UINT8, &[1]);
    for input in sizes.clone() {
        for output in sizes.clone() {
            set_extent(&mut desc, Side::Input, input);
            set_extent(&mut desc, Side::Output, output);
            every_value(&mut witnesses, &mut desc, members);
        }
    }
    witnesses.counts
}

fn every_value(witnesses: &mut Witnesses, desc: &mut Desc, members: Ranges<'_>) {
    let Some(((name, values), others)) = members.split_first() else { return witnesses.check(desc) };
    for value in values.clone() {
        set(desc, name, value);
        every_value(witnesses, desc, others);
    }
}

fn set(desc: &mut Desc, name: &str, value: i64) {
    let tensor = match name {
        "InputTensor.DimensionCount" => &mut desc.input,
        "OutputTensor.DimensionCount" => &mut desc.output,
        _ => {
            let place = desc.signature.position(name).expect("the operator has the member");
            return match &mut desc.members[place] {
                Value::List(Some(list)) => list[0] = value,
                other => *other = Value::Integer(value),
            };
        }
    };
    tensor.as_mut().expect("the tensor is there").dimension_count = value as u32;
}

#[test]
fn slice_of_rank_1() {
    let counts = every_desc("SLICE", 0..=8, &[("Offsets", 0..=9), ("Sizes", 0..=9), ("Strides", 0..=9)]);
    // Descs with stride 0 are open: 36 pairs of an input size and an offset inside it, 8 output sizes.
    assert_eq!(counts, Counts { valid: 480, invalid: 80_232, open: 288 });
}

#[test]
fn slice1_of_rank_1() {
    let members =
        [("InputWindowOffsets", 0..=9), ("InputWindowSizes", 0..=9), ("InputWindowStrides", -9..=9)];
    assert_eq!(every_desc("SLICE1", 0..=8, &members), Counts { valid: 2888, invalid: 151_012, open: 0 });
}

#[test]
fn padding1_of_rank_1() {
    let members = [("PaddingMode", 0..=9), ("StartPadding", 0..=9), ("EndPadding", 0..=9)];
    // In each of the 5 modes, there are 120 ways to write an output size up to 8 as input and two paddings.
    // The reflections of a single element are open: 36 pairs of paddings that leave room for it, less the
    // empty one.
    assert_eq!(every_desc("PADDING1", 0..=8, &members), Counts { valid: 565, invalid: 80_400, open: 35 });
}

/// The count of dimensions occurs in three places, and the lists have lengths of their own.
#[test]
fn slice1_of_any_dimension_count() {
    let members = [
        ("InputTensor.DimensionCount", 0..=9),
        ("OutputTensor.DimensionCount", 0..=9),
        ("DimensionCount", 0..=9),
        ("InputWindowOffsets", 0..=1),
        ("InputWindowSizes", 0..=2),
        ("InputWindowStrides", -1..=1),
    ];
    let counts = every_desc("SLICE1", 0..=2, &members);
    // Valid only with all three counts at 1. An input of 1 has the window (0, 1) with an output of 1; an
    // input of 2 has (0, 1) and (1, 1) with an output of 1, and (0, 2) with an output of 1 or 2: 5, with a
    // stride of 1 or -1. In all, 1,000 counts × 9 pairs of sizes × 2 offsets × 3 window sizes × 3 strides.
    assert_eq!(counts, Counts { valid: 10, invalid: 161_990, open: 0 });
}

#[test]
fn padding1_of_any_dimension_count_and_value_type() {
    let members = [
        ("PaddingMode", 0..=5),
        ("PaddingValueDataType", 0..=14),
        ("DimensionCount", 0..=9),
        ("StartPadding", 0..=1),
        ("EndPadding", 0..=1),
    ];
    let counts = every_desc("PADDING1", 0..=2, &members);
    // Valid only with a count of 1 and the tensors' UINT8. In each of the 5 modes, an input of 1 makes an
    // output of 1 or, with either padding, of 2, and an input of 2 one of 2: 4. Open are the reflections of a
    // single element with either padding: 2. In all, 9 pairs of sizes × 6 modes × 15 types × 10 counts × 4
    // paddings.
    assert_eq!(counts, Counts { valid: 18, invalid: 32_380, open: 2 });
}

/// Strides for which the judge's search gives up: it leaves the desc open and demands nothing.
#[test]
fn outputs_too_intricate_to_judge_are_open() {
    let mut witnesses = Witnesses::new("SLICE1", FeatureLevel::NEWEST);
    let mut desc = witnesses.desc(DataType::UINT8, &[6; 8]);
    for (name, value) in [("InputWindowSizes", 6), ("InputWindowStrides", 1)] {
        let place = desc.signature.position(name).expect("it has the member");
        desc.members[place] = Value::List(Some(List::from_elem(value, 8)));
    }
    let output = desc.output.as_mut().expect("the output is there");
    let strides = [1, 88_990_951, 101_262_343, 97_346_693, 82_340_921, 91_099_003, 95_672_491, 100_003_793];
    output.strides = Some(List::from_slice(&strides));
    output.total_size = output.usual_total_size();
    let judgement = witnesses.operator.judge(&desc, witnesses.level, &mut witnesses.scratch);
    let questions = witnesses.operator.questions();
    let raised: Vec<&str> = judgement.questions.iter().map(|place| questions[place].id.as_str()).collect();
    assert_eq!(raised, ["slice1.output-intricate"]);
    assert_eq!(judgement.validity(), Validity::Open);
}

/// The copy of a single-element tensor at each level, rank, data type and mode, those that exist and a few
/// that do not: the contents of the support tables.
#[test]
fn support() {
    let mut total = Counts::default();
    for &level in FeatureLevel::all() {
        for operator in ["SLICE", "SLICE1", "PADDING1"] {
            let mut witnesses = Witnesses::new(operator, level);
            for rank in 0..=9 {
                for code in 0..=14 {
                    let mut desc = witnesses.desc(DataType(code), &vec![1; rank]);
                    for name in ["Sizes", "Strides", "InputWindowSizes", "InputWindowStrides"] {
                        if let Some(place) = desc.signature.position(name) {
                            desc.members[place] = Value::List(Some(List::from_elem(1, rank)));
                        }
                    }
                    let Some(mode) = desc.signature.position("PaddingMode") else {
                        witnesses.check(&desc);
                        continue;
                    };
                    for value in -1..=5 {
                        desc.members[mode] = Value::Integer(value);
                        witnesses.check(&desc);
                    }
                }
            }
            total.valid += witnesses.counts.valid;
            total.invalid += witnesses.counts.invalid;
            total.open += witnesses.counts.open;
        }
    }
    // Ranks × types, level by level. SLICE: 2·6 twice, 2·8, then 8·8 three times and 8·11 nine times: 1,024.
    // SLICE1: without the first two, 1,000. PADDING1: 8·11 at eight levels in 4 modes, and WRAP once: 2,904.
    assert_eq!(total, Counts { valid: 4928, invalid: 15_322, open: 0 });
}
