//! Backends that declare what they lack, end to end.

use crate::common::{faulty, stdout, text};

/// A backend that refuses negative strides of SLICE1, and declares to lack descs with this condition.
fn declining(condition: &str) -> String {
    faulty(&format!("declines '{condition}'"))
}

const RIGHT: &str = "any axis InputWindowStrides < 0";

#[test]
fn valid_cases_that_a_backend_lacks_are_skipped_and_counted_by_reason() {
    let backend = declining(RIGHT);
    let ran = stdout(&["run", "--backend", &backend]);
    assert!(ran.contains(", 0 failed\n"), "{ran}");
    let skipped = ran.lines().find(|line| line.starts_with("skipped ")).expect("cases are skipped");
    assert!(
        skipped.ends_with(" cases of SLICE1 where any axis InputWindowStrides < 0 (nothing goes backwards)"),
        "{skipped}"
    );
    let valid = format!("valid and operator == SLICE1 and {RIGHT}");
    let listed = stdout(&["list", "--suite", "smoke", "--where", &valid]).lines().count() as u64;
    let open = format!("open and operator == SLICE1 and {RIGHT}");
    let open = stdout(&["list", "--suite", "smoke", "--where", &open]).lines().count() as u64;
    let said = skipped.split_whitespace().nth(1).expect("a number").replace(',', "");
    assert_eq!(said, (listed + open).to_string(), "{skipped}");
    // Every backend must refuse an invalid desc, so it is asked all the same.
    let invalid = "SLICE1 FLOAT32 in=4 out=4 InputWindowOffsets=1 InputWindowSizes=4 InputWindowStrides=-1 \
                   fill=iota";
    let ran = stdout(&["run", "--backend", &backend, invalid]);
    assert!(ran.contains(" 1 passed, 0 failed"), "{ran}");
}

/// Refusals in other words have other reasons, so each reason is a finding, with the declaration to add.
#[test]
fn a_refusal_that_is_not_declared_is_one_finding_a_reason() {
    let said = text(&["run", "--backend", &faulty("spoiled declines-for-two-reasons"), "--explain", "500"]);
    assert!(said.contains("\n2 findings: "), "{said}");
    let doubles = format!("InputTensor.DataType == FLOAT64 and {RIGHT}");
    for (condition, reason) in [(RIGHT, "nothing goes backwards"), (&doubles, "no doubles backwards")] {
        let declaration =
            format!(r#"    {{"operator": "SLICE1", "where": "{condition}", "reason": "{reason}"}}"#);
        assert!(said.contains(&declaration), "{declaration}: {said}");
    }
}

/// No condition is needed for an operator that a backend does not have.
#[test]
fn a_refused_operator_is_left_out_of_the_declared_ones() {
    let said = text(&["run", "--backend", &faulty("spoiled declines-slice1"), "--explain", "500"]);
    let remedy = "if the backend is not meant to do SLICE1, leave it out of its `operators`";
    assert!(said.contains("FAIL 1: ") && !said.contains("FAIL 2: ") && said.contains(remedy), "{said}");
}

#[test]
fn a_profile_lists_what_a_backend_lacks_as_a_reservation() {
    let ran = stdout(&["run", "--backend", &declining(RIGHT), "--profile", "directml-6.4-smoke"]);
    assert!(ran.contains(" with reservations"), "{ran}");
    let reservation = " skipped that it declares to lack: SLICE1 where any axis InputWindowStrides < 0 \
                       (nothing goes backwards) ";
    assert!(ran.contains(reservation), "{ran}");
}

#[test]
fn a_condition_with_a_mistake_is_shown_with_its_place() {
    insta::assert_snapshot!(text(&["run", "--backend", &declining("any axis Strides < 0")]));
}

#[test]
fn doctor_asks_for_what_a_backend_says_it_lacks() {
    let said = text(&["doctor", "--backend", &declining(RIGHT)]);
    let refuses = "ok    refuses what it lacks    3 cases of SLICE1 where any axis InputWindowStrides < 0 ";
    assert!(said.contains(refuses), "{said}");
    let said = text(&["doctor", "--backend", &declining("any axis InputWindowStrides < 2")]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    let does = "FAIL  refuses what it lacks    it does 3 of 3 cases of SLICE1 where any axis InputWindowStrides < 2 ";
    assert!(said.contains(does), "{said}");
}
