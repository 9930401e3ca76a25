//! Faults with known causes, and what is learned of them. `dmlcts-lab findings` measures more of them.

use std::sync::LazyLock;

use dmlcts_findings::{Budget, Label, Labelled, Learned, learn};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Predicate, Validity, program::Values};

use crate::faults::{BUDGET, Fault, SMOKE, fresh, labelled, mutant, validity};

/// Cases of which nothing was learned.
static FRESH: LazyLock<Vec<Case>> = LazyLock::new(|| fresh(1_500, 77));

fn correlated(fault: &Fault) -> Vec<Learned> {
    learn(&labelled(fault, &SMOKE), (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None)
}

fn experimented(fault: &Fault) -> Vec<Learned> {
    experimented_with(fault, 1)
}

fn experimented_with(fault: &Fault, seed: u64) -> Vec<Learned> {
    experimented_on(fault, seed, |_| true)
}

/// What is learned from some of the cases.
fn experimented_on(fault: &Fault, seed: u64, is_chosen: impl Fn(&Case) -> bool) -> Vec<Learned> {
    let cases: Vec<Case> = SMOKE.iter().filter(|case| is_chosen(case)).cloned().collect();
    learn(
        &labelled(fault, &cases),
        (Library::embedded(), FeatureLevel::NEWEST),
        seed,
        BUDGET,
        Some(&mut |cases: &[Case]| fault.labels(cases)),
    )
}

/// The predicates, of all operators.
fn texts(learned: &[Learned]) -> Vec<&str> {
    learned.iter().flat_map(|one| &one.predicates).map(|found| found.condition.as_str()).collect()
}

/// A predicate that holds where any of the predicates holds.
fn predicate(learned: &Learned) -> String {
    let operator = format!("operator == {}", learned.operator);
    match learned.predicates.as_slice() {
        [] => operator,
        [one] => format!("{operator} and {}", one.condition),
        several => {
            let texts: Vec<String> = several.iter().map(|one| format!("({})", one.condition)).collect();
            format!("{operator} and ({})", texts.join(" or "))
        }
    }
}

fn is_failure(labelled: &Labelled) -> bool {
    matches!(labelled.label, Label::Failed(_))
}

/// The number of fresh cases for which the predicates and a fault disagree.
fn wrong(fault: &Fault, learned: &[Learned]) -> usize {
    wrong_of(fault, learned, |_| true)
}

/// The same of some of the cases.
fn wrong_of(fault: &Fault, learned: &[Learned], is_chosen: impl Fn(&Case) -> bool) -> usize {
    let parse = |one: &Learned| Predicate::parse(&predicate(one), Library::embedded());
    let predicates: Vec<Predicate> =
        learned.iter().map(|one| parse(one).expect("a learned predicate compiles")).collect();
    let cases: Vec<Case> = FRESH.iter().filter(|case| is_chosen(case)).cloned().collect();
    let mut values = Values::default();
    let mut holds =
        |case: &Case| predicates.iter().any(|one| one.holds(case, FeatureLevel::NEWEST, &mut values));
    let labels = fault.labels(&cases);
    cases.iter().zip(labels).filter(|(case, label)| holds(case) != matches!(label, Label::Failed(_))).count()
}

#[test]
fn a_cause_on_one_axis_is_found_in_the_suite_alone() {
    let learned = correlated(&mutant("slice1-reach-rounded-down"));
    assert_eq!(
        texts(&learned),
        // The output is as large as if the division were not rounded down.
        ["any axis (OutputTensor.Sizes > 1 and OutputTensor.Sizes == 1 + InputWindowSizes / magnitude)"]
    );
    assert!(learned[0].exact && learned[0].asked == 0 && learned[0].estimate.is_none());
}

#[test]
fn two_causes_are_two_predicates() {
    let fault = "(PaddingMode == WRAP and rank >= 6) or (PaddingMode == EDGE and (any axis StartPadding > InputTensor.Sizes))";
    let learned = correlated(&Fault::of_predicate(fault));
    let mut found = texts(&learned);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "PaddingMode == EDGE and any axis StartPadding > InputTensor.Sizes",
            "rank >= 6 and PaddingMode == WRAP"
        ]
    );
}

#[test]
fn conditions_on_two_axes_are_found() {
    let fault =
        "(any axis (highest > 0 and InputTensor.Strides == 0)) and any axis (axis >= 4 and highest > 0)";
    let learned = correlated(&Fault::of_predicate(fault));
    assert_eq!(texts(&learned), [fault; 3]);
}

#[test]
fn a_cause_that_shows_in_two_ways_is_one_predicate() {
    let fault = "PaddingMode == REFLECTION and any axis (StartPadding > 0 or EndPadding >= 3)";
    assert_eq!(texts(&experimented(&Fault::of_predicate(fault))), [fault]);
    // Most cases have an axis that is not broadcast, so that it is nothing that two causes have in common.
    let unlike = "operator == SLICE and ((any axis (InputTensor.Strides > 0 and axis >= 6)) \
                  or any axis (InputTensor.Strides > 0 and Strides >= 3))";
    assert_eq!(texts(&experimented(&Fault::of_predicate(unlike))).len(), 2);
}

