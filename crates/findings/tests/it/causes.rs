//! What explains the failures of a run, for faults with known causes.

use std::cell::Cell;

use dmlcts_findings::{Ask, Budget, Cases, Cause, Label, Outcomes, explain, has_only_distinct_elements};
use dmlcts_model::{Case, FeatureLevel, Fill};
use dmlcts_spec::{Library, Predicate, Validity, program::Values};

use crate::faults::{BUDGET, Fault, SMOKE, labelled, mutant, validity};

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

/// Answers that the evidence contradicts.
struct Contradicting<'a> {
    searched: &'a Fault,
    weighed: &'a Fault,
    is_weighed: bool,
    was_weighed: &'a Cell<bool>,
}

impl Ask for Contradicting<'_> {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        if self.is_weighed { self.weighed.labels(cases) } else { self.searched.labels(cases) }
    }

    fn begin_evidence(&mut self, _: &str, _: &str) {
        self.is_weighed = true;
    }

    fn end_evidence(&mut self) {
        self.was_weighed.set(true);
    }
}

/// Rules that are learned again take the place of the first ones only if that search ends by itself.
#[test]
fn a_search_that_is_over_keeps_the_rules_that_it_had() {
    let searched = Fault::of_predicate("operator == SLICE and rank == 3");
    let weighed = Fault::of_predicate("operator == SLICE and rank == 3 and InputTensor.ElementSize == 1");
    let (was_weighed, looks) = (Cell::new(false), Cell::new(0));
    // The first look after the evidence decides whether rules are learned again.
    let is_over = || {
        looks.set(looks.get() + usize::from(was_weighed.get()));
        looks.get() > 1
    };
    let budget = Budget { evidence: 200, is_over: &is_over, ..BUDGET };
    let outcomes = outcomes(&searched, |_| true);
    let mut ask = Contradicting {
        searched: &searched,
        weighed: &weighed,
        is_weighed: false,
        was_weighed: &was_weighed,
    };
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let mut read = |index: u64| SMOKE[index as usize].clone();
    let causes = explain(&outcomes, of, 1, budget, &mut read, Some(&mut ask));
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert_eq!((cause.predicate(3).as_str(), cause.exact), ("operator == SLICE and rank == 3", false));
    assert!(looks.get() > 1, "rules were to be learned again");
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
    // Large tensors of bytes have no data without equal elements, and two random ones tell enough.
    for some_data_are_distinct in [true, false] {
        let hides = |case: &&Case| {
            let telling = Case { fill: Fill::Iota, ..(*case).clone() };
            !has_only_distinct_elements(case)
                && has_only_distinct_elements(&telling) == some_data_are_distinct
        };
        let is_small =
            holding("InputTensor.TotalTensorSizeInBytes <= 4096 and not present(InputTensor.Strides)");
        let may_be_odd = |case: &&Case| {
            validity(case) == Validity::Valid && is_failing(case) && is_small(case) && hides(case)
        };
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
        let mut cases = Hiding { cases: &SMOKE, predicate };
        let causes = explain(&outcomes, of, 1, budget, &mut cases, Some(&mut ask));
        let [cause] = causes.as_slice() else { panic!("{causes:#?}") };
        assert_eq!(cause.predicate(3), "operator == SLICE1 and rank >= 3");
        let wrong = cause.estimate.map(|estimate| estimate.wrong());
        assert_eq!((cause.exact, wrong), (false, Some(1)), "{cause:#?}");
    }
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

/// Where nearly all cases fail, many conditions exclude the few passes by chance.
#[test]
fn few_passes_support_no_rules() {
    // Nothing in the language says which of them pass.
    let passes = |case: &Case| case.to_string().bytes().map(u64::from).sum::<u64>() % 60 == 0;
    let fails = holding("operator == PADDING1 and valid");
    let outcomes = outcomes_of(|case| match (validity(case), fails(case) && !passes(case)) {
        (Validity::Open, _) => Label::Unknown,
        (_, true) => Label::Failed("wrong".to_owned()),
        _ => Label::Passed,
    });
    let of = (Library::embedded(), FeatureLevel::NEWEST);
    let causes = explain(&outcomes, of, 1, Budget::NONE, &mut |index| SMOKE[index as usize].clone(), None);
    assert!(causes.len() <= 2, "{causes:#?}");
}

/// SLICE's sizes are those of the output, and SLICE1's are those of the window. No failure of SLICE says
/// which of them a cause is about.
#[test]
fn an_operator_may_have_the_cause_in_other_words() {
    let fault = Fault::of_predicate(
        "operator in [SLICE, SLICE1] and InputTensor.ElementSize == 1 and all axes OutputTensor.Sizes > 1",
    );
    let is_of_slice1 = |case: &Case| case.desc.signature.operator == "SLICE1";
    let fails = |case: &Case| matches!(fault.labels(std::slice::from_ref(case))[..], [Label::Failed(_)]);
    let budget = Budget { evidence: 300, ..BUDGET };
    let causes = causes_on(&fault, budget, |case| !(is_of_slice1(case) && fails(case)));
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert!(cause.operators().any(|operator| operator == "SLICE1"), "{cause:#?}");
}

/// The bytes that other elements take, and the types that a padding value may have, decide in each operator
/// which descs violate this clause alone.
#[test]
fn a_check_that_is_left_out_is_one_cause_in_all_operators() {
    let budget = Budget { evidence: 300, ..BUDGET };
    let fault = mutant("types-not-compared");
    let causes = causes_with(&fault, budget);
    let [cause] = &causes[..] else { panic!("{causes:#?}") };
    assert_eq!(cause.operators().count(), 3, "{cause:#?}");
}
