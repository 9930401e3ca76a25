//! Suites that pass, and cases with rare demands on the backend.

use super::*;

/// Cases were skipped for two reasons alone: bare arrays cannot express them, or their rank is none of the
/// backend's. A case of the first kind has a list that is longer or shorter than its count. So a fault in
/// marshalling is not excused. Returns the number of these cases.
#[track_caller]
fn skipped(text: &str) -> usize {
    const REASONS: [&str; 2] = [
        "cases of invalid descs that bare arrays of C cannot say: ",
        "cases of ranks that it does not have ",
    ];
    let held = text.lines().find_map(|line| line.strip_prefix("held ")?.strip_suffix(" skipped, 0 failed"));
    let all = held.and_then(|held| held.rsplit(' ').next()?.replace(',', "").parse().ok());
    let mut lines = text.lines().skip_while(|line| !line.starts_with("skipped "));
    let first = lines.next().and_then(|line| line.strip_prefix("skipped "));
    let rest = lines.take_while(|line| line.starts_with(' '));
    for reason in first.into_iter().chain(rest) {
        assert!(REASONS.iter().any(|known| reason.contains(known)), "{reason}\n{text}");
    }
    all.unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn the_suite_smoke_passes_with_every_documented_example() {
    let (text, code) = run("", &[]);
    assert!(text.contains(" documented 88,"), "{text}");
    assert!(skipped(&text) < 400, "{text}");
    assert!(passed((text, code)) > 4_000);
}

#[test]
fn a_thousand_random_cases_pass_and_every_clause_is_refused() {
    let (text, code) = run("", &["--suite", "tests/suites/thousand.yaml", "--seed", "11"]);
    assert!(skipped(&text) < 400, "{text}");
    assert!(passed((text, code)) > 1_500);
}

#[test]
fn worker_processes_come_to_the_same() {
    let (text, code) = run_with(stand_in(), "", &["--jobs", "2", "--limit", "600"]);
    assert!(skipped(&text) < 150, "{text}");
    assert!(passed((text, code)) > 400);
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

/// The second dispatch of a run uses the first one's operator with other data: without it, the case passes.
#[test]
fn an_operator_that_fails_only_when_it_runs_again_is_seen() {
    let (text, code) = run("wrong-element@dispatch:2", &["--limit", "40"]);
    assert!(code == 1 && text.contains("held      39 passed, 1 flaky\n"), "{text}");
    assert!(text.contains("1 of 3 runs") && text.contains("wrong-value"), "{text}");
    let (text, code) = run("wrong-element@dispatch:2", &["--retries", "0", SLICE1]);
    assert!(code == 1 && text.contains("held      0 passed, 1 failed\n"), "{text}");
    assert_eq!(passed(run("wrong-element@dispatch:2", &["--runs", "once", SLICE1])), 1);
}
