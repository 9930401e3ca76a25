//! Faults with known causes, and what is learned of them. `dmlcts-lab findings` measures more of them.

use std::sync::LazyLock;

use dmlcts_findings::{
    Budget, Cases, Cause, Label, Labelled, Learned, Outcomes, explain, has_only_distinct_elements, learn,
};
use dmlcts_model::{Case, FeatureLevel, Fill};
use dmlcts_spec::{Library, Predicate, Validity, program::Values};

use crate::faults::{Fault, fresh, labelled, mutant, suite, validity};

const BUDGET: Budget = Budget { cases: 1_200, ..Budget::NONE };

/// The cases of the suite `smoke`.
static SMOKE: LazyLock<Vec<Case>> = LazyLock::new(|| suite("smoke"));

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
fn the_same_input_gives_the_same_predicates() {
    let fault =
        Fault::of_predicate("operator == SLICE1 and (any axis InputWindowStrides < -1) and rank >= 3");
    let (one, other) = (experimented(&fault), experimented(&fault));
    assert_eq!(one, other);
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

/// The causes of a fault's failures in `smoke`.
fn causes(fault: &str) -> Vec<Cause> {
    causes_with(&Fault::of_predicate(fault), Budget::NONE)
}

/// The same with experiments.
fn causes_with(fault: &Fault, budget: Budget<'_>) -> Vec<Cause> {
    causes_on(fault, budget, |_| true)
}

/// The same in a run of some cases.
fn causes_on(fault: &Fault, budget: Budget<'_>, is_chosen: impl Fn(&Case) -> bool) -> Vec<Cause> {
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let ask = &mut |cases: &[Case]| fault.labels(cases);
    let outcomes = outcomes(fault, is_chosen);
    explain(&outcomes, of, 1, budget, &mut |index| SMOKE[index as usize].clone(), Some(ask))
}

/// What becomes of some cases of `smoke`.
fn outcomes(fault: &Fault, is_chosen: impl Fn(&Case) -> bool) -> Outcomes {
    let labels = fault.labels(&SMOKE);
    let mut outcomes = Outcomes::default();
    for (index, label) in (0..).zip(labels).filter(|(index, _)| is_chosen(&SMOKE[*index as usize])) {
        match label {
            Label::Passed => outcomes.passes.push(index),
            Label::Failed(kind) => drop(outcomes.failures.insert(index, kind)),
            Label::Blind(_) | Label::Unknown => {}
        }
    }
    outcomes
}

/// The causes of failures of three axes that end at a limit. No case of the suite is beyond it.
fn limited_causes(limit: &str) -> Vec<Cause> {
    let fault = Fault::of_predicate(&format!("operator == SLICE and rank == 3 and {limit}"));
    causes_with(&fault, Budget { evidence: 1_500, ..BUDGET })
}

#[test]
fn members_that_a_predicate_does_not_name_are_varied_over_their_whole_range() {
    for member in [
        "InputTensor.GuaranteedBaseOffsetAlignment",
        "OutputTensor.GuaranteedBaseOffsetAlignment",
        "InputBinding.Offset",
        "OutputBinding.Offset",
    ] {
        let causes = limited_causes(&format!("{member} < 65536"));
        let is_honest = |cause: &Cause| !cause.exact || cause.predicate(3).contains(member);
        assert!(!causes.is_empty() && causes.iter().all(is_honest), "{member}: {causes:#?}");
    }
}

#[test]
fn a_predicate_that_evidence_refutes_is_learned_again() {
    let causes = limited_causes("InputTensor.GuaranteedBaseOffsetAlignment < 65536");
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert!(cause.predicate(3).contains("InputTensor.GuaranteedBaseOffsetAlignment <"), "{cause:#?}");
    assert!(cause.passes == 0 && cause.estimate.is_some(), "{cause:#?}");
}

#[test]
fn an_operator_that_fails_in_experiments_alone_has_the_cause_too() {
    let (fault, budget) = (Fault::of_predicate("rank == 7"), Budget { evidence: 300, ..BUDGET });
    let is_chosen =
        |case: &Case| case.desc.signature.operator != "SLICE1" || case.desc.rank() != 7 || is_invalid(case);
    let causes = causes_on(&fault, budget, is_chosen);
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert!(cause.exact && cause.predicate(3) == "rank == 7", "{cause:#?}");
    assert!(cause.failures.iter().all(|index| is_chosen(&SMOKE[*index as usize])));
}

fn is_invalid(case: &Case) -> bool {
    validity(case) == Validity::Invalid
}

/// A bound that is off by one is wrong for few other cases.
#[test]
fn many_cases_of_the_evidence_lie_at_a_bound() {
    let fault = Fault::of_predicate("operator == SLICE and any axis InputTensor.Sizes >= 13");
    let outcomes = outcomes(&fault, |_| true);
    let mut at_bound = 0;
    let ask = &mut |cases: &[Case]| {
        let sizes = cases.iter().filter_map(|case| case.desc.input.as_ref()?.sizes.as_ref());
        at_bound +=
            sizes.filter(|sizes| sizes.iter().max().is_some_and(|most| [13, 14].contains(most))).count();
        fault.labels(cases)
    };
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let budget = Budget { evidence: 1_500, ..BUDGET };
    let causes = explain(&outcomes, of, 1, budget, &mut |index| SMOKE[index as usize].clone(), Some(ask));
    assert!(causes.len() == 1 && causes[0].exact, "{causes:#?}");
    assert!(at_bound >= 300, "{at_bound}");
}

#[test]
fn a_remainder_is_found() {
    let causes = causes_with(&Fault::of_predicate("any axis InputTensor.Sizes mod 7 == 3"), BUDGET);
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert_eq!(cause.predicate(3), "any axis InputTensor.Sizes mod 7 == 3");
}

#[test]
fn one_cause_in_two_operators_is_one_cause() {
    let rank = "rank == 7 and operator in [SLICE, PADDING1]";
    let [cause] = &causes(rank)[..] else { panic!("{:#?}", causes(rank)) };
    assert_eq!(cause.predicate(3), "operator in [SLICE, PADDING1] and rank == 7");
    assert!(cause.exact && cause.passes == 0);
    let own_names = "(any axis Offsets >= 2) or (any axis InputWindowOffsets >= 2)";
    let [cause] = &causes(own_names)[..] else { panic!("{:#?}", causes(own_names)) };
    assert_eq!(
        cause.predicate(3),
        "(operator == SLICE and any axis Offsets > 1) or (operator == SLICE1 and any axis InputWindowOffsets > 1)"
    );
}

/// What the labels of the cases of `smoke` say.
fn outcomes_of(label: impl Fn(&Case) -> Label) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for (case, index) in SMOKE.iter().zip(0..) {
        match label(case) {
            Label::Failed(kind) => drop(outcomes.failures.insert(index, kind)),
            Label::Passed => outcomes.passes.push(index),
            _ => {}
        }
    }
    outcomes
}

