//! The workflows run every step of `.ci/run` and `.ci/nightly`, and each step has the files that it names.

use std::{fs, path::Path, process::Command};

use serde_yaml::Value;

/// The output of a script of `.ci` with `--list`.
fn listed(script: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(root.join(".ci").join(script)).arg("--list").current_dir(root).output();
    String::from_utf8(output.expect("the script starts").stdout).expect("it prints text")
}

/// The values of a key in the matrix of a workflow's job.
fn matrix(workflow: &str, job: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows").join(workflow);
    let text = fs::read_to_string(path).expect("the workflow is there");
    let workflow: Value = serde_yaml::from_str(&text).expect("it is YAML");
    workflow["jobs"][job]["strategy"]["matrix"].clone()
}

#[test]
fn workflows_that_may_write_pin_their_actions() {
    let mut pinned = 0;
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows")).expect("a folder")
    {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a text");
        if !text.contains(": write") {
            continue;
        }
        for line in text.lines().filter(|line| line.contains("uses: ")) {
            let commit = line.split('@').nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit, "{}: {line}", path.display());
            pinned += 1;
        }
    }
    assert!(pinned > 0);
}

#[cfg(unix)]
#[test]
fn the_workflow_of_changes_runs_every_step() {
    let list = listed("run");
    let mut steps: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let jobs = matrix("ci.yml", "linux");
    let jobs = jobs["include"].as_sequence().expect("a list");
    let mut run: Vec<&str> =
        jobs.iter().flat_map(|job| job["steps"].as_str().expect("names").split(' ')).collect();
    steps.sort_unstable();
    run.sort_unstable();
    assert!(steps.len() > 10);
    assert_eq!(run, steps);
}

#[cfg(unix)]
#[test]
fn the_nightly_workflow_runs_every_step() {
    let steps = matrix("nightly.yml", "nightly");
    let steps = steps["step"].as_sequence().expect("a list");
    let run: Vec<&str> = steps.iter().map(|step| step.as_str().expect("a name")).collect();
    assert_eq!(run, listed("nightly").split_whitespace().collect::<Vec<_>>());
}

/// A path of a step that is gone would leave the step out for ever.
#[cfg(unix)]
#[test]
fn the_files_of_each_step_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = listed("run");
    let paths = list.lines().flat_map(|line| line.split_whitespace().skip(1));
    let missing: Vec<&str> = paths.filter(|path| !path.contains('*') && !root.join(path).exists()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
