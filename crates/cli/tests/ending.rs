//! How a run ends before its first case, while a suite is still being searched for what it has.

mod common;

use std::time::{Duration, Instant};
#[cfg(unix)]
use std::{
    process::{Command, Stdio},
    thread,
};

#[cfg(unix)]
use common::dmlcts;
use common::{Scratch, text};

/// A box that takes minutes to list.
const ENDLESS_SEARCH: &str = "\
suite: huge
purpose: A box that takes minutes to list.
parts:
  - id: huge
    strategy: exhaustive
    ranks: {min: 1, max: 1}
    operators: [SLICE1]
    types: [INT8]
    bounds: [{that: InputTensor.Sizes <= 4000}, {that: -400 <= InputWindowStrides <= 400}]
";

#[test]
fn a_timeout_cuts_the_search_for_cases_as_well() {
    let suite = Scratch::new("huge-timeout.yaml", ENDLESS_SEARCH);
    let started = Instant::now();
    let text = text(&["run", "--suite", suite.path(), "--timeout", "300ms"]);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(
        text,
        "exit 2\n--- stderr\nerror: the time was up before a case ran\n  \
         help: give the run more time by --timeout\n"
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_before_the_first_case_ends_the_program_at_once() {
    let suite = Scratch::new("huge-interrupt.yaml", ENDLESS_SEARCH);
    let mut command = dmlcts();
    let child = command
        .args(["run", "--suite", suite.path()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Nothing says that the search has begun; the program listens to signals long before this.
    thread::sleep(Duration::from_secs(1));
    let started = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted before the first case\n");
    assert!(output.stdout.is_empty());
}
