//! `dmlcts diff`, end to end, on files in which the verdicts of some cases are replaced.

use std::collections::BTreeMap;

use crate::common::{Scratch, run, text};

/// A results file of the documented cases.
fn recorded(name: &str, more: &[&str]) -> Scratch {
    let file = Scratch::new(name, "");
    let arguments = ["run", "--quiet", "--results", file.path()];
    assert_eq!(run(&[&arguments, more].concat()).status.code(), Some(0));
    file
}

const PASS: &str = r#""verdict":"pass""#;
const FAIL: &str = r#""verdict":"fail","class":"wrong-value""#;
const CRASH: &str = r#""verdict":"crash","class":"crashed""#;
const SKIP: &str = r#""verdict":"skip""#;
const REFUSED: &str =
    r#""verdict":"recorded","answers":[{"question":"slice.stride-zero","answer":"reject"}]"#;
const RAN: &str = r#""verdict":"recorded","answers":[{"question":"slice.stride-zero","answer":"semantics"}]"#;

/// The lines of a file: its header, its cases, the last checkpoint and the summary. The number of checkpoints
/// depends on time.
fn lines_of(file: &Scratch) -> Vec<String> {
    let text = file.text();
    let last = text.lines().rfind(|line| line.starts_with("{\"checkpoint\""));
    let is_kept = |line: &&str| !line.starts_with("{\"checkpoint\"");
    let mut lines: Vec<String> = text.lines().filter(is_kept).map(str::to_owned).collect();
    lines.splice(lines.len() - 1..lines.len() - 1, last.map(str::to_owned));
    lines
}

/// The same file with other results for the cases at some indices, and without the cases at others.
fn changed(file: &Scratch, name: &str, verdicts: &[(usize, &str)], gone: &[usize]) -> Scratch {
    let lines = lines_of(file).into_iter().enumerate().filter(|(place, _)| !gone.contains(place));
    let change = |(place, line): (usize, String)| match verdicts.iter().find(|(other, _)| *other == place) {
        Some((_, verdict)) => line.replace(PASS, verdict),
        None => line,
    };
    counted(name, &lines.map(change).collect::<Vec<_>>())
}

