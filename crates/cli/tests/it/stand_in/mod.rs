//! The backend `directml`, end to end on Direct3D 12, with the stand-in in the place of DirectML: on Windows,
//! or under Wine with `.ci/windows test`. The tests are about the backend: how it binds, dispatches and reads
//! back, and how it handles a library's failures. They show nothing about DirectML.

#![cfg(all(windows, feature = "directml"))]

mod barriers;
mod failures;
mod library;
mod suites;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::common::{Scratch, dmlcts};

const SLICE1: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                      InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";
const PADDING1: &str =
    "PADDING1 INT16 in=2 out=5 PaddingMode=CONSTANT PaddingValue=-7 StartPadding=1 EndPadding=2 fill=iota";
const EMPTY_WINDOW: &str =
    "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 InputWindowStrides=1 fill=iota";

/// The stand-in's description of itself.
const WORDS: &str = "a test double, not DirectML";

/// The value of `--backend`: the adapter that every Windows has, or the one that `.ci/wine` names.
fn backend() -> String {
    format!("directml:{}", env::var("DMLCTS_TEST_ADAPTER").unwrap_or_else(|_| "warp".to_owned()))
}

/// Cargo builds it beside this program.
fn stand_in() -> PathBuf {
    let program = env::current_exe().expect("a program has a file");
    let library = program.with_file_name("directml_stand_in.dll");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

/// Runs cases with a library; returns the output and the exit code.
fn run_with(library: impl AsRef<Path>, told: &str, arguments: &[&str]) -> (String, i32) {
    start(library, told, &[&["run", "--backend", &backend()], arguments].concat())
}

/// Starts the program with a library; returns the output and the exit code. Unless a test sets a time limit,
/// a case may take as long as a busy machine needs to end a crashed process or to finish the device's work.
fn start(library: impl AsRef<Path>, told: &str, arguments: &[&str]) -> (String, i32) {
    let mut command = dmlcts();
    command.args(arguments).env("DMLCTS_DIRECTML", library.as_ref()).env("DMLCTS_STAND_IN", told);
    if arguments.first() == Some(&"run") && !arguments.contains(&"--case-timeout") {
        command.args(["--case-timeout", "10m"]);
    }
    printed(&command.output().expect("the program starts"))
}

/// A program's output and its exit code.
fn printed(output: &Output) -> (String, i32) {
    let text = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat();
    (text, output.status.code().expect("the program exits"))
}

/// The same with the stand-in, which misbehaves on request, in this process and on one thread, so that calls
/// come in one order.
fn run(told: &str, arguments: &[&str]) -> (String, i32) {
    let (text, code) = run_with(stand_in(), told, &[&["--in-process", "--jobs", "1"], arguments].concat());
    assert!(text.contains(WORDS), "it says what it is: {text}");
    (text, code)
}

/// The same, with words after the adapter's name.
fn run_as(words: &str, told: &str, arguments: &[&str]) -> (String, i32) {
    let backend = format!("{},{words}", backend());
    let given = ["run", "--backend", &backend, "--in-process", "--jobs", "1"];
    start(stand_in(), told, &[&given, arguments].concat())
}

/// The number of passed cases; none failed.
#[track_caller]
fn passed((text, code): (String, i32)) -> usize {
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(" on directml-stand-in ") && text.contains(" 0 failed"), "{text}");
    let held = text.lines().find_map(|line| line.strip_prefix("held ")).expect("a summary has such a line");
    let (count, _) = held.split_once(" passed").expect("some passed");
    count.trim().replace(',', "").parse().expect("a number")
}

/// The failures of a library's calls: the word of `DMLCTS_STAND_IN`, and its text in a message.
const WAYS: [(&str, &str); 6] = [
    ("refuse", "0x80070057 E_INVALIDARG"),
    ("out-of-memory", "0x8007000E E_OUTOFMEMORY"),
    ("fail", "0x80004005 E_FAIL"),
    ("unsupported", "0x887A0004 DXGI_ERROR_UNSUPPORTED"),
    ("device-removed", "0x887A0005 DXGI_ERROR_DEVICE_REMOVED"),
    ("nothing", "0x80004003 E_POINTER"),
];

/// Whether a text contains the part before the star and, on the same line, the part after it.
fn says(text: &str, words: &str) -> bool {
    let (before, behind) = words.split_once('*').unwrap_or((words, ""));
    text.lines().any(|line| line.split_once(before).is_some_and(|(_, rest)| rest.contains(behind)))
}
