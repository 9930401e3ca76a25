//! `--junit`, `--markdown` and `--html`, with each exit code of a run.

use std::fs;

use crate::common::{Scratch, run, text};

const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";

#[test]
fn a_run_and_what_was_joined_of_its_parts_have_the_same_reports() {
    let names = ["whole.xml", "whole.md", "joined.xml", "joined.md", "1.jsonl", "2.jsonl"];
    let files = names.map(|name| Scratch::new(&format!("reports-{name}"), ""));
    let [whole_xml, whole_md, joined_xml, joined_md, one, two] = &files;
    let quiet = ["run", "--quiet", "--strategy", "boundary,documented"];
    let run_with = |more: &[&str]| assert_eq!(run(&[&quiet, more].concat()).status.code(), Some(0));
    run_with(&["--junit", whole_xml.path(), "--markdown", whole_md.path()]);
    for (file, part) in [(one, "1/2"), (two, "2/2")] {
        run_with(&["--partition", part, "--results", file.path()]);
    }
    let reports = ["--junit", joined_xml.path(), "--markdown", joined_md.path()];
    assert_eq!(
        run(&[&["merge", "--quiet", one.path(), two.path()][..], &reports].concat()).status.code(),
        Some(0)
    );
    // The duration differs, and so do the words for the cases.
    let tests = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains("time=")).map(str::to_owned).collect()
    };
    assert_eq!(tests(&whole_xml.text()), tests(&joined_xml.text()));
    assert_eq!(whole_xml.text().matches("<testcase").count(), 1 + 2 * 3);
    let table = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.starts_with('|') || line.starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(table(&whole_md.text()), table(&joined_md.text()));
    assert!(whole_md.text().starts_with("## dmlcts: nothing unexpected\n"));
    // A Markdown file keeps its text, and an XML file does not.
    run_with(&["--junit", whole_xml.path(), "--markdown", whole_md.path()]);
    assert_eq!(whole_md.text().matches("## dmlcts").count(), 2);
    assert_eq!(whole_xml.text().matches("<testsuites").count(), 1);
}