/// A file of these lines, without checkpoints, whose summary counts its cases.
fn counted(name: &str, lines: &[String]) -> Scratch {
    let mut verdicts = BTreeMap::<&str, u64>::new();
    for line in lines.iter().filter(|line| line.starts_with("{\"case\"")) {
        let verdict = line.split_once(r#""verdict":""#).and_then(|(_, behind)| behind.split('"').next());
        *verdicts.entry(verdict.expect("a verdict")).or_default() += 1;
    }
    let counts: Vec<String> =
        verdicts.iter().map(|(verdict, cases)| format!("\"{verdict}\":{cases}")).collect();
    let counts =
        format!(r#"{{"strategy":"documented","operator":"SLICE","counts":{{{}}}}}"#, counts.join(","));
    let text = lines.iter().filter(|line| !line.starts_with("{\"checkpoint\"")).map(|line| {
        let Some((before, rest)) = line.split_once(r#""verdicts":["#) else { return format!("{line}\n") };
        let behind = rest.split_once("],").map_or("", |(_, behind)| behind);
        format!("{before}\"verdicts\":[{counts}],{behind}\n")
    });
    Scratch::new(name, text.collect::<String>())
}

fn diff(old: &Scratch, new: &Scratch) -> String {
    text(&["diff", old.path(), new.path()]).replace(old.path(), "OLD").replace(new.path(), "NEW")
}

#[test]
fn differences_between_runs_are_listed_by_kind() {
    let whole = recorded("diff-whole.jsonl", &["--strategy", "documented"]);
    let old = changed(
        &whole,
        "old.jsonl",
        &[(1, FAIL), (2, FAIL), (3, SKIP), (4, REFUSED), (5, CRASH), (300, FAIL)],
        &[6, 7],
    );
    let new = changed(
        &whole,
        "new.jsonl",
        &[(2, CRASH), (4, RAN), (6, FAIL), (8, CRASH), (9, FAIL), (10, FAIL), (300, FAIL)],
        &[11],
    );
    insta::assert_snapshot!(diff(&old, &new));
    insta::assert_snapshot!("backwards", diff(&new, &old));
    assert!(diff(&old, &old).starts_with("exit 0\n"));
}

#[test]
fn only_what_got_worse_is_an_error() {
    let whole = recorded("worse-whole.jsonl", &["--strategy", "documented"]);
    let code = |old: &[(usize, &str)], new: &[(usize, &str)], old_gone: &[usize], new_gone: &[usize]| {
        let old = changed(&whole, "worse-old.jsonl", old, old_gone);
        let new = changed(&whole, "worse-new.jsonl", new, new_gone);
        run(&["diff", old.path(), new.path()]).status.code()
    };
    assert_eq!(code(&[], &[], &[], &[]), Some(0), "the same");
    assert_eq!(code(&[(1, FAIL)], &[], &[], &[]), Some(0), "fixed");
    assert_eq!(code(&[], &[], &[1], &[]), Some(0), "new");
    assert_eq!(code(&[(1, FAIL)], &[], &[], &[1]), Some(0), "gone");
    assert_eq!(code(&[(1, SKIP)], &[], &[], &[]), Some(0), "was skipped");
    assert_eq!(code(&[], &[(1, FAIL)], &[], &[]), Some(1), "broken");
    assert_eq!(code(&[(1, FAIL)], &[(1, CRASH)], &[], &[]), Some(1), "fails otherwise");
    assert_eq!(code(&[], &[(1, SKIP)], &[], &[]), Some(1), "skipped");
    assert_eq!(code(&[(1, REFUSED)], &[(1, RAN)], &[], &[]), Some(0), "answered otherwise");
    assert_eq!(code(&[(1, REFUSED)], &[], &[], &[]), Some(1), "not open any more");
    assert_eq!(code(&[], &[(1, FAIL)], &[1], &[]), Some(1), "new, and fails");
}

/// Cases that a run did not reach before it ended early are unknown, not gone. An outdated list of known
/// failures does not turn an improvement into a regression.
#[test]
fn a_known_failure_that_passes_is_fixed() {
    let whole = recorded("known-whole.jsonl", &["--limit", "20"]);
    let known = r#""verdict":"expected-fail","class":"wrong-value""#;
    let with = |name: &str, verdict: &str| changed(&whole, name, &[(1, verdict), (2, verdict)], &[]);
    let (failing, passing) =
        (with("known-fails.jsonl", known), with("known-passes.jsonl", r#""verdict":"unexpected-pass""#));
    let better = diff(&failing, &passing);
    assert!(better.starts_with("exit 0\n") && better.contains("fixed     2 cases"), "{better}");
    let worse = diff(&passing, &failing);
    assert!(worse.starts_with("exit 1\n") && worse.contains("broken    2 cases"), "{worse}");
}

#[test]
fn a_new_run_that_is_not_complete_proves_nothing() {
    let whole = recorded("complete.jsonl", &["--strategy", "documented"]);
    let lines = lines_of(&whole);
    let (header, summary) = (&lines[0], &lines[lines.len() - 1]);
    // Includes the cases before this index.
    let ended = |ending: &str, end: usize| {
        let summary = summary.replace(r#""ending":"complete""#, &format!(r#""ending":"{ending}""#));
        counted("incomplete.jsonl", &[&lines[..end], &[summary]].concat())
    };
    for (ending, said) in [
        ("interrupted", "was interrupted"),
        ("backend-lost", "lost its backend"),
        ("not-recorded", "could not be recorded to its end"),
        ("timeout", "ended since its time was up"),
        ("hangs", "ended since too many cases hung"),
    ] {
        let compared = diff(&whole, &ended(ending, 2));
        assert!(compared.starts_with("exit 1\n"), "{compared}");
        assert!(compared.contains(&format!(": 1 different case; the run {said}\n")), "{compared}");
        let gone = "gone      87 cases, of which nobody knows what they come to, since the new run is not complete\n";
        assert!(compared.contains(gone), "{compared}");
    }
    let cut = Scratch::new("cut.jsonl", format!("{header}\n{}\n", lines[1]));
    assert!(diff(&whole, &cut).contains(": 1 different case; the run was cut off\n"));
    assert_eq!(run(&["diff", whole.path(), cut.path()]).status.code(), Some(1));
    // A complete run has lost these cases on purpose. A run that has all cases leaves none open.
    assert_eq!(run(&["diff", whole.path(), ended("limit", 2).path()]).status.code(), Some(0));
    let all = ended("interrupted", lines.len() - 1);
    assert_eq!(run(&["diff", whole.path(), all.path()]).status.code(), Some(0));
}

/// Runs without a common case cannot be compared, independent of their other differences.
#[test]
fn runs_without_a_common_case_have_no_verdict() {
    let parts = ["1/2", "2/2"].map(|part| {
        let name = format!("part-{}.jsonl", &part[..1]);
        recorded(&name, &["--strategy", "documented", "--partition", part])
    });
    let [one, two] = &parts;
    assert_eq!(
        diff(one, two),
        "exit 2\n--- stderr\nerror: nothing was compared: OLD and NEW have no case in common\n  \
         help: compare runs of the same suite, seed and part\n"
    );
    let cut = Scratch::new("cut-at-once.jsonl", one.text().split_inclusive('\n').take(1).collect::<String>());
    assert_eq!(run(&["diff", one.path(), cut.path()]).status.code(), Some(2));
}

/// A file is read twice, the second time for examples, and a pipe can be read only once.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_taken_for_an_empty_file() {
    let file = recorded("piped.jsonl", &["--strategy", "documented"]);
    let script = "cat \"$1\" | \"$0\" diff \"$1\" /dev/stdin";
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", script, env!("CARGO_BIN_EXE_dmlcts"), file.path()]).output();
    let output = output.expect("sh starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: /dev/stdin is a pipe or a device, which cannot be read twice\n  \
         help: save its content as a file, and name the file\n"
    );
}

/// A case that is gone from a part may be in another part, unless both files are the same part.
#[test]
fn a_part_is_no_whole_run() {
    let whole = recorded("of-two.jsonl", &["--strategy", "documented"]);
    let part = recorded("half.jsonl", &["--strategy", "documented", "--partition", "1/2"]);
    let compared = diff(&whole, &part);
    assert!(compared.starts_with("exit 1\n"), "{compared}");
    assert!(
        compared
            .contains(" cases, of which nobody knows what they come to, since the new run is not complete\n")
    );
    assert!(diff(&part, &whole).starts_with("exit 0\n"));
    let fewer = changed(&part, "fewer.jsonl", &[], &[1]);
    let compared = diff(&part, &fewer);
    assert!(compared.starts_with("exit 0\n") && compared.contains("\ngone      1 case\n"), "{compared}");
}

/// Files with lost or changed lines are refused.
#[test]
fn files_that_do_not_add_up_are_not_compared() {
    let whole = recorded("adds-up.jsonl", &["--strategy", "documented"]);
    let lines: Vec<String> = lines_of(&whole).into_iter().map(|line| line + "\n").collect();
    let text = lines.concat();
    let without = |place: usize| [&lines[..place], &lines[place + 1..]].concat().concat();
    let summary = lines.len() - 1;
    for (damaged, cause) in [
        (without(50), "the checkpoint in line 89 counts 88 of verdict `pass`, and there are 87"),
        (
            text.replacen(PASS, FAIL, 1),
            "the checkpoint in line 90 counts 88 of verdict `pass`, and there are 87",
        ),
        (
            [&lines[..50], &lines[51..summary - 1], &lines[summary..]].concat().concat(),
            "the summary in line 89 counts 88 of verdict `pass`, and there are 87",
        ),
    ] {
        let damaged = Scratch::new("damaged.jsonl", damaged);
        for (old, new, name) in [(&whole, &damaged, "NEW"), (&damaged, &whole, "OLD")] {
            let said = format!(
                "exit 2\n--- stderr\nerror: the cases of {name} do not add up: {cause}\n  \
                 help: another program changed or removed lines: run it again\n"
            );
            assert_eq!(diff(old, new), said);
        }
    }
    let twice = [&lines[..3], &lines[2..]].concat().concat();
    let said = diff(&whole, &Scratch::new("twice.jsonl", twice));
    let cause =
        "error: line 4 of NEW is not a line of a results file: case 1 stands behind a later one, or twice\n";
    assert!(said.starts_with("exit 2\n") && said.contains(cause), "{said}");
}

/// Runs of different suites, seeds and parts: the common cases are compared, and the differences between the
/// runs are named.
#[test]
fn runs_of_different_cases_can_be_compared() {
    let one = recorded("seed-0.jsonl", &["--strategy", "documented,random"]);
    let two =
        recorded("seed-1.jsonl", &["--strategy", "random,documented", "--seed", "1", "--partition", "1/2"]);
    let text = diff(&one, &two);
    assert!(text.starts_with("exit 1\n"), "{text}");
    assert!(
        text.contains("differ in --seed: 0 before, 1 now\n")
            && text.contains("--partition: none before, 1/2 now"),
        "{text}"
    );
    let count = |head: &str| -> u64 {
        let line =
            text.lines().find(|line| line.starts_with(head)).unwrap_or_else(|| panic!("{head}: {text}"));
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        digits.parse().expect("a count")
    };
    assert!(count("same") > 40 && count("gone") > 200 && count("new       ") > 100, "{text}");
    let none = text_of_nothing(&one);
    assert!(
        none.starts_with("exit 2\n") && none.contains("cannot read the results file nothing.jsonl"),
        "{none}"
    );
}

fn text_of_nothing(file: &Scratch) -> String {
    text(&["diff", file.path(), "nothing.jsonl"])
}

#[test]
fn differences_are_written_as_markdown() {
    let old = recorded("markdown.jsonl", &["--strategy", "documented"]);
    let new = changed(&old, "markdown-new.jsonl", &[(1, FAIL), (2, SKIP)], &[]);
    let page = Scratch::new("changes.md", "");
    let with = |old: &Scratch, new: &Scratch| {
        let said = text(&["diff", old.path(), new.path(), "--markdown", page.path()]);
        let names = |text: &str| text.replace(old.path(), "OLD").replace(new.path(), "NEW");
        let shown = said.split_once("--- stdout\n").expect("differences").1.to_owned();
        assert!(page.text().contains(&format!("```text\n{shown}```\n")), "{said}{}", page.text());
        names(page.text().lines().next().unwrap_or_default())
    };
    assert_eq!(with(&old, &old), "## dmlcts: OLD → OLD: no case changed");
    let head = with(&old, &new);
    assert_eq!(head, "## dmlcts: OLD → NEW: 1 broken, 1 changed");
}
