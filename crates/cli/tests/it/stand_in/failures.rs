//! The faults of a library and their reports: each call that fails, devices that are removed, calls that
//! crash or hang.

use super::*;

/// The calls that return an interface, and therefore can return none.
const RETURNING_INTERFACES: [&str; 6] = ["device", "recorder", "create", "compile", "initialize", "table"];

/// The calls of a run in order, with the report if each one fails: with the exit code, and with the call's
/// own code at the star; if the device is removed; and if the process ends.
#[rustfmt::skip]
const CALLS: [(&str, i32, &str, &str, &str); 15] = [
    ("device",     3, "DMLCreateDevice1 failed on the adapter * {}",                      SAME,                              NO_HELLO),
    ("recorder",   3, "CreateCommandRecorder failed on the adapter * {}",                 SAME,                              NO_HELLO),
    ("levels",     3, "CheckFeatureSupport of the feature level failed on the adapter * {}", SAME,                           NO_HELLO),
    ("types",      3, "CheckFeatureSupport of a data type failed on the adapter * {}",    SAME,                              NO_HELLO),
    ("create",     1, "refused it (create, {})",        "failed (create): the device was removed: {}",                       NO_ANSWER),
    ("compile",    1, "refused it (compile, {})",       "failed (compile): the device was removed: {}",                      CRASHED),
    ("initialize", 1, "failed (bind): CreateOperatorInitializer: {}", "failed (bind): the device was removed: {}",           CRASHED),
    ("table",      1, "failed (bind): CreateBindingTable: {}",        "failed (bind): the device was removed: {}",           CRASHED),
    ("reset",      1, "failed (bind): IDMLBindingTable::Reset: {}",   "failed (bind): the device was removed: {}",           CRASHED),
    ("inputs",     1, "failed (bind): the device was removed: {}",                        SAME,                              CRASHED),
    ("outputs",    1, "failed (bind): the device was removed: {}",                        SAME,                              CRASHED),
    ("temporary",  1, "failed (bind): the device was removed: {}",                        SAME,                              CRASHED),
    ("persistent", 1, "failed (bind): the device was removed: {}",                        SAME,                              CRASHED),
    ("initializer-dispatch", 1, "failed (bind): the device was removed: {}",              SAME,                              CRASHED),
    ("dispatch",   1, "failed (execute): the device was removed: {}",                     SAME,                              CRASHED),
];
/// The report for every other code.
const SAME: &str = "";
/// With the exit code of a process that aborts.
const NO_HELLO: &str = "did not say hello: it ended (exit code: 0xc0000409)";
const CRASHED: &str = "the backend crashed: PADDING1";
/// Every case creates an operator, and so does every probe.
const NO_ANSWER: &str =
    "ended     early, after 1 of 1 case: 4 processes in a row failed before they answered a case";

/// A library that is too old to be asked for its level is no failure.
const NOT_FAILURES: [(&str, &str); 1] = [("unsupported", "levels")];

/// One way to fail, at each call. The case has a persistent and a temporary resource.
#[track_caller]
fn fails_everywhere(way: &str) {
    let (_, code) = WAYS.into_iter().find(|(known, _)| *known == way).expect("a way of the table");
    for (call, exit, words, removed, _) in CALLS {
        if NOT_FAILURES.contains(&(way, call)) || way == "nothing" && !RETURNING_INTERFACES.contains(&call) {
            continue;
        }
        let words = if way == "device-removed" && removed != SAME { removed } else { words };
        let (text, status) = run(&format!("{way}@{call}"), &["--retries", "0", PADDING1]);
        let words = words.replace("{}", code);
        assert!(
            status == exit && says(&text, &words),
            "{way}@{call}: exit {status}, not {exit} and {words}\n{text}"
        );
    }
}

#[test]
fn every_call_may_find_an_argument_invalid() {
    fails_everywhere("refuse");
}

#[test]
fn every_call_may_find_no_memory() {
    fails_everywhere("out-of-memory");
}

#[test]
fn every_call_may_fail() {
    fails_everywhere("fail");
}

#[test]
fn every_call_may_not_be_supported() {
    fails_everywhere("unsupported");
}

#[test]
fn every_call_may_remove_the_device() {
    fails_everywhere("device-removed");
}

