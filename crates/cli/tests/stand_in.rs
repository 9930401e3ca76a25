//! The backend `directml`, end to end on Direct3D 12, with the stand-in in the place of DirectML: on Windows, or under Wine
//! by `.ci/windows test`. What is tested is the backend: how it binds, dispatches and reads back, and how it takes a
//! library's failures. Nothing here says anything of DirectML.

#![cfg(all(windows, feature = "directml"))]

mod common;

use std::{env, path::PathBuf};

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
fn run_with(library: PathBuf, told: &str, arguments: &[&str]) -> (String, i32) {
    let mut command = dmlcts();
    command.args(["run", "--backend", &backend()]).args(arguments);
    command.env("DMLCTS_DIRECTML", library).env("DMLCTS_STAND_IN", told);
    let output = command.output().expect("the program starts");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (text, output.status.code().expect("the program exits"))
}

/// The same with the stand-in, which is told how to misbehave, in this process and on one thread: another one's cases might
/// lose the same device, and come out as flaky.
fn run(told: &str, arguments: &[&str]) -> (String, i32) {
    let (text, code) = run_with(stand_in(), told, &[&["--in-process", "--jobs", "1"], arguments].concat());
    assert!(text.contains(WORDS), "it says what it is: {text}");
    (text, code)
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
    assert!(passed((text, code)) > 4_000);
}

#[test]
fn a_thousand_random_cases_pass_and_every_clause_is_refused() {
    let suite = Scratch::new(
        "thousand.yaml",
        "suite: thousand\npurpose: Random and negative cases.\nparts:\n  \
         - {id: random, strategy: random, count: 1000}\n  - {id: layout, strategy: layout, count: 300}\n  \
         - {id: negative, strategy: negative, each: 6}\n",
    );
    assert!(passed(run("", &["--suite", suite.path(), "--seed", "11"])) > 1_300);
}

#[test]
fn worker_processes_come_to_the_same() {
    assert!(passed(run_with(stand_in(), "", &["--jobs", "2", "--limit", "600"])) > 500);
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

/// Each way in which a library can fail, and what the run says of it.
#[test]
fn every_failure_of_the_library_is_seen_and_named() {
    for (told, case, words) in [
        ("out-of-memory@create", SLICE1, "(create, 0x8007000E E_OUTOFMEMORY)"),
        ("out-of-memory@create", EMPTY_WINDOW, "refused, but not as invalid"),
        ("out-of-memory@compile", SLICE1, "(compile, 0x8007000E E_OUTOFMEMORY)"),
        ("out-of-memory@initialize", SLICE1, "CreateOperatorInitializer: 0x8007000E E_OUTOFMEMORY"),
        ("out-of-memory@dispatch", SLICE1, "the device was removed: 0x8007000E E_OUTOFMEMORY"),
        (
            "device-removed@create",
            SLICE1,
            "(create): the device was removed: 0x887A0005 DXGI_ERROR_DEVICE_REMOVED",
        ),
        ("device-removed@create", EMPTY_WINDOW, "the device was removed"),
        ("device-removed@dispatch", PADDING1, "(execute): the device was removed: 0x887A0005"),
        ("refuse@create", SLICE1, "a valid desc was refused as invalid"),
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
    // The failure is looked at again while the case behind it runs. Within one process that may take the device from
    // it: then it is flaky, and passes on the device after.
    let (passed, flaky) = ("2 passed, 1 failed", "1 passed, 1 failed, 1 flaky");
    assert!(text.contains(passed) || text.contains(flaky), "{text}");
}

/// Cases that lost their device with others have their verdicts, from running again alone, and the loss is told of once.
#[test]
fn a_device_that_is_removed_once_is_told_of_and_costs_no_other_case_its_verdict() {
    for (told, arguments, words) in [
        ("device-removed@dispatch:1", &[SLICE1, PADDING1][..], "1 passed, 0 failed, 1 flaky"),
        ("device-removed@create:2", &[SLICE1, PADDING1], "1 passed, 0 failed, 1 flaky"),
        ("device-removed@dispatch:30", &["--limit", "200"], " 0 failed, 1 flaky"),
    ] {
        let (text, code) = run(told, arguments);
        assert!(code == 1 && text.contains(words), "{told}: exit {code}\n{text}");
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
    let folder = PathBuf::from(env::var_os("SystemRoot").expect("Windows says where it is"));
    let other = folder.join("System32").join("kernel32.dll");
    let (text, code) = run_with(other, "", &["--in-process", SLICE1]);
    assert!(code == 3 && text.contains("has no function DMLCreateDevice"), "exit {code}\n{text}");
}

#[test]
fn a_library_that_ends_the_process_is_found_out_case_by_case() {
    let (text, code) = run_with(stand_in(), "crash@dispatch", &[SLICE1, EMPTY_WINDOW]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the backend crashed: SLICE1") && text.contains(WORDS), "{text}");
    assert!(text.contains("1 passed, 0 failed, 1 crashed"), "{text}");
}
