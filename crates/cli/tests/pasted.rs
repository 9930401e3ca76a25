//! The README's examples of a CI, pasted: they are YAML, and their commands do what they are there for, from the parts of a run to
//! the files that are kept. What they install is installed already, and `python3 mine.py` is this program as a backend. The steps of
//! this repository's action run as `action.rs` shows them to.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Output},
};

use serde_yaml::Value;

const README: &str = include_str!("../../../README.md");
const PROGRAM: &str = env!("CARGO_BIN_EXE_dmlcts");
/// What the commands begin with that install something.
const INSTALLS: [&str; 3] = ["pip install ", "cargo install ", "apt-get update "];
/// How this repository is named as an action, before its version.
const ACTION: &str = "example/dmlcts@";

/// The folder of somebody's job, with the programs that it finds.
struct Job(PathBuf);

impl Job {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dmlcts-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("dmlcts/bin")).expect("a folder of this test's own");
        for (name, command) in
            [("dmlcts", format!("exec '{PROGRAM}' \"$@\"")), ("python3", format!("exec '{PROGRAM}' serve"))]
        {
            let file = folder.join("dmlcts/bin").join(name);
            fs::write(&file, format!("#!/bin/sh\n{command}\n")).expect("the folder takes it");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Self(folder)
    }

    /// Runs a command as the shell of a CI does, and returns what it came to.
    fn run(&self, command: &str) -> Output {
        let path =
            format!("{}:{}", self.0.join("dmlcts/bin").display(), std::env::var("PATH").unwrap_or_default());
        Command::new("sh")
            .args(["-e", "-c", command])
            .current_dir(&self.0)
            .env("PATH", path)
            .env("GITHUB_STEP_SUMMARY", self.0.join("summary.md"))
            .env("GITHUB_OUTPUT", self.0.join("output"))
            .env("RUNNER_TEMP", &self.0)
            .output()
            .expect("a shell")
    }

    /// Runs the commands of this program, which are to find nothing unexpected; the others install something.
    fn run_all(&self, commands: &[String]) {
        for command in commands {
            if INSTALLS.iter().any(|install| command.starts_with(install)) {
                continue;
            }
            // GitLab's job has the program in a folder of its own.
            let command = command.strip_prefix(".dmlcts/bin/").unwrap_or(command);
            assert!(
                command.starts_with("dmlcts ") || command.contains("/.ci/action"),
                "what is `{command}` for?"
            );
            let output = self.run(command);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        }
    }

    #[track_caller]
    fn check_files(&self, names: &[String]) {
        for name in names {
            let length = fs::metadata(self.0.join(name)).map(|file| file.len());
            assert!(length.is_ok_and(|length| length > 0), "{name} is kept, and nothing wrote it");
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The example whose text has this in it.
fn example(what: &str) -> Value {
    let blocks = README.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let mut found = blocks.map(|(block, _)| block).filter(|block| block.contains(what));
    let block = found.next().expect("the README has it");
    assert_eq!(found.next(), None, "two examples have `{what}`");
    serde_yaml::from_str(block).expect("it is YAML")
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    let list = list.as_sequence().expect("a list");
    list.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The steps of a job of GitHub's, with this in the place of `matrix.part`.
fn steps(job: &Value, part: &str) -> Vec<Value> {
    let text = serde_yaml::to_string(&job["steps"]).expect("it came from YAML");
    let text = text.replace("${{ matrix.part }}", part);
    assert!(!text.contains("${{"), "an expression that this test does not know: {text}");
    serde_yaml::from_str::<Value>(&text).expect("still YAML").as_sequence().expect("steps").clone()
}

/// What a step of this repository's action runs, with its inputs in variables as `action.yml` has them there; without a
/// backend it only installs.
fn action(step: &Value) -> Option<String> {
    let inputs =
        step["uses"].as_str().filter(|uses| uses.starts_with(ACTION)).and(step["with"].as_mapping())?;
    let variables = inputs.iter().map(|(name, value)| {
        let (name, value) = (name.as_str().expect("a name"), value.as_str().expect("a text"));
        assert!(!value.contains('\''), "this test does not quote {value}");
        format!("INPUT_{}='{value}' ", name.to_uppercase().replace('-', "_"))
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    Some(format!("{}bash '{folder}/.ci/action' run", variables.collect::<String>()))
}

/// What the steps run, and the files that they keep.
fn commands_and_files(steps: &[Value]) -> (Vec<String>, Vec<String>) {
    let commands =
        steps.iter().filter_map(|step| step["run"].as_str().map(str::to_owned).or_else(|| action(step)));
    let uploads = steps.iter().filter(|step| {
        step["uses"].as_str().is_some_and(|action| action.starts_with("actions/upload-artifact@"))
    });
    let files = uploads.flat_map(|step| step["with"]["path"].as_str().expect("what to keep").lines());
    (commands.collect(), files.map(str::to_owned).collect())
}

#[test]
fn the_example_for_github_runs_in_parts_and_joins_them() {
    let (workflow, job) = (example("runs-on: "), Job::new("github"));
    let (run, verdict) = (&workflow["jobs"]["run"], &workflow["jobs"]["verdict"]);
    assert_eq!(verdict["needs"].as_str(), Some("run"));
    // The parts begin together: without a job before them, each builds what the cache lacks.
    assert_eq!(run["needs"].as_str(), Some("install"));
    let installs = workflow["jobs"]["install"]["steps"].as_sequence().expect("steps");
    assert_eq!(installs.len(), 1);
    assert!(installs[0]["uses"].as_str().is_some_and(|uses| uses.starts_with(ACTION)));
    assert!(installs[0]["with"].is_null(), "with a backend it runs a suite");
    let parts = run["strategy"]["matrix"]["part"].as_sequence().expect("a list");
    for part in parts {
        let part = part.as_u64().expect("a number").to_string();
        let (commands, files) = commands_and_files(&steps(run, &part));
        job.run_all(&commands);
        assert_eq!(files.len(), 1);
        job.check_files(&files);
    }
    let (commands, files) = commands_and_files(&steps(verdict, ""));
    job.run_all(&commands);
    assert_eq!(files, ["results.jsonl", "junit.xml"]);
    job.check_files(&files);
    job.check_files(&["summary.md".to_owned()]);
    let part = job.0.join(format!("part-{}.jsonl", parts.len()));
    fs::remove_file(part).expect("each part has its own");
    let output = job.run(commands.last().expect("the merge"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains(" is missing"), "{said}");
}

#[test]
fn the_example_for_gitlab_runs_on_one_machine() {
    let (pipeline, job) = (example("image: rust"), Job::new("gitlab"));
    let conformance = &pipeline["conformance"];
    job.run_all(&texts(&conformance["script"]));
    // Otherwise a job that fails builds the program at every push.
    assert_eq!(conformance["cache"]["when"].as_str(), Some("always"));
    let kept = &conformance["artifacts"];
    job.check_files(&texts(&kept["paths"]));
    job.check_files(&[kept["reports"]["junit"].as_str().expect("a report").to_owned()]);
}

#[test]
fn examples_install_this_version() {
    let pinned = format!("v{}", env!("CARGO_PKG_VERSION"));
    for start in [ACTION, "--tag ", "key: dmlcts-"] {
        let mut found = README.split(start).skip(1).peekable();
        assert!(found.peek().is_some(), "no example has `{start}`");
        for rest in found {
            let version = rest.split([' ', ',', '`', '\n']).next().unwrap_or_default();
            assert_eq!(version, pinned, "behind `{start}`");
        }
    }
    for line in README.lines().filter(|line| line.contains("cargo install ") && line.contains("--git")) {
        assert!(
            line.contains("--locked") && line.contains("--tag v"),
            "another day it installs another program: {line}"
        );
    }
}