#[test]
fn operators_share_a_condition_despite_a_pass_by_chance() {
    let mut labelled = labelled(&Fault::of_predicate("rank >= 3 and InputTensor.ElementSize == 2"), &SMOKE);
    let is_of_slice = |one: &&mut Labelled| one.case.desc.signature.operator == "SLICE" && is_failure(one);
    let by_chance = labelled.iter_mut().filter(is_of_slice).nth(7).expect("SLICE fails");
    by_chance.label = Label::Passed;
    let learned = learn(&labelled, (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None);
    assert_eq!(texts(&learned), ["rank >= 3 and InputTensor.ElementSize == 2"; 3]);
    let wrong: Vec<(&str, usize, bool)> =
        learned.iter().map(|one| (one.operator.as_str(), one.wrong, one.exact)).collect();
    assert_eq!(wrong, [("SLICE", 1, false), ("SLICE1", 0, true), ("PADDING1", 0, true)]);
}

#[test]
fn operators_share_what_their_rules_have_in_common() {
    let mut labelled = labelled(&Fault::of_predicate("rank >= 3 and InputTensor.ElementSize == 2"), &SMOKE);
    for operator in ["SLICE", "SLICE1", "PADDING1"] {
        let is_of = |one: &&mut Labelled| one.case.desc.signature.operator == operator && is_failure(one);
        labelled.iter_mut().filter(is_of).nth(7).expect("each operator fails").label = Label::Passed;
    }
    let learned = learn(&labelled, (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None);
    assert_eq!(texts(&learned), ["rank >= 3 and InputTensor.ElementSize == 2"; 3]);
    assert!(learned.iter().all(|one| one.wrong == 1 && !one.exact), "{learned:?}");
}

#[test]
fn operators_do_not_share_a_condition_that_many_cases_contradict() {
    let learned = correlated(&Fault::of_predicate(
        "InputTensor.ElementSize == 2 and (operator == SLICE1 or (operator == SLICE and rank >= 3))",
    ));
    assert_eq!(
        texts(&learned),
        ["rank >= 3 and InputTensor.ElementSize == 2", "InputTensor.ElementSize == 2"]
    );
}

#[test]
fn experiments_correct_what_the_suite_suggests() {
    let fault = Fault::of_predicate("operator == SLICE and rank < 4 and (all axes OutputTensor.Sizes >= 4)");
    let alone = correlated(&fault);
    assert_eq!(texts(&alone), ["all axes Sizes >= 4"], "the suite has no larger rank");
    // Few fresh cases have four axes of four elements, so one of the seeds may draw none.
    let learned: Vec<_> = (1..=4).map(|seed| experimented_with(&fault, seed)).collect();
    let mut right = learned.iter().filter(|one| texts(one) == ["rank <= 3 and all axes Sizes >= 4"]);
    let Some([Learned { exact: true, asked, counterexamples, estimate: Some(estimate), .. }]) =
        right.next().map(Vec::as_slice)
    else {
        panic!("{learned:?}");
    };
    assert!(*asked <= BUDGET.cases && *counterexamples > 0 && estimate.wrong() == 0, "{learned:?}");
    assert!(right.count() >= 2, "{learned:?}");
}

/// REFLECTION of two elements clamps. Some passes have equal elements, so that a wrong one does not show.
#[test]
fn passes_with_equal_elements_are_asked_again() {
    let fault = mutant("padding-mirror-of-two-clamps");
    let learned = experimented(&fault);
    assert_eq!(wrong(&fault, &learned), 0, "{:?}", texts(&learned));
}

#[test]
fn the_same_input_gives_the_same_predicates_on_any_number_of_threads() {
    let fault =
        Fault::of_predicate("operator == SLICE1 and (any axis InputWindowStrides < -1) and rank >= 3");
    let learned = |threads: usize| {
        let ask = &mut |cases: &[Case]| fault.labels(cases);
        let budget = Budget { threads, ..BUDGET };
        learn(&labelled(&fault, &SMOKE), (Library::embedded(), FeatureLevel::NEWEST), 1, budget, Some(ask))
    };
    let one = learned(1);
    assert_eq!(one, learned(1));
    assert_eq!(one, learned(3));
}

#[test]
fn what_the_language_lacks_is_not_called_exact() {
    // The parity of the fill's seed is no condition on a desc.
    let of = |case: &Case| match case.fill {
        dmlcts_model::Fill::Random { seed } if seed % 2 == 0 => Label::Failed("wrong".to_owned()),
        _ => Label::Passed,
    };
    let cases: Vec<Labelled> = SMOKE
        .iter()
        .filter(|case| case.desc.signature.operator == "SLICE" && validity(case) == Validity::Valid)
        .map(|case| Labelled { case: case.clone(), label: of(case) })
        .collect();
    let learned = learn(&cases, (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None);
    assert!(learned.iter().all(|one| !one.exact), "{:?}", texts(&learned));
}

#[test]
fn failures_alone_need_no_predicate() {
    let label = |label: Label| {
        let cases = SMOKE.iter().filter(|case| validity(case) == Validity::Valid).take(50);
        let labelled: Vec<Labelled> =
            cases.map(|case| Labelled { case: case.clone(), label: label.clone() }).collect();
        learn(&labelled, (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None)
    };
    assert_eq!(label(Label::Passed), []);
    assert_eq!(label(Label::Unknown), []);
    let learned = label(Label::Failed("crash".to_owned()));
    assert!(learned.iter().all(|one| one.exact && one.predicates.is_empty()), "{learned:?}");
    assert!(!learned.is_empty());
}

/// Faults of conversions depend on data.
#[test]
fn data_that_a_conversion_changes_are_found() {
    // One of them is looked for in all operators.
    let all = ["SLICE", "SLICE1", "PADDING1"];
    for (name, expected, operators) in [
        ("float32-denormals-flushed", "InputTensor.DataType == FLOAT32 and moves(denormal)", &all[..]),
        ("uint32-in-int32", "InputTensor.DataType == UINT32 and moves(high_bit)", &all[..1]),
        ("uint16-upper-byte-zero", "InputTensor.DataType == UINT16 and moved_bits >= 9", &all[1..2]),
        (
            "padding-value-nan-quietened",
            "InputTensor.DataType == FLOAT32 and pads(signalling_nan)",
            &all[2..],
        ),
        ("float16-nan-loses-low-bits", "InputTensor.DataType == FLOAT16 and moves(nan_payload)", &all[2..]),
        (
            "padding-value-float32-in-bfloat16",
            "InputTensor.DataType == FLOAT32 and padded_lowest_bit <= 16",
            &all[2..],
        ),
        // The greatest integer comes back from a double: the conversion saturates.
        (
            "padding-value-uint64-in-double",
            "InputTensor.DataType == UINT64 and not pads(greatest) and padded_precision >= 54",
            &all[2..],
        ),
    ] {
        let fault = mutant(name);
        let is_of = |case: &Case| operators.contains(&case.desc.signature.operator.as_str());
        let learned = experimented_on(&fault, 1, is_of);
        assert_eq!(texts(&learned), vec![expected; operators.len()], "{name}");
        assert!(learned.iter().all(|one| one.exact), "{name}: {learned:?}");
        assert_eq!(wrong_of(&fault, &learned, is_of), 0, "{name}");
    }
}

/// Code that reverses or merges axes fails by what another axis is.
#[test]
fn conditions_on_another_axis_are_found() {
    for (name, expected) in
        [("slice1-second-reverse-loses-offset", "later("), ("mixed-signs-of-three-axes", "previous(")]
    {
        let fault = mutant(name);
        let learned = experimented(&fault);
        let [text] = texts(&learned)[..] else { panic!("{name}: {learned:#?}") };
        assert!(text.contains(expected), "{name}: {text}");
        assert_eq!(wrong(&fault, &learned), 0, "{name}");
    }
}

/// Code often leaves out axes of one element.
#[test]
fn a_condition_may_leave_out_axes_of_one_element() {
    let fault = Fault::of_predicate("not any axis (InputTensor.Sizes > 1 and InputTensor.Strides == 1)");
    let learned = experimented_on(&fault, 1, |case| case.desc.signature.operator == "SLICE");
    let expected = "not any axis (InputTensor.Sizes > 1 and InputTensor.Strides == 1)";
    assert_eq!(texts(&learned), [expected]);
    assert!(learned[0].exact, "{learned:#?}");
}

/// A check that is left out shows in descs that violate its clause and those that follow from it, and no
/// other.
#[test]
fn violated_clauses_are_named_together() {
    let expected = "violation in [output_size, reads_in_bounds]";
    let text = format!("operator == SLICE and {expected}");
    let accepted = Predicate::parse(&text, Library::embedded()).expect("it is a predicate");
    let mut values = Values::default();
    let mut label = |case: &Case| {
        let is_accepted = accepted.holds(case, FeatureLevel::NEWEST, &mut values);
        if is_accepted { Label::Failed("accepted".to_owned()) } else { Label::Passed }
    };
    let labelled: Vec<Labelled> =
        SMOKE.iter().map(|case| Labelled { case: case.clone(), label: label(case) }).collect();
    let learned = learn(&labelled, (Library::embedded(), FeatureLevel::NEWEST), 1, BUDGET, None);
    assert_eq!(texts(&learned), [expected]);
}
