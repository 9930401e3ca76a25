//! `dmlcts mutants`, and the backend `mutant:<name>`.

mod common;

use common::{Scratch, stdout, text};

/// A small suite: the examples of the pages, and cases like them.
const PAGES: &str = "
suite: pages
purpose: The examples of the pages.
parts:
  - {id: documented, strategy: documented}
";

#[test]
fn the_matrix_counts_kills_and_names_survivors() {
    let suite = Scratch::new("pages.yaml", PAGES);
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", "refuses-everything,padding-in-u16"]);
    assert!(said.starts_with("exit 1\n"), "a mutant survived: {said}");
    let line = |start: &str| {
        let line = said.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("{start}: {said}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("refuses-everything"), "refuses-everything 1 1 1");
    assert_eq!(line("padding-in-u16"), "padding-in-u16 - - -");
    assert_eq!(line("killed"), "killed 1 1 1");
    assert_eq!(line("The pages"), "The pages' own examples miss 1 of 2 mutants.");
    assert_eq!(line("Survivors"), "Survivors (1):");
    let described = "  padding-in-u16: paddings are held in 16 bits (arithmetic)";
    assert!(said.lines().any(|line| line == described), "{said}");
}

#[test]
fn a_suite_that_kills_all_ends_with_success() {
    let suite = Scratch::new("pages.yaml", PAGES);
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", "does-nothing"]);
    assert!(said.starts_with("exit 0\n") && !said.contains("Survivors"), "{said}");
}

#[test]
fn an_excused_survivor_is_no_failure() {
    let suite = Scratch::new("pages.yaml", PAGES);
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", "padding-before-level"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains("need not kill (1):") && said.contains("needs a level before 5.0"), "{said}");
}

#[test]
fn an_unknown_mutant_is_named_with_the_nearest_one() {
    for arguments in
        [["mutants", "--mutant", "refuses-everthing"], ["run", "--backend", "mutant:refuses-everthing"]]
    {
        let said = text(&arguments);
        assert_eq!(
            said,
            "exit 2\n--- stderr\n\
             error: there is no mutant `refuses-everthing`; did you mean `refuses-everything`?\n  \
             help: `dmlcts mutants --list` lists the mutants\n"
        );
    }
}

#[test]
fn an_endless_suite_is_refused() {
    let said = text(&["mutants", "--suite", "soak"]);
    assert!(said.starts_with("exit 2\n") && said.contains("the suite `soak` is endless"), "{said}");
}

#[test]
fn a_mutant_runs_as_a_backend_in_processes() {
    let case = "SLICE1 FLOAT32 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=-1";
    let run = |backend: &str| text(&["run", "--backend", backend, case]);
    assert!(run("mutant:slice1-stride-at-least-one").starts_with("exit 1\n"));
    assert!(run("mutant:padding-every-mode-is-constant").starts_with("exit 0\n"));
}

#[test]
fn the_list_describes_each_mutant() {
    let list = stdout(&["mutants", "--list", "--mutant", "slice1-stride-at-least-one"]);
    assert_eq!(
        list,
        "slice1-stride-at-least-one\n  SLICE1: a stride is clamped to at least 1\n  seen in: oxionnx#4\n  \
         case: SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4\n"
    );
    let names = stdout(&["mutants", "--list"]);
    assert!(names.lines().filter(|line| !line.starts_with(' ')).count() >= 120);
}
