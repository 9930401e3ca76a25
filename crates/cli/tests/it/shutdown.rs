//! Backends that answer every case, and fail at their shutdown.

#![cfg(unix)]

use std::process::{Command, Stdio};

use dmlcts_tests::{at_once, wait_until};

use crate::common::{ENDLESS, Findings, Scratch, broken, dmlcts, text};

const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
/// The text that stands for a sanitizer's report, and the exit code of such a process.
const LEAKS: &str = "echo 'SUMMARY: 12 bytes leaked in 1 allocation' >&2; exit 23";
/// The message about one such process.
const LEAKED: &str = "exit status: 23; it said: SUMMARY: 12 bytes leaked in 1 allocation";

/// This program as a backend that does this at its end, if it is alive.
fn ending(name: &str, end: &str) -> (Scratch, String) {
    let script =
        Scratch::new(&format!("{name}.sh"), format!("'{}' serve\n{end}\n", env!("CARGO_BIN_EXE_dmlcts")));
    let backend = format!("exec:sh {}", script.path());
    (script, backend)
}

/// The error messages of a command, without their remedies.
fn errors(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("error: ")).collect()
}

#[test]
fn a_leak_that_is_found_at_exit_fails_the_run_in_one_line() {
    let (script, backend) = ending("leaks", LEAKS);
    let quiet = text(&["run", "--quiet", "--jobs", "1", "--backend", &backend, CASE]);
    let quiet = quiet.replace(script.path(), "leaks.sh");
    insta::assert_snapshot!(quiet);
    let said = text(&["run", "--jobs", "1", "--backend", &backend, CASE]);
    assert!(said.starts_with("exit 3\n") && said.contains("held      1 passed, 0 failed\n"), "{said}");
    assert_eq!(errors(&said).len(), 1, "{said}");
}

#[test]
fn a_fault_at_exit_outranks_a_failure() {
    let case = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";
    let broken = broken("flips", case).replace("exec:", "");
    let script = Scratch::new("aborts.sh", format!("{broken}\nkill -ABRT $$\n"));
    let said = text(&["run", "--backend", &format!("exec:sh {}", script.path()), case]);
    assert!(said.starts_with("exit 3\n") && said.contains(" 1 failed"), "{said}");
    assert!(errors(&said)[0].contains(": signal: 6"), "{said}");
}

