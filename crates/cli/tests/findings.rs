//! Findings in every report: the terminal, results files, `merge`, `diff`, JUnit and workflow commands.

mod common;

use std::fs;

use common::{Scratch, run};

/// A fault on one axis of SLICE1 and a fault in PADDING1, with predicates that the suite alone shows.
const REACH: &str = "mutant:slice1-reach-rounded-down";
const MIRROR: &str = "mutant:padding-mirror-of-two-clamps";

/// Runs `smoke` on a backend without experiments.
fn smoke(backend: &str, more: &[&str]) -> (String, Option<i32>) {
    let output = run(&[&["run", "--backend", backend, "--explain-budget", "0"], more].concat());
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// The lines of findings: what failed, where, how far that is right, and the id.
fn findings(shown: &str) -> Vec<&str> {
    let starts = ["FAIL ", "  where ", "  exactly ", "  no exact ", "  finding "];
    shown.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).collect()
}

#[test]
fn a_results_file_keeps_the_findings() {
    let file = Scratch::nothing("findings.jsonl");
    let (shown, code) = smoke(REACH, &["--results", file.path()]);
    assert_eq!(code, Some(1));
    let found = findings(&shown);
    assert!(found.iter().any(|line| line.starts_with("  where operator == SLICE1 and any axis")), "{shown}");
    assert!(found.contains(&"  exactly these cases of the run; not confirmed by others"), "{shown}");
    let merged = run(&["merge", file.path()]);
    assert_eq!(findings(&String::from_utf8_lossy(&merged.stdout)), found);
}

#[test]
fn parts_with_the_same_finding_have_one_together() {
    let files = ["1/2", "2/2"].map(|part| {
        let file = Scratch::nothing(&format!("findings-{}.jsonl", part.replace('/', "-")));
        // The predicate of each part is the same, since this fault has few others.
        let (shown, _) = smoke("mutant:rank-one-refused", &["--partition", part, "--results", file.path()]);
        assert_eq!(findings(&shown).iter().filter(|line| line.ends_with(" rank == 1")).count(), 1);
        file
    });
    let merged = run(&["merge", files[0].path(), files[1].path()]);
    let merged = String::from_utf8_lossy(&merged.stdout);
    let (whole, _) = smoke("mutant:rank-one-refused", &[]);
    let counted = |shown: &str| {
        let head = findings(shown).into_iter().find(|line| line.starts_with("FAIL 1: ")).unwrap_or_default();
        head.split(" case").next().unwrap_or_default().to_owned()
    };
    assert_eq!(counted(&merged), counted(&whole), "{merged}");
}

#[test]
fn a_comparison_of_runs_names_new_and_fixed_findings() {
    let [old, new] = [REACH, MIRROR].map(|backend| {
        let file = Scratch::nothing(&format!("{}.jsonl", backend.replace(':', "-")));
        smoke(backend, &["--results", file.path()]);
        file
    });
    let compared = run(&["diff", old.path(), new.path()]);
    let compared = String::from_utf8_lossy(&compared.stdout);
    let line = |start: &str| compared.lines().find(|line| line.contains(start)).unwrap_or_default();
    assert!(line(" new padding1-wrong-value-").contains(", where operator == PADDING1"), "{compared}");
    assert!(line(" fixed slice1-refused-valid-").contains(", now 0 cases, where "), "{compared}");
}

#[test]
fn a_finding_is_a_test_and_a_workflow_command() {
    let junit = Scratch::nothing("findings.xml");
    let (shown, _) = smoke(REACH, &["--junit", junit.path(), "--annotations", "--quiet"]);
    let id =
        findings(&shown).into_iter().find_map(|line| line.strip_prefix("  finding ")).unwrap_or_default();
    assert!(id.starts_with("slice1-refused-valid-"), "{shown}");
    let command = format!("::error title={id}::SLICE1, a valid desc was refused as invalid (");
    assert!(shown.lines().any(|line| line.starts_with(&command)), "{shown}");
    let junit = fs::read_to_string(junit.path()).expect("it is written");
    assert!(
        junit.contains(&format!("<testcase name=\"{id}\" classname=\"dmlcts.smoke.findings\">")),
        "{junit}"
    );
    assert!(junit.contains(&format!("findings of SLICE1: {id}\n")), "{junit}");
}

#[test]
fn cases_that_are_given_have_no_predicate() {
    let case =
        "SLICE1 FLOAT32 in=5 out=2 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=2 fill=iota";
    let output = run(&["run", "--backend", "mutant:slice1-reach-rounded-down", case]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!shown.contains("  where "), "{shown}");
}