#[test]
fn every_call_may_give_nothing_and_say_that_it_went_well() {
    fails_everywhere("nothing");
}

#[test]
fn every_call_may_end_the_process() {
    for (call, _, _, _, words) in CALLS {
        let exit = if words == CRASHED { 1 } else { 3 };
        let arguments = ["--jobs", "1", "--retries", "0", PADDING1];
        let (text, status) = run_with(stand_in(), &format!("crash@{call}"), &arguments);
        assert!(
            status == exit && says(&text, words),
            "crash@{call}: exit {status}, not {exit} and {words}\n{text}"
        );
        assert!(text.contains(WORDS), "{text}");
    }
}

/// The faults of a library beside failing calls.
#[test]
fn every_fault_of_the_library_is_reported() {
    for (told, case, words) in [
        ("out-of-memory@create", EMPTY_WINDOW, "refused, but not as invalid"),
        ("device-removed@create", EMPTY_WINDOW, "the device was removed"),
        ("refuse@create", SLICE1, "a valid desc was refused as invalid"),
        ("refuse@compile", SLICE1, "a valid desc was refused as invalid"),
        ("accept-all", EMPTY_WINDOW, "an invalid desc was accepted"),
        ("wrong-element@dispatch", SLICE1, "Output[0,0,0,0] = -1.2376951e17, expected Input[0,0,3,1] = 14"),
        ("missing-element@dispatch", PADDING1, "elements never written"),
        ("outside@dispatch", SLICE1, "bytes outside the output were written"),
        ("input-changed@dispatch", SLICE1, "the input was changed"),
    ] {
        let (text, code) = run(told, &[case]);
        assert!(code == 1 && text.contains(words), "{told}: exit {code}\n{text}");
    }
}

