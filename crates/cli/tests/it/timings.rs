//! `--timings`: where the time of a run goes. The times themselves are no test's matter.

use crate::common::{stdout, text};

/// The names of the times in the line `timings`, if there is one.
fn names(options: &[&str]) -> Option<Vec<String>> {
    let ran = stdout(&[&["run", "--limit", "50", "--jobs", "1"], options].concat());
    let line = ran.lines().find_map(|line| line.strip_prefix("timings "))?;
    let times = line.trim().strip_suffix(", summed over 1 job").expect("the number of jobs");
    Some(times.split(", ").map(|time| time.split(' ').next().unwrap_or_default().to_owned()).collect())
}

#[test]
fn a_process_has_more_times_than_a_backend_on_threads() {
    let served = format!("exec:'{}' serve --backend reference", env!("CARGO_BIN_EXE_dmlcts"));
    let all = ["start", "create", "run", "transfer", "host"].map(str::to_owned);
    assert_eq!(names(&["--timings", "--backend", &served]).as_deref(), Some(&all[..]));
    let few = ["start", "answers", "host"].map(str::to_owned);
    assert_eq!(names(&["--timings"]).as_deref(), Some(&few[..]));
}

#[test]
fn a_run_with_findings_has_the_time_of_their_explanation() {
    let run =
        |more: &[&str]| text(&[&["run", "--limit", "50", "--timings", "--explain", "0"], more].concat());
    assert!(
        run(&["--backend", "mutant:wrong-stride"])
            .contains("          explaining the failures, after that: ")
    );
    assert!(!run(&[]).contains("explaining"));
}

#[test]
fn without_the_option_there_are_none() {
    assert_eq!(names(&[]), None);
}
