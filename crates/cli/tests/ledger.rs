//! `--ledger` and `dmlcts ledger`: answers to open questions are kept and compared, and never fail a run. A
//! file that is no ledger is never overwritten.

mod common;

use std::fs;

use dmlcts_spec::Library;

use common::{Scratch, run, stdout, text};

/// The lines of a summary about the ledger, with the file's name in place of its path.
fn about_ledger(arguments: &[&str], file: &Scratch) -> Vec<String> {
    let text = stdout(&[arguments, &["--ledger", file.path()]].concat()).replace(file.path(), "FILE");
    let lines = text.lines().skip_while(|line| !line.starts_with("ledger "));
    let own = |(place, line): &(usize, &str)| *place == 0 || line.starts_with("    ");
    lines.enumerate().take_while(own).map(|(_, line)| line[10..].to_owned()).collect()
}

/// A ledger of the suite `smoke` on the reference.
fn kept(name: &str) -> Scratch {
    let file = Scratch::new(name, "");
    assert_eq!(run(&["run", "--quiet", "--ledger", file.path()]).status.code(), Some(0));
    file
}

#[test]
fn a_run_says_what_changed_since_the_last_one_and_exits_as_it_would_have() {
    let file = Scratch::new("ledger.yaml", "");
    fs::remove_file(file.path()).expect("it was there");
    assert_eq!(
        about_ledger(&["run"], &file),
        ["FILE: answers to 31 questions, of a backend that it had nothing of"]
    );
    let first = file.text();
    assert_eq!(about_ledger(&["run", "--jobs", "3"], &file), ["FILE: answers to 31 questions, as before"]);
    assert_eq!(file.text(), first);
    // The reverse of a change that a driver's update may make; and another backend, which stays.
    let (head, entry) = first.split_once("backends:\n").expect("it has entries");
    let other = entry.replace("name: reference", "name: yours");
    let edited = entry
        .replace(
            "question: slice.stride-zero\n        answers:\n          - answer: reject",
            "question: slice.stride-zero\n        answers:\n          - answer: semantics",
        )
        .replace("padding1.reflection-of-one", "padding1.zzz");
    fs::write(file.path(), format!("# Mine.\nbackends:\n{other}{edited}")).expect("it can be written");
    assert_eq!(
        about_ledger(&["run"], &file),
        [
            "padding1.reflection-of-one: new, runs as the semantics (2)",
            "padding1.zzz: ran as the semantics (2), and no case raises it any more",
            "slice.stride-zero: ran as the semantics (9), now is refused (9)"
        ]
    );
    assert_eq!(file.text(), format!("# Mine.\nbackends:\n{entry}{other}"), "{head}");
}

#[test]
fn other_cases_of_the_suite_leave_the_ledger_as_it_is() {
    let file = kept("other.yaml");
    let before = file.text();
    let said = about_ledger(&["run", "--seed", "3", "--where", "operator == SLICE"], &file);
    let last = said.last().map(String::as_str);
    assert_eq!(
        last,
        Some("FILE is as it was: it has a run of the whole suite, and this one was of other cases")
    );
    assert!(said[0].starts_with(
        "slice.input.total-size-multiple: ran as the semantics (4), and elsewhere is accepted ("
    ));
    assert_eq!(file.text(), before);
}

#[test]
fn parts_that_are_joined_make_the_ledger_of_the_whole() {
    let whole = kept("whole.yaml");
    let parts = ["1", "2", "3"].map(|part| Scratch::new(&format!("ledger-{part}.jsonl"), ""));
    for (part, file) in parts.iter().enumerate() {
        let part = format!("{}/3", part + 1);
        let recording = ["run", "--quiet", "--partition", &part, "--results", file.path()];
        assert_eq!(run(&recording).status.code(), Some(0));
    }
    let (joined, page) = (Scratch::new("joined.yaml", ""), Scratch::new("joined-ledger.md", ""));
    let [one, two, three] = &parts;
    // In any order.
    let merge = ["merge", three.path(), one.path(), two.path(), "--markdown", page.path()];
    assert_eq!(
        about_ledger(&merge, &joined),
        ["FILE: answers to 31 questions, of a backend that it had nothing of"]
    );
    assert_eq!(joined.text(), whole.text());
    assert!(page.text().contains("\n- ledger: "), "{}", page.text());
}

