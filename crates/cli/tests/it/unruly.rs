//! Backends that give a run much to tell. Standard error gets a few lines of it before the report.

use crate::common::{dmlcts, faulty};

/// The maximum number of lines on standard error before the report.
const LINES: usize = 3;

/// The lines on standard error that are not an error of the program, which follows the report.
fn before_the_report(said: &str) -> Vec<&str> {
    said.lines().take_while(|line| !line.starts_with("error: ")).collect()
}

#[test]
fn no_backend_fills_standard_error_before_the_report() {
    for way in ["crashes", "dies", "hangs", "notes", "shouts", "garbles", "refuses", "fails"] {
        let backend = faulty(&format!("unruly {way}"));
        // The host gives each process that prints on standard output time to end.
        let cases = if way == "garbles" { "12" } else { "60" };
        let limits = ["--limit", cases, "--case-timeout", "200ms", "--max-hangs", "9", "--explain", "20"];
        let run = [&["run", "--suite", "smoke", "--backend", &backend][..], &limits].concat();
        let output = dmlcts().args(run).output().expect("the program starts");
        let [shown, said] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let lines = before_the_report(&said);
        assert!(!lines.is_empty() || way == "shouts", "{way} shows nothing:\n{said}");
        assert!(lines.len() <= LINES, "{way}:\n{said}");
        assert!(shown.contains("\nheld      "), "{way}:\n{shown}{said}");
        if way == "notes" {
            // The report has what there was no room for.
            let notes = ["\nnote      a backend process notes: case 2", "note      backend processes noted "];
            assert!(notes.iter().all(|note| shown.contains(note)), "{shown}");
            assert!(lines[2].ends_with(" further incidents: the report lists them"), "{said}");
        }
    }
}
