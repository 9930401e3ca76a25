//! `dmlcts merge`, end to end: the parts of a suite become a run of one machine.

use std::fs;

use crate::common::{Scratch, run, stdout, text};

fn part(of: &str, more: &[&str]) -> Scratch {
    let file = Scratch::new(
        &format!("part-{}-{}.jsonl", of.replace('/', "-"), more.join("-").replace('/', "-")),
        "",
    );
    let mut arguments = vec!["run", "--quiet", "--results", file.path()];
    arguments.extend(more);
    if of != "whole" {
        arguments.extend(["--partition", of]);
    }
    assert_eq!(run(&arguments).status.code(), Some(0));
    file
}

/// Everything except the durations.
fn steady(path: &str) -> Vec<String> {
    let text = fs::read_to_string(path).expect("it is there");
    let lines = text.lines().filter(|line| !line.starts_with("{\"checkpoint\""));
    lines
        .map(|line| {
            let (before, after) = line.split_once("\"milliseconds\":").unwrap_or((line, ""));
            format!("{before}{}", after.trim_start_matches(|letter: char| letter.is_ascii_digit()))
        })
        .collect()
}

#[test]
fn the_parts_of_a_suite_become_one_run_again() {
    let whole = part("whole", &[]);
    let parts = ["3/3", "1/3", "2/3"].map(|of| part(of, &[]));
    let joined = Scratch::new("joined.jsonl", "");
    let files: Vec<&str> = parts.iter().map(Scratch::path).collect();
    let shown = stdout(&[&["merge", "--results", joined.path()], &files[..]].concat());
    // It matches the summary of one machine's run, except for the way it ran, its speed and the suggested
    // commands.
    let essence = |text: &str| -> Vec<String> {
        let lines = text.lines().take_while(|line| !line.starts_with("speed"));
        lines.map(|line| line.replace(", in 3 parts", "")).collect()
    };
    assert_eq!(essence(&shown), essence(&stdout(&["run"])));
    assert!(shown.contains("suite smoke, seed 0, in 3 parts on reference "), "{shown}");
    assert!(shown.ends_with("next      dmlcts run --suite smoke             # the same again\n"), "{shown}");
    assert_eq!(steady(joined.path()), steady(whole.path()));
    // A joined file is a results file like any other.
    let again = stdout(&["merge", joined.path()]);
    assert_eq!(again.lines().nth(2), shown.lines().nth(2));
    assert_eq!(stdout(&["merge", "--quiet", joined.path()]), "");
}

#[test]
fn each_error_of_merge_has_its_exit_code() {
    let documented = ["--strategy", "documented"];
    let (one, two, other) = (
        part("1/2", &documented),
        part("2/2", &documented),
        part("2/2", &["--strategy", "documented", "--seed", "1"]),
    );
    let said = |arguments: &[&str]| {
        let text = text(&[&["merge"], arguments].concat());
        text.replace(one.path(), "one").replace(two.path(), "two").replace(other.path(), "other")
    };
    let out = Scratch::new("joined-no.jsonl", "");
    fs::remove_file(out.path()).expect("it was there");
    let all = [
        said(&[one.path()]),
        said(&[one.path(), other.path(), "--results", out.path()]),
        said(&[one.path(), two.path(), "--results", two.path(), "--overwrite"]),
        said(&["nothing.jsonl"]),
    ];
    insta::assert_snapshot!(all.join("\n"));
    // A part with an interrupted run.
    let text = two.text();
    fs::write(two.path(), &text[..text.len() / 2]).expect("it can be written");
    let cut = said(&[one.path(), two.path(), "--results", out.path()]);
    assert_eq!(
        cut,
        "exit 3\n--- stderr\nerror: the run of two was cut off: it has no summary\n  \
         help: resume it: dmlcts run --suite smoke --strategy documented --partition 2/2 --resume two\n"
    );
    assert!(!fs::exists(out.path()).expect("its folder can be read"), "half a whole is not left behind");
}

