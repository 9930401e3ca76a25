//! A full disk behind standard output, and limits on the size of files: every command reports them and exits
//! with 3, whatever its result would be.

#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs::File};

use crate::common::{Findings, Scratch, commands, dmlcts, finding, run};

const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn every_command_exits_with_3_where_its_output_cannot_be_written() {
    let results = Scratch::new("full.jsonl", "");
    let recording = ["run", "--quiet", "--strategy", "documented", "--results", results.path()];
    assert!(run(&recording).status.success());
    let failed = Scratch::nothing("full-failed.jsonl");
    let broken = crate::common::broken("flips", CASE);
    run(&["run", "--results", failed.path(), "--backend", &broken, CASE]);
    let hello =
        Scratch::new("full-hello", crate::common::frame("hello", r#"{"protocol":1,"host":"a test"}"#));
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/slice.yaml");
    let known = Findings::new("reference", &[]);
    let one = Findings::new("reference", &[("one", finding("one", None, "wrong-value", CASE))]);
    let (list, page) = (Scratch::nothing("full.md"), Scratch::nothing("full.html"));
    let new = tempfile::tempdir().expect("a temporary folder");
    let table: &[&[&str]] = &[
        &["run", "--limit", "10"],
        &["run", CASE],
        &["list", "--limit", "10"],
        &["list", "--limit", "100000", "--suite", "ci"],
        &["count"],
        &["count", "--limit", "10"],
        &["count", "--obligations"],
        &["show", CASE],
        &["explain", CASE],
        &["judge", CASE],
        &["spec", "list"],
        &["spec", "show", "SLICE"],
        &["spec", "check", spec],
        &["backends"],
        &["init", "c", new.path().to_str().expect("a plain name")],
        &["doctor"],
        &["serve"],
        &["merge", results.path()],
        &["diff", results.path(), results.path()],
        &["failures", failed.path()],
        &["accept", known.path(), "--from", results.path()],
        &["findings", known.path()],
        &["findings", known.path(), "--markdown", list.path(), "--html", page.path()],
        &["findings", "add", known.path(), "--backend", &broken, CASE],
        &["findings", "merge", known.path(), known.path()],
        &["fuzz", "--findings", known.path(), "--limit", "100"],
        &["replay", one.path()],
        &["export", "--as", "c", CASE],
        &["mutants", "--list"],
        &["snapshot", "diff", "--dir", "no-such-folder"],
        &["snapshot", "check", "--dir", "no-such-folder"],
        &["snapshot", "accept", "--dir", "no-such-folder"],
        &["suites"],
        &["suites", "smoke"],
        &["profiles"],
        &["profiles", "directml-6.4"],
        &["profiles", "directml-6.4-smoke", "--check"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["run", "--help"],
        &["list", "--version"],
        &["help", "diff"],
    ];
    for arguments in table {
        let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        // For `serve`, which sends nothing before it is asked.
        let host = File::open(hello.path()).expect("it is there");
        let output = dmlcts().args(*arguments).stdin(host).stdout(full).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(
            said.contains("error: cannot write the output: No space left on device"),
            "{arguments:?}: {said}"
        );
        assert!(said.contains("\n  help: make room where standard output goes"), "{arguments:?}: {said}");
    }
    let tried = |words: &[&str]| -> BTreeSet<String> {
        let behind = table.iter().filter_map(|arguments| arguments.strip_prefix(words)?.first());
        behind
            .filter(|word| !word.starts_with('-') && **word != "help")
            .map(|word| (*word).to_owned())
            .collect()
    };
    assert_eq!(tried(&[]), commands(&[]), "every command is tried");
    assert_eq!(tried(&["spec"]), commands(&["spec"]), "and every one of `spec`");
    let of_findings = tried(&["findings"]);
    assert!(commands(&["findings"]).is_subset(&of_findings), "and every one of `findings`");
}

/// A limit on the size of files acts like a full disk.
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_run_whose_files_may_not_be_larger_ends_with_3_and_loses_nothing() {
    let (results, list) = (Scratch::nothing("limit.jsonl"), Scratch::nothing("limit.txt"));
    let limited = |script: &str| {
        let arguments = ["-c", script, "sh", env!("CARGO_BIN_EXE_dmlcts"), results.path(), list.path()];
        let output = std::process::Command::new("sh").args(arguments).output().expect("there is a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = limited("ulimit -f 64; exec \"$1\" run --quiet --results \"$2\"");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("File too large") && said.contains("; all earlier lines are intact"), "{said}");
    let (code, said) = limited("ulimit -f 64; exec \"$1\" list --suite ci >\"$3\"");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.starts_with("error: cannot write the output: File too large"), "{said}");
    let (code, said) = limited("exec \"$1\" run --quiet --resume \"$2\"");
    assert_eq!(code, Some(0), "{said}");
    // The signal is blocked here, and not in the processes that start here.
    let (code, said) = limited(
        "\"$1\" run --quiet --case-timeout 5s --backend 'exec:sh -c \"grep SigBlk: /proc/self/status >&2\"'; exit 7",
    );
    assert!(code == Some(7) && said.contains(r"SigBlk:\t0000000000000000"), "{said}");
}
