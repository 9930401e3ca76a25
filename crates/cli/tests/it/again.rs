//! The command at the end of a failure, run as printed: it gives the same failure, and the same command at
//! its end.
#![cfg(unix)]

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{Findings, Scratch, broken, finding, run};
use dmlcts_tests::at_once;

/// A case at which the backend is broken.
const CASE: &str = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";
/// A folder of findings that expects other failures than these.
fn known() -> Findings {
    let smallest = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let text = finding("refuses-all", Some("operator == SLICE"), "refused-valid", smallest);
    Findings::new("reference", &[("refuses-all", text)])
}

/// The output and the exit code of a printed command in a shell.
fn pasted(command: &str) -> (String, Option<i32>) {
    let folder = Path::new(env!("CARGO_BIN_EXE_dmlcts")).parent().expect("it lies in a folder").to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([folder].into_iter().chain(env::split_paths(&others))).expect("a path");
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", command]).env("PATH", path).stdin(Stdio::null()).output();
    let output = output.expect("sh starts");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

fn command_of(shown: &str) -> &str {
    let command = shown.lines().find_map(|line| line.trim().strip_prefix("dmlcts run ").map(|_| line.trim()));
    command.unwrap_or_else(|| panic!("no failure: {shown}"))
}

#[test]
fn the_command_that_repeats_a_case_has_every_relevant_option() {
    let list = known();
    let (wrong, silent) = (broken("flips", CASE), broken("hangs", CASE));
    let rows: [(&str, &[&str]); 10] = [
        (&wrong, &[]),
        (&wrong, &["--feature-level", "4.1"]),
        (&wrong, &["--retries", "0"]),
        (&wrong, &["--runs", "once"]),
        (&wrong, &["--memory", "64MiB"]),
        (&wrong, &["--allow", "nan-canonicalised,zero-sign"]),
        (&wrong, &["--findings", list.path()]),
        (&wrong, &["--case-timeout", "4321ms", "--findings", list.path(), "--retries", "1"]),
        (&silent, &["--case-timeout", "700ms"]),
        (&silent, &["--case-timeout", "700ms", "--feature-level", "5.0", "--findings", list.path()]),
    ];
    // Some cases hang until the timeout, some of them three times.
    at_once(rows, |(backend, options)| {
        let output = run(&[&["run", "--backend", backend], options, &[CASE]].concat());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{options:?}: {shown}");
        let command = command_of(&shown);
        for words in options.chunks(2) {
            let value = words[1].replace(list.path(), &format!("'{}'", list.path()));
            assert!(command.contains(&format!(" {} {value} ", words[0])), "{words:?}: {command}");
        }
        assert_eq!(pasted(command), (shown.clone(), Some(1)), "{command}");
    });
}

/// The failure without the lines that depend on the other cases of the run.
fn failure(shown: &str) -> Vec<&str> {
    let lines = shown.lines().skip_while(|line| !line.starts_with("FAIL 1")).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let of_run = ["  exactly ", "  no exact ", "  for example, ", "    SLICE", "  finding "];
    lines.filter(|line| !of_run.iter().any(|start| line.starts_with(start))).collect()
}

#[test]
fn the_commands_of_suites_and_joined_results_have_every_relevant_option() {
    let (list, results) = (known(), Scratch::nothing("again.jsonl"));
    let backend = broken("flips", CASE);
    let arguments = [
        "run",
        "--backend",
        &backend,
        "--strategy",
        "documented",
        "--where",
        "rank == 2 and operator == SLICE",
        "--explain",
        "0",
    ];
    let options =
        ["--feature-level", "4.1", "--memory", "64MiB", "--retries", "1", "--findings", list.path()];
    let output = run(&[&arguments[..], &options, &["--results", results.path()]].concat());
    let shown = String::from_utf8_lossy(&output.stdout);
    let (again, code) = pasted(command_of(&shown));
    assert_eq!((failure(&again), code), (failure(&shown), Some(1)));
    let joined = run(&["merge", results.path()]);
    let joined = String::from_utf8_lossy(&joined.stdout);
    assert_eq!(command_of(&joined), command_of(&shown));
}
