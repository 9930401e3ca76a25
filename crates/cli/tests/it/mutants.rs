//! `dmlcts mutants`, and the backend `mutant:<name>`.

use crate::common::{Scratch, stdout, text};

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
    let suite = Scratch::new("weak.yaml", WEAK);
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", "coordinate-in-f32"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains("need not kill (1):") && said.contains("; needs "), "{said}");
}

#[test]
fn a_mutant_runs_at_the_older_level_that_it_needs() {
    let suite = Scratch::new("pages.yaml", PAGES);
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", "padding-before-level,does-nothing"]);
    assert!(said.starts_with("exit 0\n") && said.contains("pages: "), "{said}");
    assert!(said.contains("\nRun in another mode (1):\n  padding-before-level: at feature level 4.1\n"));
    // At that level, most mutants survive a suite of a later operator: it is no valid case there.
    let survivor = text(&["mutants", "--suite", suite.path(), "--mutant", "wrap-before-level"]);
    assert!(survivor.starts_with("exit 1\n") && survivor.contains("Survivors (1):"), "{survivor}");
}

#[cfg(unix)]
#[test]
fn a_mutant_that_reads_out_of_bounds_runs_between_guard_pages() {
    let suite = Scratch::new(
        "random.yaml",
        "
suite: random
purpose: A few random cases.
parts:
  - {id: random, strategy: random, count: 200}
",
    );
    let names = "reads-an-element-behind,reads-64-bytes-behind,reads-an-element-before";
    let said = text(&["mutants", "--suite", suite.path(), "--mutant", names]);
    assert!(said.starts_with("exit 0\n") && said.contains("random: 200 cases kill 3 of 3 mutants"), "{said}");
    assert_eq!(said.matches("in worker processes, with memory between guard pages").count(), 3, "{said}");
    // The first run of an operator has other memory around it.
    let run = |runs| {
        let backend =
            ["--backend", "mutant:reads-64-bytes-behind", "--fail-fast", "--explain", "0", "--runs", runs];
        text(&[&["run", "--suite", suite.path(), "--limit", "20"][..], &backend].concat())
    };
    assert!(run("once").starts_with("exit 0\n"), "{}", run("once"));
    assert!(run("sampled").starts_with("exit 1\n"), "{}", run("sampled"));
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
    let list = stdout(&["mutants", "--list", "--mutant", "sixteen-slots"]);
    let lines = "\n  case: SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1  # 16 times, in one batch with the lines \
                 below\n        SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1\n";
    assert!(list.ends_with(lines), "{list}");
    let names = stdout(&["mutants", "--list"]);
    assert!(names.lines().filter(|line| !line.starts_with(' ')).count() >= 120);
}

/// A few examples of the pages, under the name of a suite that need not find every mutant.
const WEAK: &str = "
suite: smoke
purpose: The examples of the pages.
parts:
  - {id: documented, strategy: documented, ranks: {min: 4, max: 4}}
";