/// Whether a predicate holds for a case.
fn holding(text: &str) -> impl Fn(&Case) -> bool + use<> {
    let predicate = Predicate::parse(text, Library::embedded()).expect(text);
    move |case: &Case| predicate.holds(case, FeatureLevel::NEWEST, &mut Values::default())
}

/// Causes of failures of two kinds. A case that fails is of the kind `crash` or `wrong`.
fn causes_of_kinds(kind: impl Fn(&Case) -> Option<&'static str>) -> Vec<Cause> {
    let label = |case: &Case| match (validity(case), kind(case)) {
        (Validity::Valid, Some(kind)) => Label::Failed(kind.to_owned()),
        (Validity::Valid, None) => Label::Passed,
        _ => Label::Unknown,
    };
    let outcomes = outcomes_of(label);
    let mut ask = |cases: &[Case]| cases.iter().map(label).collect();
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let budget = Budget { evidence: 200, ..BUDGET };
    explain(&outcomes, of, 1, budget, &mut |index| SMOKE[index as usize].clone(), Some(&mut ask))
}

#[test]
fn what_crashes_here_and_is_wrong_there_has_one_cause() {
    let fails = holding("operator == SLICE1 and rank >= 3");
    // Nothing in the language says which of them crash.
    let crashes = |case: &Case| case.to_string().bytes().map(u64::from).sum::<u64>() % 5 == 0;
    let causes = causes_of_kinds(|case| fails(case).then(|| if crashes(case) { "crash" } else { "wrong" }));
    let [cause] = causes.as_slice() else { panic!("{causes:#?}") };
    assert_eq!((cause.kind.as_str(), cause.exact), ("wrong", true));
    assert_eq!(cause.predicate(3), "operator == SLICE1 and rank >= 3");
    let all = SMOKE.iter().filter(|case| validity(case) == Validity::Valid && fails(case)).count();
    assert_eq!(cause.failures.len(), all, "the crashes belong to it");
}