/// A process that this program ends is not blamed for its exit.
#[test]
fn a_killed_process_is_reported_once_and_fails_no_case() {
    let (_script, backend) = ending("stays", "exec sleep 100");
    let said = text(&["run", "--jobs", "2", "--backend", &backend, CASE]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert_eq!(said.matches("a backend process did not end within 3.0 s of `bye`").count(), 1, "{said}");
    let said = text(&["run", "--quiet", "--backend", &backend, CASE]);
    assert_eq!(said, "exit 0\n");
}

#[test]
fn a_process_behind_a_process_is_seen() {
    let (_script, backend) = ending("nested", LEAKS);
    let nested = format!("exec:'{}' serve --backend '{backend}'", env!("CARGO_BIN_EXE_dmlcts"));
    let said = text(&["run", "--jobs", "1", "--backend", &nested, CASE]);
    assert!(said.starts_with("exit 3\n") && errors(&said).len() == 1, "{said}");
    let inner = "told to end: exit status: 3; it said: error: a backend process ended badly when it was told to end: exit status: 23";
    assert!(errors(&said)[0].contains(inner), "{said}");
    // The process in between has time to end the one behind it.
    let (_script, backend) = ending("nested-stays", "exec sleep 100");
    let nested = format!("exec:'{}' serve --backend '{backend}'", env!("CARGO_BIN_EXE_dmlcts"));
    let said = text(&["run", "--jobs", "1", "--backend", &nested, CASE]);
    assert!(said.starts_with("exit 0\n") && !said.contains("did not end within"), "{said}");
}

#[test]
fn every_report_says_so_and_so_does_the_merge() {
    let (_script, backend) = ending("reported", LEAKS);
    let [results, junit, markdown] =
        ["bad-end.jsonl", "bad-end.xml", "bad-end.md"].map(|name| Scratch::new(name, ""));
    let reports = ["--results", results.path(), "--junit", junit.path(), "--markdown", markdown.path()];
    text(&[&["run", "--jobs", "1", "--backend", &backend, CASE][..], &reports].concat());
    let bad_end = format!("a backend process ended badly when it was told to end: {LEAKED}");
    let recorded = results.text();
    let summary = recorded.lines().last().expect("a summary");
    assert!(summary.contains(&format!(r#""exit_code":3,"bad_end":"{bad_end}""#)), "{summary}");
    let junit = junit.text();
    assert!(junit.contains(&format!(r#"<error message="{bad_end}" type="bad-end"/>"#)), "{junit}");
    let markdown = markdown.text();
    assert!(markdown.starts_with("## dmlcts: the backend ended badly\n"), "{markdown}");
    assert!(markdown.contains(&format!("\nAt last, {bad_end}.\n")), "{markdown}");
    let merged = text(&["merge", "--quiet", results.path()]);
    assert!(merged.starts_with("exit 3\n"), "{merged}");
    assert_eq!(errors(&merged), [format!("error: {bad_end}")], "{merged}");
}

/// A backend that ends badly keeps no promise of a profile, even if only one part of the run does, whatever
/// the others do.
#[test]
fn a_backend_that_breaks_at_its_end_conforms_to_nothing() {
    let (script, backend) = ending("claims", LEAKS);
    let of_profile = ["run", "--profile", "directml-6.4-smoke", "--jobs", "1", "--backend", &backend];
    let stated = |said: &str| {
        let (_, stated) =
            said.split_once("\nNo statement of conformance\n").unwrap_or_else(|| panic!("{said}"));
        stated.lines().nth(1).map(str::to_owned)
    };
    let said = text(&of_profile);
    let because = format!("  because   a backend process ended badly when it was told to end: {LEAKED}");
    assert_eq!((said.starts_with("exit 3\n"), stated(&said)), (true, Some(because)), "{said}");
    let parts = ["1/2", "2/2"].map(|part| {
        let file = Scratch::nothing(&format!("claims-{}.jsonl", part.replace('/', "-")));
        text(&[&of_profile[..], &["--partition", part, "--results", file.path()]].concat());
        // The processes of the second part end well.
        std::fs::write(script.path(), format!("'{}' serve\n", env!("CARGO_BIN_EXE_dmlcts")))
            .expect("it is ours");
        file
    });
    let joined = Scratch::nothing("claims-joined.jsonl");
    let said = text(&["merge", parts[1].path(), parts[0].path(), "--results", joined.path()]);
    let because = format!("in part 1/2, a backend process ended badly when it was told to end: {LEAKED}");
    assert_eq!(
        (said.starts_with("exit 3\n"), stated(&said)),
        (true, Some(format!("  because   {because}"))),
        "{said}"
    );
    assert!(joined.text().contains(&format!(r#""statement":{{"withheld":"{because}""#)), "{said}");
}

#[test]
fn an_interrupted_run_tells_it_and_stays_interrupted() {
    let (_script, backend) = ending("interrupted", LEAKS);
    let results = Scratch::new("interrupted-bad-end.jsonl", "");
    let run = ["run", "--suite", ENDLESS, "--backend", &backend, "--results", results.path(), "--overwrite"];
    let child =
        dmlcts().args(run).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    wait_until(|| results.text().lines().count() >= 2);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(errors(&said).len(), 1, "{said}");
    assert!(said.contains(LEAKED), "{said}");
}

#[test]
fn nothing_is_accepted_of_a_backend_that_breaks_at_its_end() {
    let (_script, backend) = ending("accepted-leaks", LEAKS);
    let known = Findings::new("reference", &[]);
    let run = ["run", "--strategy", "documented", "--jobs", "1", "--backend", &backend];
    let said = text(&[&run[..], &["--accept", "--findings", known.path()]].concat());
    assert!(said.starts_with("exit 3\n") && said.contains(LEAKED), "{said}");
    assert!(said.contains("\nnothing was accepted: "), "{said}");
}

#[test]
fn text_printed_at_the_end_is_reported_once_and_fails_no_case() {
    let (_script, backend) = ending("prints", "echo '12 cases done, and none of them has failed'");
    let said = text(&["run", "--jobs", "2", "--backend", &backend, CASE]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let noise = "a backend process went on after its last answer: `12 cases done, and none of them ";
    assert_eq!(said.matches(noise).count(), 1, "{said}");
}

#[test]
fn the_doctor_looks_at_the_end() {
    let ends = [("well", ""), ("leaks", LEAKS), ("stays", "exec sleep 100")];
    let said = at_once(ends, |(name, end)| {
        let (_script, backend) = ending(&format!("doctor-{name}"), end);
        let said = text(&["doctor", "--backend", &backend]);
        let line = said.lines().find(|line| line.contains(" ends when told to ")).map(str::to_owned);
        (said.lines().next().map(str::to_owned), line.expect("it is a question of its own"))
    });
    let (exit, well) = &said[0];
    assert_eq!(
        (exit.as_deref(), &**well),
        (Some("exit 0"), "ok    ends when told to        with exit code 0, each of its processes")
    );
    let (exit, leaks) = &said[1];
    assert_eq!(exit.as_deref(), Some("exit 1"));
    assert!(leaks.starts_with("FAIL  ends when told to        ") && leaks.ends_with(LEAKED), "{leaks}");
    let (exit, stays) = &said[2];
    assert_eq!(exit.as_deref(), Some("exit 0"));
    assert!(stays.starts_with("note  ends when told to        "), "{stays}");
}
