//! Suites that pass, and cases with rare demands on the backend.

use super::*;

/// The message that this number of cases of each operator was skipped because bare arrays cannot express
/// them, and none for another reason. Such a case has a list that is longer or shorter than its count and is
/// otherwise valid, or a count above the maximum. So a fault in marshalling is not excused.
#[track_caller]
fn skipped(text: &str, [slice, slice1, padding1]: [usize; 3]) {
    let all = slice + slice1 + padding1;
    assert!(text.contains(&format!(" {all} skipped, 0 failed\n")), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("skipped ")).collect();
    let words = "cases of invalid descs that bare arrays of C cannot say";
    assert_eq!(
        lines,
        [format!("skipped   {all} {words}: SLICE {slice}, SLICE1 {slice1}, PADDING1 {padding1}")]
    );
    let reasons = text.lines().skip_while(|line| !line.starts_with("skipped ")).skip(1);
    assert!(reasons.take_while(|line| line.starts_with(' ')).count() == 0, "{text}");
}

#[test]
fn the_suite_smoke_passes_with_every_documented_example() {
    let (text, code) = run("", &[]);
    assert!(text.contains(" documented 352,"), "{text}");
    skipped(&text, [29, 29, 25]);
    assert!(passed((text, code)) > 4_000);
}

#[test]
fn a_thousand_random_cases_pass_and_every_clause_is_refused() {
    let (text, code) = run("", &["--suite", "tests/suites/thousand.yaml", "--seed", "11"]);
    skipped(&text, [43, 43, 37]);
    assert!(passed((text, code)) > 1_500);
}

#[test]
fn worker_processes_come_to_the_same() {
    let (text, code) = run_with(stand_in(), "", &["--jobs", "2", "--limit", "600"]);
    skipped(&text, [29, 29, 13]);
    assert!(passed((text, code)) > 500);
}

/// The suites have cases of a little more than 2^16 elements. With 2^20 elements, each copied alone, the
/// stand-in reaches its limit.
#[test]
fn a_case_too_large_for_the_stand_in_fails_alone_with_the_reason() {
    let reversed = |size: usize| {
        format!(
            "SLICE1 UINT16 in={size} out={size} InputWindowOffsets=0 InputWindowSizes={size} \
             InputWindowStrides=-1 fill=iota"
        )
    };
    let [taken, refused] = [65_537, (1 << 20) + 1].map(reversed);
    assert_eq!(passed(run("", &[&taken])), 1);
    let (text, code) = run("", &["--retries", "0", &refused, SLICE1]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("an operator takes more than 1048576 copies"), "{text}");
    assert!(text.contains("refused it (compile, 0x8007000E E_OUTOFMEMORY)"), "{text}");
    assert!(text.contains("1 passed, 1 failed") && !text.contains("removed"), "{text}");
}

#[test]
fn an_input_that_the_library_owns_is_bound_when_the_operator_is_initialised() {
    for case in [SLICE1, PADDING1] {
        assert_eq!(passed(run("", &[&format!("{case} InputTensor.Flags=1")])), 1);
    }
}

#[test]
fn a_device_that_can_do_less_is_asked_less() {
    for (told, arguments) in
        [("level=2.1", &["--limit", "400"][..]), ("without=FLOAT64,without=INT8", &["--limit", "400"])]
    {
        let (text, code) = run(told, arguments);
        assert!(text.contains(" skipped"), "{text}");
        assert!(passed((text, code)) > 200);
    }
    let (text, _) = run("level=2.1", &[SLICE1]);
    assert!(text.contains("feature level 2.1"), "{text}");
}

/// Another fill and other binding offsets use the same operator.
#[test]
fn an_operator_is_compiled_once_and_used_again() {
    let told = "fail@compile:2+,fail@initialize:2+";
    let again = [
        SLICE1.replace("iota", "random:7"),
        format!("{SLICE1} InputBinding.Offset=64 OutputBinding.Offset=32"),
    ];
    assert_eq!(passed(run(told, &[SLICE1, &again[0], &again[1]])), 3);
    let (text, code) = run(told, &["--retries", "0", SLICE1, PADDING1]);
    assert!(code == 1 && text.contains("1 passed, 1 failed"), "exit {code}\n{text}");
}

/// The second dispatch of a run uses the first one's operator with other data.
#[test]
fn an_operator_that_fails_only_when_it_runs_again_is_seen() {
    let (text, code) = run("wrong-element@dispatch:2", &["--limit", "40"]);
    assert!(code == 1 && text.contains("a later run of the same operator went wrong"), "{text}");
    assert!(text.contains("held      39 passed, 1 flaky\n"), "{text}");
}
