//! The program `dmlcts-lab`, on small suites.

use std::process::Command;

use dmlcts_generate::Suite;
use dmlcts_model::{FeatureLevel, line};
use dmlcts_runner::{CaseSource as _, SuiteSource};
use dmlcts_spec::{Library, Predicate, program::Values};
use dmlcts_tests::Scratch;

/// The examples of the pages.
const PAGES: &str = "
suite: pages
purpose: The examples of the pages.
parts:
  - {id: documented, strategy: documented}
";

/// A few examples of the pages, under the name of a suite that must find nearly all random faults.
const WEAK: &str = "
suite: smoke
purpose: The examples of the pages.
parts:
  - {id: documented, strategy: documented, ranks: {min: 4, max: 4}}
";

/// The exit code, standard output and standard error.
fn text(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dmlcts-lab")).args(arguments).output();
    let output = output.expect("the program starts");
    let code = output.status.code().expect("the program exits");
    let [said, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("exit {code}\n{said}{errors}")
}

#[test]
fn a_random_fault_that_no_case_meets_survives_and_is_described() {
    let suite = Scratch::new("weak.yaml", WEAK);
    let measured = || text(&["random", "40", "--seed", "3", "--suite", suite.path()]);
    let said = measured();
    assert!(said.starts_with("exit 1\n"), "{said}");
    let line = |start: &str| {
        let line = said.lines().find(|line| line.trim_start().starts_with(start));
        line.unwrap_or_else(|| panic!("{start}: {said}")).trim_start()
    };
    assert!(line("all").contains("/40"), "{said}");
    let sentence = "`smoke` finds ";
    assert!(line(sentence).ends_with("of 10 random faults with 1 condition, and must find 99 %"), "{said}");
    assert!(line("Survivors (").ends_with("):"));
    let (text, witness) = (&line("where ")["where ".len()..], &line("such as ")["such as ".len()..]);
    let library = Library::embedded();
    let predicate = Predicate::parse(text, library).expect(text);
    let mut case = line::parse(witness, library.signatures()).expect(witness);
    let holds = |case: &_| predicate.holds(case, FeatureLevel::NEWEST, &mut Values::default());
    assert!(holds(&case), "the witness meets the predicate");
    let suite = Suite::load(suite.path()).expect("a suite").expand(library, 3).expect("its cases");
    let source = SuiteSource::new(suite, &[]);
    for index in 0..source.count().expect("it ends") {
        source.cursor().read(index, &mut case);
        assert!(!holds(&case), "{text}: {case}");
    }
    assert_eq!(measured(), said, "everything follows from the seed");
}

#[test]
fn the_first_random_faults_do_not_depend_on_their_number() {
    let suite = Scratch::new("weak.yaml", WEAK);
    let survivors = |options: &[&str]| {
        let said = text(&[&["random", "--suite", suite.path()], options].concat());
        let lines = said.lines().filter(|line| line.trim_start().starts_with("where "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (few, more) = (survivors(&["10", "--atoms", "3"]), survivors(&["20", "--atoms", "3"]));
    assert!(!few.is_empty() && more.starts_with(&few), "{few:#?} {more:#?}");
    let mixed = survivors(&["40", "--atoms", "4,3,2,1"]);
    assert!(few.iter().all(|fault| mixed.contains(fault)), "{few:#?} {mixed:#?}");
    assert_ne!(few, survivors(&["10", "--atoms", "3", "--seed", "1"]));
}

#[test]
fn a_suite_without_a_floor_measures_only() {
    const RANDOM: [&str; 4] = ["random", "20", "--atoms", "2"];
    let suite = Scratch::new("pages.yaml", PAGES);
    let weak = Scratch::new("weak.yaml", WEAK);
    let both = ["--suite", suite.path(), "--suite", weak.path()];
    let said = text(&[&RANDOM[..], &both[..2]].concat());
    assert!(said.starts_with("exit 0\n") && said.contains("missed by pages"), "{said}");
    let said = text(&[&RANDOM[..], &both[..]].concat());
    assert!(said.starts_with("exit 1\n") && said.contains("missed by pages, smoke"), "{said}");
    let said = text(&[&["findings"], &both[..]].concat());
    assert!(said.starts_with("exit 2\n") && said.contains("name one suite"), "{said}");
}

#[test]
fn wrong_arguments_are_refused() {
    for arguments in [
        &["random", "4", "--mutant", "does-nothing"][..],
        &["random", "4", "--atoms", "5"],
        &["random", "0"],
        &["random", "4", "--suite", "soak"],
        &["random", "4", "--suite", "smokey"],
        &["findings", "--atoms", "2"],
        &["findings", "--mutant", "does-nothin"],
        &["findings", "--suite", "soak"],
        &["groups", "0"],
        &["groups", "1", "--size", "1"],
    ] {
        let said = text(arguments);
        assert!(said.starts_with("exit 2\nerror: "), "{arguments:?}: {said}");
    }
}

#[test]
fn the_failures_of_a_mutant_are_explained_and_others_are_listed_apart() {
    let suite = Scratch::new("weak.yaml", WEAK);
    let mutants = "refuses-everything,prime-size-hangs,int64-in-double";
    let said = text(&["findings", "--suite", suite.path(), "--mutant", mutants]);
    for part in [
        "exit 0\nrefuses-everything: every desc is refused\n  1 finding, wrong for 0 of the suite's cases",
        "88 cases: operator in [SLICE, SLICE1, PADDING1]\n",
        "\nLeft out, since more than a desc decides (1): prime-size-hangs\n",
        "\nListed apart, since no predicate describes the failures:\n  int64-in-double: ",
        "\nmutants: one finding for 1 of 1 (100 %), right about every case for 1 of 1 (100 %)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn each_fault_of_a_group_is_a_finding() {
    let suite = Scratch::new("weak.yaml", WEAK);
    let mutants = "slice1-stride-at-least-one,padding-every-mode-is-constant,slice-offset-times-stride";
    let said = text(&["groups", "1", "--size", "3", "--suite", suite.path(), "--mutant", mutants]);
    let first = said.lines().nth(1).expect("it names the group");
    assert!(first.ends_with(": 3 findings") && mutants.split(',').all(|name| first.contains(name)), "{said}");
    assert!(said.ends_with("\n1 group of 3 mutants: 3 findings for 1 of 1\n"), "{said}");
}
