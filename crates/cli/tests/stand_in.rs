//! The backend `directml`, end to end on Direct3D 12, with the stand-in in the place of DirectML: on Windows, or under Wine
//! by `.ci/windows test`. What is tested is the backend: how it binds, dispatches and reads back, and how it takes a
//! library's failures. Nothing here says anything of DirectML.

#![cfg(all(windows, feature = "directml"))]

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{Scratch, dmlcts};

const SLICE1: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                      InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";
const PADDING1: &str =
    "PADDING1 INT16 in=2 out=5 PaddingMode=CONSTANT PaddingValue=-7 StartPadding=1 EndPadding=2 fill=iota";
const EMPTY_WINDOW: &str =
    "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 InputWindowStrides=1 fill=iota";

/// What the stand-in says of itself.
const WORDS: &str = "a test double, not DirectML";

/// What `--backend` is given: the adapter that every Windows has, or under Wine the one that `.ci/wine` names.
fn backend() -> String {
    format!("directml:{}", env::var("DMLCTS_TEST_ADAPTER").unwrap_or_else(|_| "warp".to_owned()))
}

/// Cargo puts it beside this program.
fn stand_in() -> PathBuf {
    let program = env::current_exe().expect("a program has a file");
    let library = program.with_file_name("directml_stand_in.dll");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

/// Runs cases with a library; what was printed, and the exit code.
fn run_with(library: impl AsRef<Path>, told: &str, arguments: &[&str]) -> (String, i32) {
    start(library, told, &[&["run", "--backend", &backend()], arguments].concat())
}

/// Starts the program with a library; what was printed, and the exit code.
fn start(library: impl AsRef<Path>, told: &str, arguments: &[&str]) -> (String, i32) {
    let mut command = dmlcts();
    command.args(arguments).env("DMLCTS_DIRECTML", library.as_ref()).env("DMLCTS_STAND_IN", told);
    printed(&command.output().expect("the program starts"))
}

/// What a program printed, and its exit code.
fn printed(output: &Output) -> (String, i32) {
    let text = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat();
    (text, output.status.code().expect("the program exits"))
}

/// The same with the stand-in, which is told how to misbehave, in this process and on one thread, so that calls come in one order.
fn run(told: &str, arguments: &[&str]) -> (String, i32) {
    let (text, code) = run_with(stand_in(), told, &[&["--in-process", "--jobs", "1"], arguments].concat());
    assert!(text.contains(WORDS), "it says what it is: {text}");
    (text, code)
}

/// The same, with words behind the adapter's name.
fn run_as(words: &str, told: &str, arguments: &[&str]) -> (String, i32) {
    let backend = format!("{},{words}", backend());
    let given = ["run", "--backend", &backend, "--in-process", "--jobs", "1"];
    start(stand_in(), told, &[&given, arguments].concat())
}

/// That cases were skipped for what bare arrays cannot say (a list is longer or shorter than its count and nothing else is wrong, or a
/// count is above what is sent), so many of each operator, and none for anything else: else what the backend fails to marshal were
/// excused.
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

/// How many passed, where nothing failed.
#[track_caller]
fn passed((text, code): (String, i32)) -> usize {
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(" on directml-stand-in ") && text.contains(" 0 failed"), "{text}");
    let held = text.lines().find_map(|line| line.strip_prefix("held ")).expect("a summary has such a line");
    let (count, _) = held.split_once(" passed").expect("some passed");
    count.trim().replace(',', "").parse().expect("a number")
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

/// Cases of a little more than 2^16 elements are part of the suites; with 2^20, each of them copied alone, the stand-in is at its end.
#[test]
fn what_is_too_large_for_the_stand_in_is_refused_in_so_many_words_and_costs_no_other_case_its_verdict() {
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

/// What a library's calls end with where they fail: the word of `DMLCTS_STAND_IN`, and how that is written.
const WAYS: [(&str, &str); 6] = [
    ("refuse", "0x80070057 E_INVALIDARG"),
    ("out-of-memory", "0x8007000E E_OUTOFMEMORY"),
    ("fail", "0x80004005 E_FAIL"),
    ("unsupported", "0x887A0004 DXGI_ERROR_UNSUPPORTED"),
    ("device-removed", "0x887A0005 DXGI_ERROR_DEVICE_REMOVED"),
    ("nothing", "0x80004003 E_POINTER"),
];

/// The calls that give an interface, and so can give none.
const GIVING: [&str; 6] = ["device", "recorder", "create", "compile", "initialize", "table"];

/// The calls of a run, in their order, and what is said of each that fails: with the exit code, and with the call's own code at
/// the mark; where the device is removed; and where the process ends.
#[rustfmt::skip]
const CALLS: [(&str, i32, &str, &str, &str); 15] = [
    ("device",     3, "DMLCreateDevice1 failed on the adapter * {}",                      SAME,                              NO_HELLO),
    ("recorder",   3, "CreateCommandRecorder failed on the adapter * {}",                 SAME,                              NO_HELLO),
    ("levels",     3, "CheckFeatureSupport of the feature level failed on the adapter * {}", SAME,                           NO_HELLO),
    ("types",      3, "CheckFeatureSupport of a data type failed on the adapter * {}",    SAME,                              NO_HELLO),
    ("create",     1, "refused it (create, {})",        "failed (create): the device was removed: {}",                       CRASHED),
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
/// As for any other code.
const SAME: &str = "";
/// With the code of a process that aborts.
const NO_HELLO: &str = "did not say hello: it ended (exit code: 0xc0000409)";
const CRASHED: &str = "the backend crashed: PADDING1";

/// What is no failure: a library that is too old to be asked for its level.
const NOT_FAILURES: [(&str, &str); 1] = [("unsupported", "levels")];

/// Whether a text has what is before the star and, in the same line, what is behind it.
fn says(text: &str, words: &str) -> bool {
    let (before, behind) = words.split_once('*').unwrap_or((words, ""));
    text.lines().any(|line| line.split_once(before).is_some_and(|(_, rest)| rest.contains(behind)))
}

/// One way to fail, at each call: the case has a persistent and a temporary resource.
#[track_caller]
fn fails_everywhere(way: &str) {
    let (_, code) = WAYS.into_iter().find(|(known, _)| *known == way).expect("a way of the table");
    for (call, exit, words, removed, _) in CALLS {
        if NOT_FAILURES.contains(&(way, call)) || way == "nothing" && !GIVING.contains(&call) {
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
    for (call, exit, _, _, words) in CALLS {
        let (text, status) =
            run_with(stand_in(), &format!("crash@{call}"), &["--jobs", "1", "--retries", "0", PADDING1]);
        assert!(
            status == exit && says(&text, words),
            "crash@{call}: exit {status}, not {exit} and {words}\n{text}"
        );
        assert!(text.contains(WORDS), "{text}");
    }
}

/// What a library can do wrong beside failing.
#[test]
fn what_a_library_does_wrong_is_seen_and_named() {
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

/// An answer that a library does not give is not taken for one.
#[test]
fn what_a_library_is_too_old_to_be_asked_is_said() {
    let (text, code) = run("level=1.0,unsupported@levels", &["--limit", "40"]);
    let words = "feature level 1.0; the level is assumed, since the library is too old to be asked for it \
                 (0x887A0004 DXGI_ERROR_UNSUPPORTED)";
    assert!(code == 0 && text.contains(words), "exit {code}\n{text}");
    // The ninth is FLOAT64, and UINT64 and INT64 are behind it.
    for (way, code) in [WAYS[0], WAYS[3]] {
        let (text, exit) = run(&format!("{way}@types:9+"), &[SLICE1]);
        let words = format!("types that the library does not know: FLOAT64 ({code}), UINT64 ({code})");
        assert!(exit == 0 && text.contains(&words), "exit {exit}\n{text}");
    }
    for way in ["fail", "out-of-memory", "device-removed"] {
        let (text, exit) = run(&format!("{way}@types:9"), &[SLICE1]);
        assert!(exit == 3 && text.contains("CheckFeatureSupport of a data type"), "exit {exit}\n{text}");
    }
}

#[test]
fn execution_flags_arrive_where_operators_are_compiled() {
    let flags = ["none", "no-metacommands", "half-precision", "no-metacommands+half-precision"];
    for (number, wanted) in flags.iter().enumerate() {
        for (other, given) in flags.iter().enumerate() {
            let words = if other == 0 { String::new() } else { given.replace('+', ",") };
            let (text, code) = run_as(&words, &format!("flags={wanted}"), &[SLICE1]);
            let passes = code == 0 && text.contains("1 passed");
            let fails = code == 1 && text.contains("refused it (compile, 0x80070057 E_INVALIDARG)");
            assert!(
                if number == other { passes } else { fails },
                "{given} for {wanted}: exit {code}\n{text}"
            );
        }
    }
}

#[test]
fn debug_layers_explain_the_failure_of_a_call_and_no_other() {
    let (text, code) = run_as("debug", "debug-layer=1,fail@compile", &[EMPTY_WINDOW, SLICE1]);
    assert!(code == 1 && text.contains("1 passed, 1 failed"), "exit {code}\n{text}");
    assert!(text.contains("(compile, 0x80004005 E_FAIL): CompileOperator; the debug layer says: Compile: it was told to fail (1 of 1)"), "{text}");
    assert!(!text.contains("says: a desc is refused"), "{text}");
    let (text, _) = run_as("debug", "debug-layer=1,fail@initialize", &[SLICE1]);
    assert!(
        text.contains("0x80004005 E_FAIL; the debug layer says: Initialize: it was told to fail"),
        "{text}"
    );
    let (text, _) = run("debug-layer=1,fail@compile", &[SLICE1]);
    assert!(!text.contains("debug layer"), "nobody asked for it: {text}");
}

#[test]
fn debug_layers_explain_a_removed_device_in_a_few_messages() {
    let bad = format!("{SLICE1} InputBinding.Offset=4");
    let (text, code) = run_as("debug", "debug-layer=12", &[&bad]);
    let words = "DXGI_ERROR_DEVICE_REMOVED; the debug layer says: (4 more before) | \
                 the device is removed: the inputs: its offset of 260 bytes is no multiple of 16 (5 of 12) | ";
    assert!(code == 1 && text.contains(words) && text.contains("(12 of 12)"), "exit {code}\n{text}");
}

#[test]
fn debug_layers_that_are_not_installed_are_told_of_once() {
    let (text, code) = run_as("debug", "", &[SLICE1]);
    // Whether the layer of Direct3D is there is Windows' affair; under Wine it is not.
    let words = if code == 0 { "; without DirectML's debug layer" } else { "no debug layer is installed" };
    assert!(matches!(code, 0 | 3) && text.matches(words).count() == 1, "exit {code}\n{text}");
    assert!(text.contains("0x887A002D DXGI_ERROR_SDK_COMPONENT_MISSING"), "{text}");
}

/// Another fill, and other offsets of its bindings, take no other operator.
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

/// The second dispatch of a run is its first operator's, with other data.
#[test]
fn an_operator_that_fails_only_when_it_runs_again_is_seen() {
    let (text, code) = run("wrong-element@dispatch:2", &["--limit", "40"]);
    assert!(code == 1 && text.contains("a later run of the same operator went wrong"), "{text}");
    assert!(text.contains("39 passed, 0 failed, 1 flaky"), "{text}");
}

#[test]
fn a_binding_that_removes_the_device_is_told_and_the_next_case_has_another_device() {
    let bad = format!("{SLICE1} InputBinding.Offset=4");
    let (text, code) = run("", &[SLICE1, &bad, PADDING1]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the inputs: its offset of 260 bytes is no multiple of 16"), "{text}");
    assert!(text.contains("the device was removed: 0x887A0005 DXGI_ERROR_DEVICE_REMOVED"), "{text}");
    // The failure is looked at again while the case behind it runs, on the same device, which it may lose: that is no case's
    // verdict.
    assert!(text.contains("held      2 passed, 1 failed\n"), "{text}");
}

/// Each of several threads loses devices under the others.
#[test]
fn cases_that_remove_the_device_fail_and_no_other_whoever_else_is_on_it() {
    let bad = format!("{SLICE1} InputBinding.Offset=4");
    let cases = [SLICE1, &bad, PADDING1, SLICE1, &bad, PADDING1, EMPTY_WINDOW, &bad, SLICE1];
    let (text, code) = run_with(stand_in(), "", &[&["--in-process", "--jobs", "4"], &cases[..]].concat());
    assert!(code == 1 && text.contains("held      6 passed, 3 failed\n"), "exit {code}\n{text}");
}

/// Cases that lost their device with others have their verdicts, from running again alone, and the loss is told of once.
#[test]
fn a_device_that_is_removed_once_is_told_of_and_costs_no_other_case_its_verdict() {
    for (told, arguments, words) in [
        ("device-removed@dispatch:1", &[SLICE1, PADDING1][..], "1 passed, 0 failed, 1 flaky"),
        ("device-removed@create:2", &[SLICE1, PADDING1], "1 passed, 0 failed, 1 flaky"),
        ("device-removed@dispatch:30", &["--limit", "200"], " 0 failed, 1 flaky"),
        ("direct3d-removed@dispatch:1", &[SLICE1, PADDING1], "1 passed, 0 failed, 1 flaky"),
        ("direct3d-removed@create:2", &[SLICE1, PADDING1], "1 passed, 0 failed, 1 flaky"),
    ] {
        let (text, code) = run(told, arguments);
        assert!(code == 1 && text.contains(words), "{told}: exit {code}\n{text}");
    }
}

/// Direct3D's own device is gone, under several threads with batches under way, and again under what they do again. There is no
/// other until all of them have let go of it.
#[test]
fn direct3d_has_another_device_as_soon_as_nothing_holds_on_to_the_one_that_was_removed() {
    let told = "direct3d-removed@dispatch:100,direct3d-removed@dispatch:400";
    let (text, code) = run_with(stand_in(), told, &["--in-process", "--jobs", "4", "--limit", "1000"]);
    let removals = text.matches("the device is removed: it was told to do so").count();
    assert!(code == 1 && removals == 2 && text.contains(" 0 failed, "), "exit {code}\n{text}");
    assert!(text.contains(" 1 flaky\n") || text.contains(" 2 flaky\n"), "{text}");
    let (text, code) = run("direct3d-removed@dispatch", &[EMPTY_WINDOW, PADDING1]);
    assert!(code == 1 && text.contains("held      1 passed, 1 failed\n"), "exit {code}\n{text}");
    // The code is what the device says: another on Wine, where it is removed by misuse.
    assert!(text.contains("failed (execute): the device was removed: 0x887A000"), "{text}");
}

/// What the device does not finish is given up after the time for a case, and the next case has another device. Were the device waited
/// for, both would pass: it hangs for a while only. Each is a batch, and both are under way, so that either may be the one that tells.
#[test]
fn a_device_that_hangs_is_given_up_in_time() {
    for (told, retries, words) in [
        ("hang@dispatch:1", "2", "1 passed, 0 failed, 1 flaky"),
        // Nobody looks at it again.
        ("hang@dispatch:1,hang@dispatch:2", "0", "1 passed, 0 failed, 1 timed out"),
    ] {
        let (text, code) = run(told, &["--case-timeout", "5s", "--retries", retries, SLICE1, PADDING1]);
        assert!(code == 1 && text.contains(&format!("held      {words}\n")), "{told}: exit {code}\n{text}");
        assert!(text.contains(", no answer in time (1 case)"), "{told}: {text}");
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

/// A device is lost, and no other is to be had.
#[test]
fn a_second_device_that_is_refused_ends_the_run() {
    for (way, code) in [WAYS[1], WAYS[2]] {
        let (text, exit) = run(&format!("device-removed@dispatch:1,{way}@device:2+"), &[SLICE1, PADDING1]);
        let words = format!("DMLCreateDevice1 failed on the adapter * {code}");
        assert!(exit == 3 && says(&text, &words), "exit {exit}\n{text}");
    }
}

/// It comes before one that is named, and that before the system's.
#[test]
fn a_library_beside_the_program_is_the_first_to_be_taken() {
    let folder = env::temp_dir().join(format!("dmlcts-{}-beside", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder takes another");
    let [program, library] = ["dmlcts.exe", "DirectML.dll"].map(|name| folder.join(name));
    fs::copy(env!("CARGO_BIN_EXE_dmlcts"), &program).expect("there is room");
    fs::copy(stand_in(), &library).expect("there is room");
    let started = |told: &str| {
        let output = Command::new(&program)
            .args(["run", "--backend", &backend(), "--in-process", SLICE1])
            .env("DMLCTS_DIRECTML", &folder)
            .env("DMLCTS_STAND_IN", told)
            .output();
        printed(&output.expect("the program starts"))
    };
    assert_eq!(passed(started("")), 1);
    // The word of the library that is named, which is none, counts as soon as there is no other.
    fs::remove_file(&library).expect("nobody uses it");
    let (text, code) = started("");
    fs::remove_dir_all(&folder).expect("nobody uses it");
    assert!(code == 3 && text.contains("no DirectML.dll could be loaded"), "exit {code}\n{text}");
}

#[test]
fn a_file_that_is_no_directml_ends_the_run() {
    let folder = PathBuf::from(env::var_os("SystemRoot").expect("Windows says where it is"));
    let other = folder.join("System32").join("kernel32.dll");
    let no_library = Scratch::new("text.dll", "This is no library.");
    let nowhere = env::temp_dir().join("dmlcts-nowhere.dll");
    let (bad_format, not_found) = (0x8007_00C1_u32, 0x8007_007E_u32);
    for (path, words) in [
        (other.as_path(), "has no function DMLCreateDevice, so it is no DirectML".to_owned()),
        (
            Path::new(no_library.path()),
            format!("no DirectML.dll could be loaded (* {bad_format:#010X}").replace("0X", "0x"),
        ),
        (&nowhere, format!("no DirectML.dll could be loaded (* {not_found:#010X}").replace("0X", "0x")),
    ] {
        let (text, code) = run_with(path, "", &["--in-process", SLICE1]);
        assert!(code == 3 && says(&text, &words), "{}: exit {code}, not {words}\n{text}", path.display());
    }
}

/// As the first versions of DirectML did. That function has another name in a copy of the stand-in.
#[test]
fn a_library_may_have_only_the_older_function_that_creates_devices() {
    let mut bytes = fs::read(stand_in()).expect("it is there");
    let name = b"DMLCreateDevice1\0";
    let places: Vec<_> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    assert!(!places.is_empty());
    for place in places {
        // Names stay in their order, which they are looked for by.
        bytes[place + name.len() - 2] = b'0';
    }
    let older = Scratch::new("older.dll", bytes);
    assert_eq!(passed(run_with(older.path(), "", &["--in-process", SLICE1])), 1);
    let (text, code) = run_with(older.path(), "fail@device", &["--in-process", SLICE1]);
    assert!(code == 3 && says(&text, "DMLCreateDevice failed on the adapter * 0x80004005 E_FAIL"), "{text}");
}

#[test]
fn every_adapter_is_listed_with_the_word_that_asks_for_it() {
    let (text, code) = start(stand_in(), "level=4.1,without=FLOAT64", &["backends"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("\ndirectml:warp "), "{text}");
    let listed = text.lines().skip_while(|line| !line.starts_with("directml:")).take(4).collect::<Vec<_>>();
    assert!(text.contains(" directml-stand-in of unknown version, feature level 4.1"), "{text}");
    if let Some((word, _)) = listed[0].split_once(' ').filter(|(word, _)| *word != "directml:warp") {
        assert_eq!(word, "directml:#0");
        let (text, code) = start(stand_in(), "", &["run", "--backend", word, "--in-process", SLICE1]);
        assert_eq!(passed((text, code)), 1);
    }
    let (text, code) = start(stand_in(), "", &["run", "--backend", "directml:#99", "--in-process", SLICE1]);
    assert!(code == 3 && text.contains("there is no adapter #99"), "exit {code}\n{text}");
}

#[test]
fn a_library_that_ends_the_process_is_found_out_case_by_case() {
    let (text, code) = run_with(stand_in(), "crash@dispatch", &[SLICE1, EMPTY_WINDOW]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the backend crashed: SLICE1") && text.contains(WORDS), "{text}");
    assert!(text.contains("1 passed, 0 failed, 1 crashed"), "{text}");
}

/// Standard output is the host's. A library prints while it makes a device, which is before the first answer, and later.
#[test]
fn a_library_that_prints_in_a_worker_harms_nobody() {
    for call in ["device", "types", "create", "dispatch"] {
        let told = format!("print@{call}");
        assert_eq!(passed(run_with(stand_in(), &told, &["--jobs", "1", SLICE1, PADDING1])), 2, "{told}");
    }
}

/// In the process of a worker, the host sees to the time: of calls that do not return, too.
#[test]
fn a_library_that_hangs_is_found_out_case_by_case() {
    for call in ["create", "dispatch"] {
        let told = format!("hang@{call}");
        let (text, code) = run_with(stand_in(), &told, &["--case-timeout", "3s", "--jobs", "1", SLICE1]);
        assert!(code == 1 && text.contains("no answer in time"), "{told}: exit {code}\n{text}");
        assert!(text.contains("held      0 passed, 0 failed, 1 timed out\n"), "{told}: {text}");
    }
}
