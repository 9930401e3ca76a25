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