#[test]
fn a_binding_that_removes_the_device_is_told_and_the_next_case_has_another_device() {
    let bad = format!("{SLICE1} InputBinding.Offset=64");
    let (text, code) = run("alignment=256", &[SLICE1, &bad, PADDING1]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the inputs: its offset of 64 bytes is no multiple of 256"), "{text}");
    assert!(text.contains("the device was removed: 0x887A0005 DXGI_ERROR_DEVICE_REMOVED"), "{text}");
    // The case after it runs while the failure is reproduced on the same device, and may lose the device.
    // This is not the case's failure.
    assert!(text.contains("held      2 passed, 1 failed\n"), "{text}");
}

/// Each of several threads loses devices that the others use.
#[test]
fn cases_that_remove_the_device_fail_and_no_other_whoever_else_is_on_it() {
    let bad = format!("{SLICE1} InputBinding.Offset=64");
    let cases = [SLICE1, &bad, PADDING1, SLICE1, &bad, PADDING1, EMPTY_WINDOW, &bad, SLICE1];
    let (text, code) =
        run_with(stand_in(), "alignment=256", &[&["--in-process", "--jobs", "4"], &cases[..]].concat());
    assert!(code == 1 && text.contains("held      6 passed, 3 failed\n"), "exit {code}\n{text}");
}

/// Cases that lost their device together run again alone and get their verdicts. The loss is reported once.
#[test]
fn a_device_that_is_removed_once_is_told_of_and_costs_no_other_case_its_verdict() {
    for (told, arguments, words) in [
        ("device-removed@dispatch:1", &[SLICE1, PADDING1][..], "held      1 passed, 1 flaky\n"),
        ("device-removed@create:2", &[SLICE1, PADDING1], "held      1 passed, 1 flaky\n"),
        ("device-removed@dispatch:30", &["--limit", "200"], ", 1 flaky\n"),
        ("direct3d-removed@dispatch:1", &[SLICE1, PADDING1], "held      1 passed, 1 flaky\n"),
        ("direct3d-removed@create:2", &[SLICE1, PADDING1], "held      1 passed, 1 flaky\n"),
    ] {
        let (text, code) = run(told, arguments);
        assert!(code == 1 && text.contains(words), "{told}: exit {code}\n{text}");
        assert!(!text.contains(" failed, "), "{told}: {text}");
    }
}

/// Direct3D's own device is removed while several threads have batches in flight, and again during their
/// retries. A new device exists only after all of them have released the old one.
#[test]
fn direct3d_has_another_device_as_soon_as_nothing_holds_on_to_the_one_that_was_removed() {
    let told = "direct3d-removed@dispatch:100,direct3d-removed@dispatch:400";
    let (text, code) = run_with(stand_in(), told, &["--in-process", "--jobs", "4", "--limit", "1000"]);
    let removals = text.matches("the device is removed: it was told to do so").count();
    assert!(code == 1 && removals == 2 && !text.contains(" failed, "), "exit {code}\n{text}");
    assert!(text.contains(" 1 flaky\n") || text.contains(" 2 flaky\n"), "{text}");
    let (text, code) = run("direct3d-removed@dispatch", &[EMPTY_WINDOW, PADDING1]);
    assert!(code == 1 && text.contains("held      1 passed, 1 failed\n"), "exit {code}\n{text}");
    // The code comes from the device. It is another one on Wine, where misuse removes the device.
    assert!(text.contains("failed (execute): the device was removed: 0x887A000"), "{text}");
}

/// Work that the device does not finish is given up after the time limit of a case, and the next case gets
/// another device. The hang ends after a while, so both cases would pass if the host waited. Each case is a
/// batch and both are in flight, so that either may report the loss.
#[test]
fn a_device_that_hangs_is_given_up_in_time() {
    for (told, retries, words) in [
        ("hang@dispatch:1", "2", "1 passed, 1 flaky"),
        // The case does not run again.
        ("hang@dispatch:1,hang@dispatch:2", "0", "1 passed, 1 timed out"),
    ] {
        let (text, code) = run(told, &["--case-timeout", "5s", "--retries", retries, SLICE1, PADDING1]);
        assert!(code == 1 && text.contains(&format!("held      {words}\n")), "{told}: exit {code}\n{text}");
        assert!(text.contains(", no answer in time (1 case"), "{told}: {text}");
    }
}

#[test]
fn a_library_that_is_none_or_gives_no_device_ends_the_run() {
    for (told, words) in [
        ("out-of-memory@device", "0x8007000E E_OUTOFMEMORY"),
        ("nonsense", "DMLCTS_STAND_IN: `nonsense` is not understood"),
    ] {
        let (text, code) = run(told, &[SLICE1]);
        assert!(code == 3 && text.contains(words), "exit {code}\n{text}");
    }
}

/// A device is lost, and no other can be created.
#[test]
fn a_second_device_that_is_refused_ends_the_run() {
    for (way, code) in [WAYS[1], WAYS[2]] {
        let (text, exit) = run(&format!("device-removed@dispatch:1,{way}@device:2+"), &[SLICE1, PADDING1]);
        let words = format!("DMLCreateDevice1 failed on the adapter * {code}");
        assert!(exit == 3 && says(&text, &words), "exit {exit}\n{text}");
    }
}

#[test]
fn a_library_that_ends_the_process_is_found_out_case_by_case() {
    let (text, code) = run_with(stand_in(), "crash@dispatch", &[SLICE1, EMPTY_WINDOW]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the backend crashed: SLICE1") && text.contains(WORDS), "{text}");
    assert!(text.contains("held      1 passed, 1 crashed\n"), "{text}");
}

/// Standard output belongs to the host. A library prints while it creates a device, before the first answer,
/// and later.
#[test]
fn a_library_may_print_in_a_worker() {
    for call in ["device", "types", "create", "dispatch"] {
        let told = format!("print@{call}");
        assert_eq!(passed(run_with(stand_in(), &told, &["--jobs", "1", SLICE1, PADDING1])), 2, "{told}");
    }
}

/// For a worker process, the host enforces the time limit, also for calls that do not return.
#[test]
fn a_library_that_hangs_is_found_out_case_by_case() {
    let hang = |call: &str| {
        let told = format!("hang@{call}");
        run_with(stand_in(), &told, &["--case-timeout", "3s", "--jobs", "1", SLICE1])
    };
    for call in ["compile", "dispatch"] {
        let (text, code) = hang(call);
        assert!(code == 1 && text.contains("no answer in time"), "{call}: exit {code}\n{text}");
        assert!(text.contains("held      0 passed, 1 timed out\n"), "{call}: {text}");
    }
    let (text, code) = hang("create");
    assert!(code == 3 && text.contains(NO_ANSWER), "exit {code}\n{text}");
}