/// The parts of a page that say what became of each case: the rows of the table and the clauses.
fn cases_of(page: &Scratch) -> (usize, String) {
    let text = page.text();
    let (_, clauses) = text.split_once("<section id=\"clauses\"").expect("it has clauses");
    let (clauses, data) = clauses.split_once("<script").expect("it has data");
    let (_, rows) = data.split_once(r#""rows":["#).expect("it has rows");
    let rows = rows.split_once(r#","texts""#).expect("texts follow").0;
    (rows.matches(",\"SLICE1 ").count(), clauses.to_owned())
}

/// The page of a run, of its parts together, and of a run that was cut off and continued.
#[test]
fn a_page_has_every_case_however_the_run_came_about() {
    let names =
        ["whole.html", "joined.html", "resumed.html", "whole.jsonl", "1.jsonl", "2.jsonl", "cut.jsonl"];
    let files = names.map(|name| Scratch::new(&format!("page-{name}"), ""));
    let [whole, joined, resumed, results, one, two, cut] = &files;
    let usual = ["run", "--quiet", "--strategy", "boundary,documented", "--explain", "0"];
    let run_with = |more: &[&str]| {
        let backend = ["--backend", "mutant:wrong-stride"];
        assert_eq!(run(&[&usual[..], &backend, more].concat()).status.code(), Some(1), "{more:?}");
    };
    run_with(&["--html", whole.path(), "--results", results.path()]);
    let expected = cases_of(whole);
    assert!(expected.0 > 3 && expected.1.contains("unexpected"), "{expected:?}");

    for (file, part) in [(one, "1/2"), (two, "2/2")] {
        // A part may have no failure.
        run(&[
            &usual[..],
            &["--backend", "mutant:wrong-stride", "--partition", part, "--results", file.path()],
        ]
        .concat());
    }
    let merge = ["merge", "--quiet", one.path(), two.path(), "--html", joined.path()];
    assert_eq!(run(&merge).status.code(), Some(1));
    assert_eq!(cases_of(joined), expected);

    // The file as an interrupted run leaves it: a failure, a checkpoint behind it, and no summary.
    let text = results.text();
    let failed = text.lines().position(|line| line.contains(r#""verdict":"fail""#)).expect("a failure");
    let checkpoint = text.lines().skip(failed).position(|line| line.starts_with("{\"checkpoint\""));
    let half: Vec<&str> = text.lines().take(failed + 1 + checkpoint.expect("a checkpoint")).collect();
    fs::write(cut.path(), half.join("\n") + "\n").expect("it can be written");
    run_with(&["--html", resumed.path(), "--resume", cut.path()]);
    assert_eq!(cases_of(resumed), expected);
}

#[test]
fn a_comparison_writes_a_page() {
    let names =
        ["old.jsonl", "new.jsonl", "changes.html"].map(|name| Scratch::new(&format!("diff-{name}"), ""));
    let [old, new, page] = &names;
    let usual = ["run", "--quiet", "--strategy", "boundary,documented", "--explain", "0", "--results"];
    run(&[&usual[..], &[old.path()]].concat());
    run(&[&usual[..], &[new.path(), "--backend", "mutant:wrong-stride"]].concat());
    let output = run(&["diff", old.path(), new.path(), "--html", page.path()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let broken = said.lines().find_map(|line| line.strip_prefix("broken")).expect("cases broke");
    let broken = broken.trim().trim_end_matches(" cases");
    let text = page.text();
    assert!(text.contains("<h1 class=\"bad\">The new run is worse</h1>"));
    assert!(text.contains(&format!("<b>{broken}</b> <span>broken</span>")), "{broken}");
    assert!(
        text.contains("mutant:wrong-stride") && text.contains(">new: 0 before, now "),
        "a finding is new"
    );
    assert_eq!(cases_of(page).0.to_string(), broken, "the table has the cases that differ");
    // Nothing is written over a file that the comparison reads, and nothing is lost.
    let said = crate::common::text(&["diff", old.path(), new.path(), "--html", new.path()]);
    assert!(said.starts_with("exit 2\n") && said.contains("name the same file"), "{said}");
}

#[test]
fn a_report_that_cannot_be_written_is_named_before_the_run() {
    let said = text(&["run", "--junit", "/nonexistent/folder/junit.xml", CASE]);
    assert!(
        said.starts_with("exit 2\n--- stderr\nerror: cannot open the report /nonexistent/folder/junit.xml: "),
        "{said}"
    );
    assert!(said.contains("\n  help: name a file in a folder that exists"), "{said}");
}

#[test]
fn a_file_that_two_options_name_is_left_alone() {
    let file = Scratch::new("same.x", "mine\n");
    for options in [["--results", "--junit"], ["--junit", "--html"]] {
        let [one, other] = options;
        let said = text(&["run", one, file.path(), other, file.path(), CASE]).replace(file.path(), "FILE");
        let expected = format!(
            "exit 2\n--- stderr\nerror: `{one} FILE` and `{other} FILE` name the same file\n  help: name a file of its own for \
             each: what one of them writes, the other would lose\n"
        );
        assert_eq!(said, expected);
        assert_eq!(file.text(), "mine\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_on_a_full_disk_is_the_machines_failure() {
    for option in ["--junit", "--markdown", "--html"] {
        let said = text(&["run", option, "/dev/full", CASE]);
        assert!(said.starts_with("exit 3\n"), "{said}");
        assert!(said.contains("error: cannot write the report /dev/full: "), "{said}");
        assert!(said.contains("\n  help: make room, or name another file"), "{said}");
    }
}

#[test]
fn a_run_with_failures_exits_with_1_and_every_report_says_which() {
    let (xml, page, results) =
        (Scratch::new("bad.xml", ""), Scratch::new("bad.md", ""), Scratch::new("bad.jsonl", ""));
    let case = "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota";
    let backend = crate::common::broken("hangs", case);
    let files = ["--junit", xml.path(), "--markdown", page.path(), "--results", results.path()];
    let hangs = ["run", "--backend", &backend, "--case-timeout", "1s", "--retries", "1", case];
    let output = run(&[&hangs[..], &files].concat());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let said = xml.text();
    assert!(
        said.contains(r#"<error message="1 of 1 case: 1 timed out" type="timed-out">"#)
            && said.contains(case),
        "{said}"
    );
    let said = page.text();
    assert!(said.starts_with("## dmlcts: 1 unexpected verdict\n") && said.contains(case), "{said}");
    let said = results.text();
    assert!(
        said.contains(r#""verdict":"timeout""#) && said.contains(r#"{"ending":"complete","exit_code":1,"#),
        "{said}"
    );
    // A recorded result keeps the run's exit code. Compared with a run in which the case passes, it is
    // broken.
    assert_eq!(run(&["merge", "--quiet", results.path()]).status.code(), Some(1));
    let patient = Scratch::new("good.jsonl", "");
    assert_eq!(run(&["run", "--results", patient.path(), case]).status.code(), Some(0));
    assert_eq!(run(&["diff", patient.path(), results.path()]).status.code(), Some(1));
    assert_eq!(run(&["diff", results.path(), patient.path()]).status.code(), Some(0));
}

/// If a backend does not start, the page of tests has a failed test and nothing of the last run.
#[test]
fn a_run_that_comes_to_nothing_leaves_reports_that_say_so() {
    let (xml, page) = (Scratch::new("none.xml", ""), Scratch::new("none.md", "# Before\n"));
    let html = Scratch::new("none.html", "");
    let files = ["--junit", xml.path(), "--markdown", page.path(), "--html", html.path()];
    assert_eq!(run(&[&["run", "--strategy", "documented"], &files[..]].concat()).status.code(), Some(0));
    let before = page.text();
    let nobody = ["run", "--backend", "exec:no-such-program"];
    assert_eq!(run(&[&nobody, &files[..]].concat()).status.code(), Some(3));
    let said = xml.text();
    assert!(said.contains(r#"tests="1" skipped="0" failures="0" errors="1""#), "{said}");
    assert!(said.contains(r#"<testcase name="run" classname="dmlcts.smoke">"#), "{said}");
    assert!(said.contains(r#"<error message="the backend cannot be started: "#), "{said}");
    let said = html.text();
    assert!(
        said.contains("<h1 class=\"bad\">Nothing was run</h1>") && said.contains("no-such-program"),
        "{said}"
    );
    let said = page.text();
    let news = said.strip_prefix(&before).expect("what was there stays");
    assert!(news.starts_with("## dmlcts: nothing was run\n") && news.contains("no-such-program"), "{news}");
    // A run without a case does not look like a successful run either.
    assert_eq!(run(&[&["run", "--where", "rank == 99"], &files[..]].concat()).status.code(), Some(2));
    assert!(xml.text().contains(r#"type="not-run""#), "{}", xml.text());
}

/// Standard output shows the run, so that `-` is refused, and no file of this name is made.
#[test]
fn a_dash_is_no_file() {
    for option in ["--junit", "--markdown", "--html", "--results", "--resume"] {
        let said = text(&["run", option, "-"]);
        assert!(
            said.starts_with(&format!("exit 2\n--- stderr\nerror: invalid value '-' for '{option} <")),
            "{said}"
        );
        assert!(said.contains("name a file, or write ./- for one that is called so"), "{said}");
    }
    assert!(text(&["merge", "a.jsonl", "--results", "-"]).starts_with("exit 2\n"));
    assert!(!fs::exists("-").expect("it can be asked"));
}

/// With a closed standard output, the run has only its exit code and its files.
#[cfg(unix)]
#[test]
fn a_closed_standard_output_changes_no_exit_code() {
    let results = Scratch::new("closed.jsonl", "");
    for (options, code) in [("--strategy documented", 0), ("--where 'rank == 99'", 2)] {
        let script = format!("exec \"$0\" run {options} --results \"$1\" --overwrite >&- 2>&-");
        let mut shell = std::process::Command::new("sh");
        let status = shell.args(["-c", &script, env!("CARGO_BIN_EXE_dmlcts"), results.path()]).status();
        assert_eq!(status.expect("sh starts").code(), Some(code), "{options}");
        let text = results.text();
        let last = text.lines().next_back().unwrap_or_default();
        assert!(last.starts_with(r#"{"summary":{"ending":"complete""#), "{last}");
    }
}

#[test]
fn an_empty_name_of_a_file_is_refused_before_the_run() {
    let options = ["--junit", "--markdown", "--html", "--results", "--resume"];
    let run = options.map(|option| ["run", option, ""].to_vec());
    let merge = ["--results", "--html"].map(|option| ["merge", "none", option, ""].to_vec());
    let snapshot = [
        &["snapshot", "--from", ""][..],
        &["snapshot", "--dir", ""],
        &["snapshot", "diff", "--markdown", ""],
        &["run", "--findings", ""],
        &["accept", "", "--from", "none"],
        &["accept", "none", "--from", ""],
        &["findings", ""],
        &["findings", "none", "--markdown", ""],
        &["findings", "none", "--html", ""],
        &["findings", "merge", "", "none"],
    ];
    let others = snapshot.map(<[&str]>::to_vec);
    let diff = ["diff", "none", "none", "--html", ""].to_vec();
    for words in run.into_iter().chain(merge).chain(others).chain([diff]) {
        let said = text(&words);
        assert!(said.starts_with("exit 2\n"), "{words:?}: {said}");
        assert!(
            said.contains("the name is empty: name a file") || said.contains("a value is required"),
            "{said}"
        );
    }
}
