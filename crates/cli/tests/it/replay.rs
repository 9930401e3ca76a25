//! Replays of findings: what became of each.

use std::fs;

use crate::common::{Findings, finding, text};

const STRIDE: &str =
    "SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=2 InputWindowStrides=-1 fill=iota";
/// The fault of the mutant below.
const REVERSED: &str = "operator == SLICE1 and any axis (InputWindowStrides < 0 and InputWindowSizes > 1)";
const MUTANT: &str = "mutant:slice1-negative-from-offset";

/// A folder with findings: of the fault, of the fault with another class, and one that was fixed.
fn findings() -> Findings {
    let of = |id: &str, class: &str| finding(id, Some(REVERSED), class, STRIDE);
    let fixed = of("was-fixed", "wrong-value").replace("status: known", "status: fixed");
    let flaky = of("flaky", "wrong-value") + "flaky: true\n";
    let other = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let some = of("some", "wrong-value") + &format!("cases: [{other}]\n");
    let output = of("output", "wrong-value") + "output: \"0123456789abcdef\"\n";
    Findings::new(
        "mine",
        &[
            ("class", of("class", "refused-valid")),
            ("fails", of("fails", "wrong-value")),
            ("flaky", flaky),
            ("output", output),
            ("some", some),
            ("was-fixed", fixed),
        ],
    )
}

/// The lines of a replay, each with its runs of spaces as one.
fn lines(said: &str) -> String {
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n");
    lines.collect()
}

#[test]
fn each_finding_has_a_line() {
    let mine = findings();
    let failing = lines(&text(&["replay", mine.path(), "--backend", MUTANT]));
    let passed = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    for line in [
        "exit 1".to_owned(),
        format!("CHANGED class wrong-value instead of refused-valid: {STRIDE}"),
        "STILL fails its case failed".to_owned(),
        "STILL flaky its case failed".to_owned(),
        format!("CHANGED output another wrong output: {STRIDE}"),
        format!("CHANGED some 1 of 2 cases passed, such as {passed}"),
        "REGRESSED was-fixed its case failed".to_owned(),
        format!("6 findings on {MUTANT} 0.1.0: 1 failing again, 3 changed, 2 still failing"),
    ] {
        assert!(failing.contains(&(line.clone() + "\n")), "{line}: {failing}");
    }
    let mended = lines(&text(&["replay", mine.path()]));
    for line in ["exit 0", "FIXED fails its case passed", "FLAKE flaky its case passed this time"] {
        assert!(mended.contains(&format!("{line}\n")), "{line}: {mended}");
    }
    assert!(mended.contains("6 findings on reference 0.1.0: 5 fixed, 1 varying\n"), "{mended}");
}

#[test]
fn files_are_replayed_and_the_table_is_markdown() {
    let mine = findings();
    let file = format!("{}/fails.yaml", mine.path());
    let table = format!("{}/../table.md", mine.path());
    let said = text(&["replay", &file, &file, "--backend", MUTANT, "--markdown", &table]);
    assert!(said.starts_with("exit 0\n") && said.contains("2 still failing"), "{said}");
    let written = fs::read_to_string(&table).expect("it was written");
    let row = "| STILL | fails | its case failed |\n";
    assert!(written.contains("| now | finding | why |\n") && written.ends_with(&row.repeat(2)), "{written}");
}

#[test]
fn the_table_replaces_no_finding() {
    let mine = findings();
    let (file, new) = (format!("{}/fails.yaml", mine.path()), format!("{}/new.yaml", mine.path()));
    for (of, table) in [(mine.path(), &new), (mine.path(), &file), (&*file, &file)] {
        let said = text(&["replay", of, "--markdown", table]);
        assert!(said.starts_with("exit 2\n") && said.contains("--markdown"), "{said}");
    }
    assert!(!fs::exists(&new).expect("the folder can be read"));
    assert!(fs::read_to_string(&file).expect("it is there").starts_with("finding: fails\n"));
}

#[test]
fn a_replay_of_nothing_is_an_error() {
    let empty = Findings::new("empty", &[]);
    let said = text(&["replay", empty.path()]);
    assert!(said.starts_with("exit 2\n") && said.contains("there is no finding in"), "{said}");
    let mine = findings();
    let said = text(&["replay", mine.path(), "--backend", "mutant:undeclared-nothing"]);
    assert!(said.starts_with("exit 2\n"), "{said}");
    let said = text(&["replay", "there-is-none"]);
    assert!(said.starts_with("exit 2\n") && said.contains("there-is-none"), "{said}");
}
