//! Predicates over the cases of several operators.

use dmlcts_model::{
    BindingOffsets, Case, DataType, Desc, FeatureLevel, Fill, List, MemberKind, Tensor, Value, line,
};
use dmlcts_spec::{Library, Predicate, expression::Scope, program::Values};

use super::fixture::{LEVEL, desc, mode, scope, shown, signature};

fn other() -> Scope {
    Scope::new(signature(
        "CROP",
        &[("Keep", MemberKind::U32List), ("Limit", MemberKind::Enumeration(mode()))],
    ))
}

fn case(desc: Desc) -> Case {
    Case { desc: Box::new(desc), binding: BindingOffsets { input: 16, output: 0 }, fill: Fill::Iota }
}

fn both(text: &str) -> (bool, bool) {
    let predicate = Predicate::compile(text, [&scope(), &other()]).unwrap();
    let mut fold = desc(&[4, 4], &[4, 4], &[1, 2], &[1, -1]);
    fold.members[0] = Value::Integer(2);
    let tensor = || Tensor::packed(DataType::INT8, List::from_slice(&[5]));
    let mut crop = Desc::usual(other().signature().clone(), tensor(), tensor());
    crop.members[0] = Value::List(Some(List::from_slice(&[3])));
    let mut values = Values::default();
    (predicate.holds(&case(fold), LEVEL, &mut values), predicate.holds(&case(crop), LEVEL, &mut values))
}

#[test]
fn names_of_another_operator_are_undefined_here() {
    assert_eq!(both("operator == FOLD"), (true, false));
    assert_eq!(both("operator in [FOLD, CROP]"), (true, true));
    assert_eq!(both("PaddingMode == REFLECTION"), (true, false));
    assert_eq!(both("not (PaddingMode == REFLECTION)"), (false, false));
    assert_eq!(both("any axis Keep == 3"), (false, true));
    assert_eq!(both("(any axis Keep == 3) or any axis magnitude == 1"), (true, true));
    assert_eq!(both("present(Offsets)"), (true, false));
    assert_eq!(both("InputTensor.DataType == INT8 and rank == 1"), (false, true));
    assert_eq!(both("InputBinding.Offset == 16 and OutputBinding.Offset == 0"), (true, true));
    // An integer in one operator, an enumeration in another: a name fits only one of them, a code both.
    assert_eq!(both("Limit == 0"), (true, true));
    assert_eq!(both("Limit == CONSTANT"), (false, true));
    assert_eq!(both("Limit < 1"), (true, false));
}

#[test]
fn what_a_desc_is_judged_has_a_name() {
    let library = Library::embedded();
    let holding = |text: &str, level: &str| {
        let case = line::parse(text, library.signatures()).unwrap();
        let level: FeatureLevel = level.parse().unwrap();
        let holds = |name: &&str| {
            let predicate = Predicate::parse(name, library).unwrap();
            predicate.holds(&case, level, &mut Values::default())
        };
        let names = ["valid", "invalid", "open", "not (valid or open)", "not invalid and rank == 1"];
        names.into_iter().filter(holds).collect::<Vec<_>>()
    };
    let slice = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=";
    assert_eq!(holding(&format!("{slice}2"), "6.4"), ["valid", "not invalid and rank == 1"]);
    assert_eq!(holding(&format!("{slice}3"), "6.4"), ["invalid", "not (valid or open)"]);
    assert_eq!(holding(&format!("{slice}0"), "6.4"), ["open", "not invalid and rank == 1"]);
    let padding = "PADDING1 UINT8 in=4 out=6 PaddingMode=WRAP StartPadding=1 EndPadding=1";
    assert_eq!(holding(padding, "6.4"), ["valid", "not invalid and rank == 1"]);
    assert_eq!(holding(padding, "6.2"), ["invalid", "not (valid or open)"], "the level counts");
    // A spec has no such names: a judgement cannot depend on itself.
    let expression = dmlcts_spec::expression::parse("valid").unwrap();
    let scope = library.scopes().next().unwrap();
    assert!(scope.condition(&expression, dmlcts_spec::expression::Position::Once).is_err());
}