#[test]
fn kinds_with_different_causes_stay_apart() {
    let (crashes, is_wrong) = (
        holding("operator == SLICE1 and rank >= 5"),
        holding("operator == SLICE1 and InputTensor.ElementSize == 2"),
    );
    let causes = causes_of_kinds(|case| match (crashes(case), is_wrong(case)) {
        (true, _) => Some("crash"),
        (false, true) => Some("wrong"),
        _ => None,
    });
    let mut kinds: Vec<&str> = causes.iter().map(|cause| cause.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["crash", "wrong"], "{causes:#?}");
}

#[test]
fn a_single_failure_has_no_predicate() {
    // A single failure supports no condition.
    let outcomes = Outcomes { failures: [(3, "wrong".to_owned())].into(), passes: (10..400).collect() };
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let found = explain(&outcomes, of, 1, Budget::NONE, &mut |index| SMOKE[index as usize].clone(), None);
    let [cause] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((cause.failures.as_slice(), cause.validity), (&[3][..], None), "one failure is no pattern");
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

/// A search that is over keeps each failure, without conditions.
#[test]
fn a_search_that_is_over_still_returns_every_failure() {
    let fault = mutant("slice1-reach-rounded-down");
    let mut outcomes = Outcomes::default();
    for (index, labelled) in (0..).zip(labelled(&fault, &SMOKE)) {
        match labelled.label {
            Label::Passed => outcomes.passes.push(index),
            Label::Failed(kind) => {
                outcomes.failures.insert(index, kind);
            }
            Label::Blind(_) | Label::Unknown => {}
        }
    }
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let budget = Budget { is_over: &|| true, ..BUDGET };
    let mut asked = 0;
    let mut ask = |cases: &[Case]| {
        asked += cases.len();
        fault.labels(cases)
    };
    let causes =
        explain(&outcomes, of, 1, budget, &mut |index| SMOKE[index as usize].clone(), Some(&mut ask));
    let found: usize = causes.iter().map(|cause| cause.failures.len()).sum();
    assert!(!causes.is_empty() && causes.iter().all(|cause| cause.validity.is_none()), "{causes:?}");
    assert_eq!((found, asked), (outcomes.failures.len(), 0));
}

/// Cases. Some of those that passed could not have shown the failure.
struct Hiding<'a> {
    cases: &'a [Case],
    predicate: Predicate,
}

impl Cases for Hiding<'_> {
    fn read(&mut self, index: u64) -> Case {
        self.cases[index as usize].clone()
    }

    fn blind_to(&mut self, _: u64, case: &Case) -> Option<String> {
        let hides = self.predicate.holds(case, FeatureLevel::NEWEST, &mut Values::default());
        hides.then(|| "wrong".to_owned())
    }
}

