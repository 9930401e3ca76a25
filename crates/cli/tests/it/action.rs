//! Runs the steps of `action.yml` as GitHub's runner does: with the inputs in variables, and with a release
//! in a local folder.

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_yaml::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PROGRAM: &str = env!("CARGO_BIN_EXE_dmlcts");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A machine of GitHub's runner: a folder with the fetched action, a release beside it, and the files that
/// steps leave.
struct Runner {
    folder: PathBuf,
    /// The value of `RUNNER_TEMP`, relative to the folder.
    temp: PathBuf,
}

impl Runner {
    fn new(name: &str) -> Self {
        Self::with_temp(name, |folder| folder.join("temp dir"))
    }

    fn with_temp(name: &str, temp: impl FnOnce(&Path) -> PathBuf) -> Self {
        let folder = std::env::temp_dir().join(format!("dmlcts-{}-action-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let temp = temp(&folder);
        let runner = Self { folder, temp };
        fs::create_dir_all(runner.at("").join(&runner.temp)).expect("a folder of this test's own");
        fs::create_dir_all(runner.at("action/.ci")).expect("a folder of this test's own");
        for file in ["action.yml", ".ci/action", "Cargo.lock"] {
            fs::copy(Path::new(ROOT).join(file), runner.at("action").join(file)).expect("a copy");
        }
        for folder in ["cases", "crates", "spec"] {
            fs::create_dir(runner.at("action").join(folder)).expect("a folder of this test's own");
        }
        // The files that the cache's key depends on.
        fs::write(runner.at("action/spec/slice.yaml"), "operator: SLICE\n").expect("it is ours");
        let manifest = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).expect("the manifest");
        let manifest: String = manifest
            .lines()
            .map(|line| match line.strip_prefix("repository = ") {
                Some(_) => format!("repository = \"file://{}\"\n", runner.folder.display()),
                None => format!("{line}\n"),
            })
            .collect();
        fs::write(runner.at("action/Cargo.toml"), manifest).expect("it is ours");
        // In place of GitHub's program: every archive has an attestation until the file `unsigned` is there.
        fs::create_dir(runner.at("tools")).expect("a folder of this test's own");
        runner.shell(
            "printf '#!/bin/sh\\necho \"$@\" >>verified\\n[ ! -e unsigned ]\\n' >tools/gh; chmod +x tools/gh",
        );
        runner
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Packs this program into a release of this version, under the names that `cargo binstall` looks for.
    fn release(&self, version: &str) -> PathBuf {
        let manifest = include_str!("../../Cargo.toml");
        let fill = |key: &str| {
            let line = manifest
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{key} = ")))
                .expect("the key is there");
            let filled = line.trim_matches('"').replace("{ version }", version).replace("{ target }", TARGET);
            filled
                .replace("{ repo }", &self.folder.display().to_string())
                .replace("{ bin }{ binary-ext }", "dmlcts")
        };
        let (archive, program) = (PathBuf::from(fill("pkg-url")), self.at("packed").join(fill("bin-dir")));
        let folder = program.parent().expect("archives have a folder");
        fs::create_dir_all(folder).expect("a folder of this test's own");
        fs::create_dir_all(archive.parent().expect("releases have a folder"))
            .expect("a folder of this test's own");
        std::os::unix::fs::symlink(PROGRAM, &program).expect("a link");
        fs::write(folder.join("README.md"), "What else an archive has.\n").expect("it is ours");
        self.shell(&format!(
            "tar -C packed -czf '{0}' \"$(basename packed/*)\"; sha256sum '{0}' >'{0}.sha256'",
            archive.display()
        ));
        archive
    }

    fn shell(&self, line: &str) {
        let output =
            Command::new("bash").args(["-euc", line]).current_dir(&self.folder).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs the step of `action.yml` that calls `.ci/action` with this word, with these inputs.
    fn step(&self, word: &str, inputs: &[(&str, &str)]) -> Output {
        let action: Value =
            serde_yaml::from_str(&fs::read_to_string(self.at("action/action.yml")).expect("a text"))
                .expect("YAML");
        let steps = action["runs"]["steps"].as_sequence().expect("steps");
        let lines = steps.iter().filter_map(|step| Some((step, step["run"].as_str()?)));
        let mut found = lines.filter(|(_, line)| line.ends_with(&format!("/.ci/action\" {word}")));
        let (step, line) = found.next().expect("a step has it");
        assert_eq!(step["shell"].as_str(), Some("bash"));
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in action["inputs"].as_mapping().expect("inputs") {
            let name = name.as_str().expect("a name");
            values.insert(name.to_owned(), input["default"].as_str().expect("each has a default").to_owned());
        }
        for (name, value) in inputs {
            assert!(
                values.insert((*name).to_owned(), (*value).to_owned()).is_some(),
                "there is no input {name}"
            );
        }
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", line]).current_dir(&self.folder);
        for (variable, value) in step["env"].as_mapping().expect("variables") {
            let value = value.as_str().expect("a text");
            if value == "${{ github.token }}" {
                command.env(variable.as_str().expect("a name"), "a token");
                continue;
            }
            let name = value
                .strip_prefix("${{ inputs.")
                .and_then(|rest| rest.strip_suffix(" }}"))
                .expect("an input");
            command.env(variable.as_str().expect("a name"), &values[name]);
        }
        command
            .env("GITHUB_ACTION_PATH", self.at("action"))
            .env("GITHUB_OUTPUT", self.at("output"))
            .env("GITHUB_PATH", self.at("path"))
            .env("GITHUB_STEP_SUMMARY", self.at("summary.md"))
            .env("RUNNER_TEMP", &self.temp)
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            // The steps need no Cargo and no other tools, which could hide that the archive lacks a file.
            .env("CARGO_HOME", self.at("no-cargo"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("tools").display()))
            .output()
            .expect("a shell")
    }

    #[track_caller]
    fn passes(&self, word: &str, inputs: &[(&str, &str)]) -> String {
        let output = self.step(word, inputs);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    }

    #[track_caller]
    fn fails(&self, code: i32, word: &str, inputs: &[(&str, &str)]) -> String {
        let output = self.step(word, inputs);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default()
    }

    /// The last output of a step with this name.
    fn output(&self, name: &str) -> Option<String> {
        let start = format!("{name}=");
        self.read("output").lines().rev().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_archive_of_the_version_is_downloaded_and_run() {
    let runner = Runner::new("release");
    runner.release(VERSION);
    let inputs =
        [("backend", "reference"), ("suite", "smoke"), ("args", "--strategy documented --where 'rank == 4'")];
    runner.passes("find", &inputs);
    let said = runner.passes("install", &inputs);
    assert!(said.contains(VERSION) && !said.contains("::"), "{said}");
    assert_eq!(runner.read("path").trim_end(), runner.at("temp dir/dmlcts/bin").display().to_string());
    let said = runner.passes("run", &inputs);
    assert!(said.contains("suite smoke") && said.contains("rank == 4"), "{said}");
    assert!(runner.read("summary.md").contains("dmlcts"));
    assert_eq!(runner.output("exit-code").as_deref(), Some("0"));
    let junit = runner.output("junit").expect("there is a file");
    assert!(fs::read_to_string(junit).expect("it is there").contains("<testsuites"));
}

#[test]
fn an_unexpected_verdict_fails_the_step_and_leaves_the_reports() {
    let runner = Runner::new("verdict");
    runner.release(VERSION);
    let case = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";
    let backend = crate::common::broken("flips", case);
    let inputs = [("backend", backend.as_str()), ("args", "--strategy documented --explain 0")];
    runner.passes("install", &inputs);
    runner.fails(1, "run", &inputs);
    assert_eq!(runner.output("exit-code").as_deref(), Some("1"));
    let junit = runner.output("junit").expect("there is a file");
    assert!(fs::read_to_string(junit).expect("it is there").contains("<failure"));
}

#[test]
fn inputs_are_arguments_and_never_commands() {
    let runner = Runner::new("inputs");
    runner.release(VERSION);
    runner.passes("install", &[]);
    for (input, value) in [
        ("args", "$(touch stolen) `touch stolen` ; touch stolen"),
        ("suite", "$(touch stolen)"),
        ("profile", "x; touch stolen"),
        ("findings", "`touch stolen`\nx && touch stolen"),
    ] {
        runner.fails(2, "run", &[("backend", "reference"), (input, value)]);
    }
    let said = runner.fails(2, "run", &[("backend", "reference"), ("args", "--where 'rank == 4")]);
    assert!(
        said.contains("::error title=dmlcts::the input args has a quotation mark without its partner"),
        "{said}"
    );
    let said = runner.fails(2, "install", &[("version", "../../$(touch stolen)")]);
    assert!(said.contains("write one such as"), "{said}");
    assert!(!runner.at("stolen").exists());
}

#[test]
fn an_input_begins_no_workflow_command() {
    let runner = Runner::new("commands");
    runner.release(VERSION);
    runner.passes("install", &[]);
    for (word, input) in [("install", "version"), ("run", "args")] {
        let said = runner.fails(2, word, &[(input, "'100%\r\n::error::y\n::set-env name=x::y")]);
        let commands: Vec<&str> = said.split(['\r', '\n']).filter(|line| line.starts_with("::")).collect();
        let [command] = commands.as_slice() else { panic!("{said}") };
        assert!(command.starts_with("::error title=dmlcts::the input "), "{said}");
        assert!(command.contains("'100%25%0D%0A::error::y%0A::set-env name=x::y"), "{said}");
    }
}

#[test]
fn an_archive_that_is_not_what_its_checksum_says_is_not_run() {
    let runner = Runner::new("checksum");
    let archive = runner.release(VERSION);
    fs::write(format!("{}.sha256", archive.display()), format!("{}  other\n", "0".repeat(64)))
        .expect("it is ours");
    let said = runner.fails(3, "install", &[]);
    assert!(said.contains("is not the file that its checksum is of"), "{said}");
    assert!(!runner.at("temp dir/dmlcts/bin").exists());
}

#[test]
fn an_archive_without_an_attestation_is_not_run() {
    let runner = Runner::new("attestation");
    runner.release(VERSION);
    fs::write(runner.at("unsigned"), "").expect("it is ours");
    let said = runner.fails(3, "install", &[]);
    assert!(said.contains(" has no attestation of "), "{said}");
    assert!(!runner.at("temp dir/dmlcts/bin").exists());
    fs::remove_file(runner.at("unsigned")).expect("it is ours");
    runner.passes("install", &[]);
    let asked = runner.read("verified");
    assert_eq!(asked.matches("attestation verify ").count(), 2, "{asked}");
}

#[test]
fn a_folder_with_a_colon_is_no_other_machine() {
    // As Windows has it: Git Bash's tar, which is GNU's as here, asks the machine `D` for such an archive.
    let runner = Runner::with_temp("colon", |_| PathBuf::from(r"D:\a\_temp"));
    runner.release(VERSION);
    let said = runner.passes("install", &[]);
    assert!(said.contains(VERSION) && !said.contains("::"), "{said}");
    assert!(runner.at(r"D:\a\_temp/dmlcts/bin/dmlcts").exists());
}

#[test]
fn an_archive_that_cannot_be_unpacked_is_an_error_and_no_reason_to_build() {
    let runner = Runner::new("unpack");
    let archive = runner.release(VERSION);
    let damage = [
        ("is no archive", "echo other >\"$archive\""),
        ("has no program", "mkdir -p empty/$name && tar -C empty -czf \"$archive\" $name"),
    ];
    for (what, command) in damage {
        runner.shell(&format!(
            "archive='{}' name=dmlcts-v{VERSION}-{TARGET}; {command}; sha256sum \"$archive\" >\"$archive.sha256\"",
            archive.display()
        ));
        let said = runner.fails(3, "install", &[]);
        assert!(
            said.contains("::error title=dmlcts::") && said.contains("cannot be unpacked"),
            "it {what}: {said}"
        );
        assert!(!said.contains("no archive of version"), "it {what}: {said}");
    }
}

#[test]
fn a_cached_program_is_neither_downloaded_nor_built() {
    // There is no release and no Cargo.
    let runner = Runner::new("hit");
    let bin = runner.at("temp dir/dmlcts/bin");
    fs::create_dir_all(&bin).expect("a folder of this test's own");
    std::os::unix::fs::symlink(PROGRAM, bin.join("dmlcts")).expect("a link");
    let said = runner.passes("install", &[]);
    assert!(said.contains(VERSION) && !said.contains("::"), "{said}");
    // A release of other sources stays where it is.
    runner.release("9.9.9");
    fs::remove_file(runner.at("path")).expect("the step wrote it");
    runner.passes("install", &[("version", "9.9.9")]);
    assert!(!runner.at("temp dir/dmlcts").join(format!("dmlcts-v9.9.9-{TARGET}.tar.gz")).exists());
    assert_eq!(runner.read("path").trim_end(), bin.display().to_string());
}

#[test]
fn the_program_is_saved_before_a_run_can_fail() {
    let action: Value = serde_yaml::from_str(include_str!("../../../../action.yml")).expect("YAML");
    let steps = action["runs"]["steps"].as_sequence().expect("steps");
    let at = |field: &str, what: &str| {
        let mut places =
            (0..steps.len()).filter(|&at| steps[at][field].as_str().is_some_and(|text| text.contains(what)));
        let place = places.next().unwrap_or_else(|| panic!("no step has {what}"));
        assert_eq!(places.next(), None, "two steps have {what}");
        place
    };
    let restore = at("uses", "actions/cache/restore@");
    let (install, save, run) = (at("run", " install"), at("uses", "actions/cache/save@"), at("run", " run"));
    assert!(restore < install && save == install + 1 && save < run);
    assert_eq!(steps[save]["with"], steps[restore]["with"], "what is saved is what is restored");
    assert_eq!(steps[restore]["id"].as_str(), Some("cache"));
    assert_eq!(steps[save]["if"].as_str(), Some("steps.cache.outputs.cache-hit != 'true'"));
}

#[test]
fn without_an_archive_the_sources_are_built_and_no_others() {
    let runner = Runner::new("build");
    runner.release("9.9.9");
    // Cargo is not on this path.
    let said = runner.fails(3, "install", &[]);
    assert!(said.contains("no Rust to build it: install Rust"), "{said}");
    let said = runner.fails(3, "install", &[("version", "8.8.8")]);
    assert!(said.contains("use the action's tag v8.8.8"), "{said}");
    // An archive of another version than the action's is taken.
    runner.passes("install", &[("version", "v9.9.9")]);
}

#[test]
fn a_program_is_cached_by_its_sources() {
    let runner = Runner::new("cache");
    let key = |inputs: &[(&str, &str)]| {
        runner.passes("find", inputs);
        runner.output("key").expect("there is a key")
    };
    let first = key(&[("backend", "exec:mine")]);
    assert_eq!(key(&[("backend", "reference")]), first, "both are built with few features");
    assert_eq!(key(&[]), first, "a job that only installs fills the cache for one that runs");
    assert_ne!(key(&[("backend", "wgpu:nvidia")]), first);
    assert_ne!(key(&[("backend", "exec:mine"), ("version", "9.9.9")]), first);
    fs::write(runner.at("action/spec/slice.yaml"), "operator: SLICE1\n").expect("it is ours");
    assert_ne!(key(&[("backend", "exec:mine")]), first);
}