/// Two backends: the second refuses a case that the first runs, has fewer questions, and has another spec.
const SHOWN: &str = "\
backends:
  - name: mine
    version: '1.0'
    level: '6.4'
    suite: smoke
    spec: SPEC
    questions:
      - question: slice.stride-zero
        answers:
          - {answer: reject, cases: 1200, example: SLICE of mine}
        together: 6
      - question: slice.input.unknown-flags
        answers:
          - {answer: accept, cases: 1, example: SLICE too large}
          - {answer: semantics, cases: 2, example: SLICE with flags}
      - question: padding1.reflection-of-one
        together: 2
  - name: yours
    version: '2.0'
    device: a card
    driver: '25.1'
    level: '5.0'
    suite: ci
    options: --seed 7
    spec: '0123456789abcdef'
    questions:
      - question: slice.stride-zero
        answers:
          - {answer: semantics, cases: 3, example: SLICE of yours}
          - {answer: reads c + 1, cases: 4, example: SLICE that reads}
      - question: slice.input.unknown-flags
        answers:
          - {answer: semantics, cases: 7, example: SLICE again}
      - question: tile.of-old
        answers:
          - {answer: reject, cases: 1, example: TILE of old}
";

#[test]
fn a_ledger_is_shown_question_by_question() {
    let file = Scratch::new("shown.yaml", SHOWN.replace("SPEC", Library::embedded().hash()));
    insta::assert_snapshot!(stdout(&["ledger", file.path()]));
    let nothing = Scratch::new("no-entries.yaml", "");
    assert_eq!(text(&["ledger", nothing.path()]), "exit 0\n");
    let missing = text(&["ledger", "no-such-ledger.yaml"]);
    assert!(missing.starts_with("exit 2\n--- stderr\nerror: cannot read no-such-ledger.yaml: "), "{missing}");
}

#[test]
fn a_wrong_ledger_ends_the_program_before_the_run_and_stays() {
    let results = Scratch::new("unmade.jsonl", "");
    fs::remove_file(results.path()).expect("it was there");
    let mut shown = String::new();
    for (name, content) in
        [("foreign.yaml", "backend: mine\nfailures: []\n"), ("broken.yaml", "backends: [\n")]
    {
        let file = Scratch::new(name, content);
        let said = text(&["run", "--results", results.path(), "--ledger", file.path()]);
        shown += &said.replace(file.path(), name);
        assert_eq!(file.text(), content);
    }
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    shown += &text(&["run", "--ledger", "ledger.yaml", case]);
    shown += &text(&["run", "--ledger", "/no/such/folder/ledger.yaml"]);
    shown += &text(&["run", "--ledger", std::env::temp_dir().to_str().expect("text")])
        .replace(std::env::temp_dir().to_str().expect("text"), "FOLDER");
    insta::assert_snapshot!(shown);
    assert!(!fs::exists(results.path()).expect("it can be asked"), "nothing was begun");
}

/// A file of any size gets a message that names its kind and the remedy.
#[test]
fn results_in_the_place_of_a_ledger_are_called_that() {
    let file = Scratch::new("ledger-results.jsonl", "");
    let recording = ["run", "--quiet", "--strategy", "documented", "--results", file.path()];
    assert_eq!(run(&recording).status.code(), Some(0));
    let before = file.text();
    for arguments in [&["ledger", file.path()][..], &["run", "--quiet", "--ledger", file.path()]] {
        let said = text(arguments).replace(file.path(), "FILE");
        assert_eq!(
            said,
            "exit 2\n--- stderr\nerror: FILE is a results file, and no ledger\n  help: `dmlcts merge` makes a ledger of it: \
             dmlcts merge run.jsonl --ledger answers.yaml; `dmlcts ledger answers.yaml` shows that\n"
        );
    }
    assert_eq!(file.text(), before);
}

/// Such a file has no maximum size, and it is no spec.
#[test]
fn a_file_that_is_too_large_for_a_ledger_is_called_that() {
    let file = Scratch::new("large.jsonl", "{}\n".repeat(1 << 19));
    for arguments in [&["ledger", file.path()][..], &["run", "--quiet", "--ledger", file.path()]] {
        let said = text(arguments).replace(file.path(), "FILE");
        assert_eq!(
            said,
            "exit 2\n--- stderr\nerror: cannot read FILE: it has more than 1048576 bytes\n  \
             help: a ledger is far smaller: name the one that `--ledger` of `run` or `merge` wrote\n"
        );
    }
}

/// A file that may not grow to the size of a ledger; the signal that reports this is ignored.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_full_disk_leaves_the_ledger_whole() {
    let file = kept("full.yaml");
    let before = file.text().replace("answer: reject", "answer: accept");
    fs::write(file.path(), &before).expect("it can be written");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" run --ledger \"$1\"";
    let mut shell = std::process::Command::new("sh");
    let output =
        shell.args(["-c", script, env!("CARGO_BIN_EXE_dmlcts"), file.path()]).output().expect("sh starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{out}{err}");
    assert!(
        err.contains("error: cannot write the ledger ")
            && err.contains("; it is as it was\n  help: make room"),
        "{err}"
    );
    assert!(out.contains("held "), "the run is shown all the same: {out}");
    assert_eq!(file.text(), before);
}