/// A page of tests must not keep showing the last successful merge.
#[test]
fn parts_that_do_not_join_leave_reports_that_say_why() {
    let documented = ["--strategy", "documented"];
    let (one, two) = (part("1/2", &documented), part("2/2", &documented));
    let other = part("2/2", &["--strategy", "documented", "--seed", "2"]);
    let empty = Scratch::new("no-part.jsonl", "");
    let (xml, page) = (Scratch::new("parts.xml", ""), Scratch::new("parts.md", ""));
    let merge = |files: &[&str]| {
        let reports = ["--junit", xml.path(), "--markdown", page.path()];
        run(&[&["merge", "--quiet"], files, &reports].concat()).status.code()
    };
    let bad = [
        (vec![one.path()], 3, "smoke", "of the 2 parts of the run, part 2 is missing".to_owned()),
        (
            vec!["nothing.jsonl", two.path()],
            2,
            "smoke",
            "cannot read the results file nothing.jsonl: ".to_owned(),
        ),
        (vec![empty.path()], 2, "merge", format!("{} has no header: ", empty.path())),
        (
            vec![one.path(), other.path()],
            2,
            "smoke",
            format!("{} and {} are of different runs: ", one.path(), other.path()),
        ),
    ];
    for (files, code, name, why) in bad {
        assert_eq!(merge(&[one.path(), two.path()]), Some(0));
        assert!(xml.text().contains(r#"failures="0" errors="0""#), "{}", xml.text());
        let before = page.text();
        assert_eq!(merge(&files), Some(code), "{why}");
        let said = xml.text();
        assert!(said.contains(r#"tests="1" skipped="0" failures="0" errors="1""#), "{said}");
        assert!(said.contains(&format!(r#"<testcase name="run" classname="dmlcts.{name}">"#)), "{said}");
        assert!(said.contains(&format!(r#"<error message="{why}"#)), "{said}");
        let said = page.text();
        let news = said.strip_prefix(&before).expect("what was there stays");
        assert!(news.starts_with("## dmlcts: nothing was run\n") && news.contains(&why), "{news}");
    }
    // A new report is made if there was none.
    fs::remove_file(xml.path()).expect("it was there");
    assert_eq!(merge(&[one.path()]), Some(3));
    assert!(xml.text().contains(r#"type="not-run""#), "{}", xml.text());
}

/// A merge cannot be continued. The remedy is another file for the whole run.
#[cfg(target_os = "linux")]
#[test]
fn errors_about_the_output_name_options_of_merge() {
    let one = part("whole", &["--strategy", "documented"]);
    assert_eq!(
        text(&["merge", one.path(), "--results", "/dev/full"]).replace(one.path(), "one"),
        "exit 3\n--- stderr\nerror: cannot write the output file /dev/full: No space left on device (os error 28); \
         the parts are unchanged\n  help: make room, or name a file on another disk, and join the parts again\n"
    );
    let there = Scratch::new("there.jsonl", "mine\n");
    assert_eq!(
        text(&["merge", one.path(), "--results", there.path()]).replace(there.path(), "there"),
        "exit 2\n--- stderr\nerror: the output file there is not empty\n  \
         help: name another file, or replace it with --overwrite\n"
    );
}

/// The text of a results file is untrusted: its names are escaped in JUnit, too.
#[test]
fn junit_of_a_merge_has_no_line_that_a_results_file_made_up() {
    let whole = part("whole", &["--strategy", "documented"]);
    let text = whole.text().replacen(r#""name":"smoke""#, r#""name":"smoke\n::error::x""#, 1);
    assert_ne!(text, whole.text(), "the header names the suite");
    fs::write(whole.path(), text).expect("it can be written");
    let xml = Scratch::new("hostile-name.xml", "");
    run(&["merge", "--quiet", whole.path(), "--junit", xml.path()]);
    let said = xml.text();
    assert!(said.contains(r#"<testsuite name="smoke\n::error::x: documented""#), "{said}");
    assert!(!said.contains("\n::error::"), "{said}");
}