#[test]
fn a_name_that_no_operator_has_is_a_mistake() {
    let complaint = |text: &str| shown(text, &Predicate::compile(text, [&scope(), &other()]).unwrap_err());
    insta::assert_snapshot!(complaint("any axis Kep == 3"), @r"
    any axis Kep == 3
             ^^^
    `Kep` means nothing here
    help: did you mean `Keep`?
    ");
    insta::assert_snapshot!(complaint("operator == FOLDS"), @r"
    operator == FOLDS
                ^^^^^
    `FOLDS` means nothing here
    help: did you mean `FOLD`?
    ");
    insta::assert_snapshot!(complaint("rank"), @r"
    rank
    ^^^^
    expected a condition, found an integer
    help: a condition is a comparison, or several joined by `and`, `or`, `not`
    ");
}

/// Whether a predicate holds for SLICE with these strides of a tensor of sizes 2, 3, 4 and steps 1, 2, 1.
#[track_caller]
fn of_strides(predicate: &str, strides: &str) -> bool {
    let line = format!(
        "SLICE UINT8 in=2,3,4 out=2,2,4 Offsets=0,0,0 Sizes=2,3,4 Strides=1,2,1 InputTensor.Strides={strides}"
    );
    let library = Library::embedded();
    let case = line::parse(&line, library.signatures()).unwrap();
    let predicate = Predicate::parse(predicate, library).unwrap_or_else(|error| panic!("{error:?}"));
    predicate.holds(&case, LEVEL, &mut Values::default())
}

#[test]
fn an_axis_can_ask_for_values_of_another() {
    let packed = "12,4,1";
    assert!(of_strides("(sum axes (if InputTensor.Strides > 4 then next(Strides) else 0)) == 2", packed));
    assert!(of_strides("any axis (next(InputTensor.Sizes) == 4 and InputTensor.Sizes == 3)", packed));
    assert!(of_strides("any axis (previous(InputTensor.Sizes) == 2 and InputTensor.Sizes == 3)", packed));
    assert!(of_strides("any axis previous(previous(InputTensor.Sizes)) == 2", packed));
    assert!(of_strides("all axes last(InputTensor.Sizes) == 4", packed));
    assert!(of_strides("all axes first(InputTensor.Sizes) == 2", packed));
    assert!(of_strides("all axes opposite(InputTensor.Sizes) + InputTensor.Sizes == 6", packed));
    assert!(of_strides("any axis (axis == 0 and opposite(InputTensor.Sizes == 4))", packed));
    assert!(!of_strides("any axis (axis == 1 and opposite(Strides != 2))", packed), "the middle is its own");
    assert!(of_strides(
        "all axes (axis == 2 or InputTensor.Strides == next(InputTensor.Sizes * InputTensor.Strides))",
        packed
    ));
    assert!(!of_strides("any axis InputTensor.Strides < next(InputTensor.Strides)", packed));
    assert!(of_strides("any axis InputTensor.Strides < next(InputTensor.Strides)", "12,1,3"));
    assert!(of_strides("any axis InputTensor.Strides < last(InputTensor.Strides)", "1,2,6"));
    // Conditions: only axis 1 has a step of 2.
    assert!(of_strides("any axis (axis == 0 and next(Strides == 2) and later(Strides == 2))", packed));
    assert!(of_strides(
        "any axis (axis == 0 and later(InputTensor.Sizes == 4) and not next(InputTensor.Sizes == 4))",
        packed
    ));
    assert!(of_strides("all axes (axis == 0 or not later(Strides == 2))", packed));
    assert!(!of_strides("any axis (axis == 1 and later(Strides == 2))", packed), "an axis is not its own");
}

#[test]
fn a_condition_on_the_first_or_the_last_axis_stands_alone() {
    let packed = "12,4,1";
    assert!(of_strides("last(InputTensor.Sizes == 4 and Strides == 1) and rank == 3", packed));
    assert!(!of_strides("last(InputTensor.Sizes == 4 and Strides == 2)", packed), "2 is of another axis");
    assert!(of_strides("first(InputTensor.Sizes == 2)", packed));
    assert!(!of_strides("not first(InputTensor.Sizes == 2)", packed));
}

#[test]
fn beyond_the_first_and_the_last_axis_nothing_is_defined() {
    let packed = "12,4,1";
    for beyond in
        ["axis == 2 and next(InputTensor.Sizes) X 0", "axis == 0 and previous(InputTensor.Sizes) X 0"]
    {
        for comparison in [">=", "<"] {
            assert!(!of_strides(&format!("any axis ({})", beyond.replace('X', comparison)), packed));
        }
    }
    // There are always axes of one desc alone, however many lanes are computed.
    assert!(!of_strides("any axis (axis == 2 and next(axis) == 3)", packed));
    assert!(!of_strides("(sum axes next(InputTensor.Sizes)) >= 0", packed), "a sum of something undefined");
    assert!(of_strides("(sum axes (if axis == 2 then 0 else next(InputTensor.Sizes))) == 7", packed));
    assert!(of_strides("all axes (axis < 2 or not later(InputTensor.Sizes > 0))", packed));
}

#[test]
fn codes_and_sizes_of_members_are_integers() {
    let library = Library::embedded();
    let holds = |predicate: &str, more: &str| {
        let line = format!("PADDING1 FLOAT32 in=2 out=2 StartPadding=0 EndPadding=0 {more}");
        let case = line::parse(&line, library.signatures()).unwrap();
        Predicate::parse(predicate, library).unwrap().holds(&case, LEVEL, &mut Values::default())
    };
    assert!(holds("code(PaddingMode) mod 256 == 1", "PaddingMode=257"));
    assert!(holds("code(PaddingMode) == 2", "PaddingMode=REFLECTION"));
    assert!(holds("code(InputTensor.DataType) == 1", "PaddingMode=EDGE"));
    assert!(holds("size(PaddingValueDataType) == 4", "PaddingMode=EDGE"));
    assert!(holds("size(PaddingValueDataType) == 2", "PaddingMode=EDGE PaddingValueDataType=INT16"));
    assert!(!holds("size(PaddingValueDataType) >= 0", "PaddingMode=EDGE PaddingValueDataType=UINT4"));
    assert!(!holds("size(PaddingValueDataType) >= 0", "PaddingMode=EDGE PaddingValueDataType=99"));
}

#[test]
fn mistakes_about_other_axes_are_explained() {
    let library = Library::embedded();
    let message = |text: &str| {
        let mistake = Predicate::parse(text, library).unwrap_err();
        format!("{} {}", mistake.message, mistake.help.unwrap_or_default())
    };
    assert!(message("any axis next(rank) == 1").contains("the same on every axis"));
    assert!(message("any axis later(Offsets)").contains("expected a condition"));
    assert!(
        message("next(InputTensor.Sizes) == 1").contains("axis"),
        "{}",
        message("next(InputTensor.Sizes) == 1")
    );
    assert!(message("size(rank) == 1").contains("`size` takes a data type"));
    let expression = dmlcts_spec::expression::parse("next(InputTensor.Sizes) == 1").unwrap();
    let mistake = scope().condition(&expression, dmlcts_spec::expression::Position::EachAxis).unwrap_err();
    assert!(mistake.message.contains("predicates over cases only"));
}
