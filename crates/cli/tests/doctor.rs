//! `doctor`, end to end: on a backend that is well, on some that are not, and on what is none.

mod common;

use common::text;

/// What the doctor says of a backend, without what differs from run to run. A hang takes the whole time that it is given.
fn says(backend: &str) -> String {
    let said = text(&["doctor", "--case-timeout", "1s", "--backend", backend]);
    let said = said.replace(env!("CARGO_BIN_EXE_dmlcts"), "dmlcts");
    let lines = said.lines().map(|line| match line.split_once(" in ") {
        Some((head, _)) if head.ends_with("starts                  ") => head.to_owned(),
        _ if line.contains(" cases/s: ") => "ok    keeps up".to_owned(),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// This program as a backend that is broken at one of the pages' examples.
fn broken(fault: &str) -> String {
    let at = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";
    format!("exec:'{}' serve --break {fault} --break-at '{at}'", env!("CARGO_BIN_EXE_dmlcts"))
}

#[test]
fn a_backend_that_is_well() {
    insta::assert_snapshot!(says("reference"));
}

#[test]
fn a_backend_with_a_wrong_bit() {
    insta::assert_snapshot!(says(&broken("wrong-data")));
}

#[test]
fn a_backend_that_crashes_at_an_example() {
    let said = says(&broken("crash"));
    assert!(said.starts_with("exit 1\n"), "{said}");
    assert!(said.contains("FAIL  answers the examples     1 of 352 are wrong\n"), "{said}");
    assert!(said.contains("the backend crashed: dmlcts run --backend "), "{said}");
}

#[test]
fn what_does_not_start() {
    insta::assert_snapshot!(says("exec:no-such-program").lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    exit 3
    --- stdout
    ");
    #[cfg(unix)]
    insta::assert_snapshot!(says("exec:cat"), @r"
    exit 3
    --- stdout
    FAIL  starts                   `cat` is no backend: it answers with what it was sent
                                   run the command by hand and read what it prints
    ");
}