/// Passes that show nothing are no exceptions of the desc. Data may be the reason that they passed.
#[test]
fn only_data_explain_passes_that_show_nothing() {
    for (hides, expected) in [
        ("InputTensor.GuaranteedBaseOffsetAlignment == 0", "InputTensor.DataType == UINT32"),
        ("not moves(high_bit)", "InputTensor.DataType == UINT32 and moves(high_bit)"),
    ] {
        let failing = "operator == SLICE and valid and InputTensor.DataType == UINT32";
        let parsed = |text: &str| Predicate::parse(text, Library::embedded()).expect(text);
        let (failing, hiding) = (parsed(failing), parsed(hides));
        let mut values = Values::default();
        let mut holds = |one: &Predicate, case: &Case| one.holds(case, FeatureLevel::NEWEST, &mut values);
        let mut outcomes = Outcomes::default();
        for (index, case) in (0..).zip(SMOKE.iter()).filter(|(_, case)| validity(case) != Validity::Open) {
            if holds(&failing, case) && !holds(&hiding, case) {
                outcomes.failures.insert(index, "wrong".to_owned());
            } else {
                outcomes.passes.push(index);
            }
        }
        let library = (Library::embedded(), FeatureLevel::NEWEST);
        let mut cases = Hiding { cases: &SMOKE, predicate: hiding };
        let causes = explain(&outcomes, library, 1, Budget::NONE, &mut cases, None);
        let [cause] = causes.as_slice() else { panic!("{hides}: {causes:#?}") };
        assert_eq!(cause.conditions, [("SLICE".to_owned(), Some(expected.to_owned()))], "{hides}");
    }
}

/// A pass whose data may hide a failure is asked with other data before a rule is called exact.
#[test]
fn a_hiding_pass_that_passes_with_other_data_counts_against_its_rule() {
    let is_failing = holding("operator == SLICE1 and rank >= 3");
    // Its own data have equal elements or a 0, and others have neither.
    let hides = |case: &&Case| {
        let telling = Case { fill: Fill::Iota, ..(*case).clone() };
        !has_only_distinct_elements(case) && has_only_distinct_elements(&telling)
    };
    let may_be_odd = |case: &&Case| validity(case) == Validity::Valid && is_failing(case) && hides(case);
    let odd = SMOKE.iter().find(may_be_odd).expect("there is one").desc.clone();
    let label = |case: &Case| match validity(case) {
        Validity::Valid if is_failing(case) && case.desc != odd => Label::Failed("wrong".to_owned()),
        Validity::Valid => Label::Passed,
        _ => Label::Unknown,
    };
    let outcomes = outcomes_of(label);
    let predicate = Predicate::parse("rank >= 3", Library::embedded()).expect("a predicate");
    let mut ask = |cases: &[Case]| cases.iter().map(label).collect();
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let budget = Budget { evidence: 200, ..BUDGET };
    let causes = explain(&outcomes, of, 1, budget, &mut Hiding { cases: &SMOKE, predicate }, Some(&mut ask));
    let [cause] = causes.as_slice() else { panic!("{causes:#?}") };
    assert_eq!(cause.predicate(3), "operator == SLICE1 and rank >= 3");
    let wrong = cause.estimate.map(|estimate| estimate.wrong());
    assert_eq!((cause.exact, wrong), (false, Some(1)), "{cause:#?}");
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

/// Experiments may find failures under a second condition, of which the run has none. It belongs to the
/// finding of the first.
#[test]
fn a_condition_that_only_experiments_show_is_not_lost() {
    let fault = Fault::of_predicate("operator == SLICE and (InputTensor.DataType == UINT32 or rank == 5)");
    let is_other = Predicate::parse("rank == 5", Library::embedded()).expect("it is a predicate");
    let mut values = Values::default();
    let mut outcomes = Outcomes::default();
    for (index, labelled) in (0..).zip(labelled(&fault, &SMOKE)) {
        match labelled.label {
            _ if is_other.holds(&labelled.case, FeatureLevel::NEWEST, &mut values) => {}
            Label::Passed => outcomes.passes.push(index),
            Label::Failed(kind) => {
                outcomes.failures.insert(index, kind);
            }
            Label::Blind(_) | Label::Unknown => {}
        }
    }
    let library = (Library::embedded(), FeatureLevel::NEWEST);
    let mut ask = |cases: &[Case]| fault.labels(cases);
    let mut read = |index: u64| SMOKE[index as usize].clone();
    let causes = explain(&outcomes, library, 1, BUDGET, &mut read, Some(&mut ask));
    let [cause] = causes.as_slice() else { panic!("{causes:#?}") };
    let conditions: Vec<&str> =
        cause.conditions.iter().filter_map(|(_, condition)| condition.as_deref()).collect();
    assert_eq!(conditions, ["InputTensor.DataType == UINT32", "rank == 5"]);
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
