//! `dmlcts init`: what it writes equals the examples of the pages, and the commands that it prints pass. With
//! `DMLCTS_PYTHON`, which `.ci/run` sets, the backend in Python runs. `.ci/kit` tests the package in Rust.

#![cfg(unix)]

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use dmlcts_tests::Scratch;
use serde_yaml::Value;

use crate::common::{job::Job, pages::Page, stdout, text};

/// The only block of a page that contains this text.
fn block(page: &str, what: &str) -> String {
    let blocks = Page::read(page.to_owned()).blocks();
    let mut found = blocks.into_iter().filter(|block| block.text.contains(what));
    let block = found.next().expect("the page has it");
    assert!(found.next().is_none(), "two blocks of {page} have `{what}`");
    block.text
}

/// Runs `init` for a language, and returns its output.
fn init(job: &Job, language: &str, folder: &str) -> String {
    let output = job.run(&format!("dmlcts init {language} '{folder}'"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("the program prints UTF-8");
    for path in said.lines().filter_map(|line| line.strip_prefix("wrote     ")) {
        assert!(job.0.join(path).is_file(), "{path}: {said}");
    }
    said
}

/// Runs the commands that `init` printed, in a shell whose Python finds no module of the repository. The
/// Python of a test has NumPy.
fn run_next(job: &Job, said: &str) {
    let commands = said.lines().filter_map(|line| line.strip_prefix("next      "));
    let commands: Vec<&str> = commands.filter(|command| !command.ends_with("pip install numpy")).collect();
    assert!(!commands.is_empty(), "{said}");
    // The program that takes the place of Python has the name `reference`.
    let is_reference = said.contains("exec:python3") && std::env::var_os("DMLCTS_PYTHON").is_none();
    let name = if is_reference { " --name mine" } else { "" };
    for command in commands {
        let command = match command.strip_prefix("cc ") {
            Some(rest) => format!("{} {rest}", compiler()),
            None => format!("{command} --suite smoke --strategy documented{name}"),
        };
        let mut shell = job.command("sh");
        let output = shell.env_remove("PYTHONPATH").args(["-e", "-c", &command]).output().expect("a shell");
        let ran = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {ran}");
    }
}

fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

#[test]
fn a_backend_in_python_passes_as_it_is_written() {
    let job = Job::new("init-python");
    // A space and a quote have to be quoted twice.
    for folder in ["mine", "it's \"mine\""] {
        let job_folder = folder.replace('\'', r"'\''");
        let said = init(&job, "python", &job_folder);
        run_next(&job, &said);
        let written = fs::read_to_string(job.0.join(folder).join("mine.py")).expect("it is written");
        assert!(written.contains("name, version = \"mine\", \"1.0\"") && written.contains("python3 mine.py"));
        let page = block("guide/src/backend/python.md", "import numpy as np");
        let page = page.replace("\"numpy\", np.__version__", "\"mine\", \"1.0\"");
        assert_eq!(written, page.replace("numpy_backend", "mine"));
    }
}

#[test]
fn a_backend_in_c_passes_as_it_is_written() {
    let compiler = compiler();
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        assert!(
            std::env::var_os("DMLCTS_REQUIRE_CC").is_none(),
            "there is no C compiler `{compiler}`: {error}"
        );
        eprintln!("SKIPPED: there is no C compiler `{compiler}`: {error}");
        return;
    }
    let job = Job::new("init-c");
    let said = init(&job, "c", "a b");
    run_next(&job, &said);
    let written = fs::read_to_string(job.0.join("a b/mine.c")).expect("it is written");
    assert!(written.contains(".name = \"mine\"") && written.contains("-o libmine.so mine.c\n"));
    assert!(!written.contains("example"), "a name of the example is left");
}

/// The workflow without its first line, and the README's with the name of the backend's own folder.
#[test]
fn workflows_are_the_one_of_the_readme() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(name);
        fs::read_to_string(path).expect("it is there")
    };
    let (_, page) = block("README.md", "runs-on: ").split_once('\n').map(own).expect("it has lines");
    let pip = page.lines().find(|line| line.contains("pip install")).expect("it installs the module");
    let page = page.replace(pip, "          venv/bin/pip install numpy");
    let page = page.replace("suite: ci}", "suite: ci, findings: findings/mine}");
    let (_, python) = read("python.yml").split_once('\n').map(own).expect("it has lines");
    assert_eq!(python, page);
    let (head, steps) = page.split_once("      - run: |\n").map(own).expect("it has steps");
    let (_, action) = steps.split_once("      - uses: ").map(own).expect("it uses the action");
    let action = action.replace("exec:venv/bin/python3 mine.py", "dylib:./libmine.so");
    let build = "      - run: cc -std=c11 -O2 -shared -fPIC -o libmine.so mine.c\n";
    let (_, c) = read("c.yml").split_once('\n').map(own).expect("it has lines");
    assert_eq!(c, format!("{head}{build}      - uses: {action}"));
    assert!(block("guide/src/backend/c.md", "libmine.so").contains("cc -std=c11 -O2 -shared -fPIC "));
    assert_eq!(read("rust.yml"), format!("{head}      - run: cargo test\n"));
    for name in ["python.yml", "c.yml", "rust.yml"] {
        serde_yaml::from_str::<Value>(&read(name)).expect("it is YAML");
    }
}

fn own((before, after): (&str, &str)) -> (String, String) {
    (before.to_owned(), after.to_owned())
}

#[test]
fn a_package_in_rust_has_the_lines_of_the_guide() {
    let job = Job::new("init-rust");
    let said = init(&job, "rust", "mine");
    assert!(said.ends_with("\nnext      put the address of dmlcts into mine/Cargo.toml\nnext      cargo test --manifest-path mine/Cargo.toml\n"), "{said}");
    let read = |name: &str| fs::read_to_string(job.0.join("mine").join(name)).expect("it is written");
    let manifest = read("Cargo.toml");
    let dependencies = block("guide/src/backend/rust.md", "[dev-dependencies]");
    assert!(manifest.ends_with(&format!("\n\n{dependencies}")), "{manifest}");
    let docs = include_str!("../../../kit/src/lib.rs").lines().filter_map(|line| line.strip_prefix("//!"));
    let docs: Vec<&str> = docs.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    assert!(docs.join("\n").contains(&dependencies), "{docs:?}");
    let test = block("guide/src/backend/rust.md", "dmlcts_kit::Gate::new");
    assert_eq!(
        read("tests/conformance.rs"),
        test.replace("myops::Gpu", "mine::Mine").replace("myops", "mine")
    );
    // The kit's example has the same lines, and others for its bugs.
    let example = include_str!("../../../kit/example/src/lib.rs").replace("Slices", "Mine");
    let backend = read("src/lib.rs");
    let others: Vec<&str> =
        backend.lines().skip(1).filter(|line| !example.lines().any(|other| other == *line)).collect();
    let checks = "            walks: check_slice(desc, input, output)?,";
    assert_eq!(others, ["        Ok(Self { capabilities })", checks]);
    let metadata = ["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"];
    let parsed = Command::new(env!("CARGO")).args(metadata).arg(job.0.join("mine/Cargo.toml")).output();
    let parsed = parsed.expect("cargo starts");
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    assert!(String::from_utf8_lossy(&parsed.stdout).contains(r#""name":"conformance""#));
}

#[test]
fn nothing_is_written_if_a_file_exists() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_str().expect("a plain name");
    let names = || {
        let entries = fs::read_dir(folder.path()).expect("it lists");
        entries.map(|entry| entry.expect("it lists").file_name()).collect::<Vec<_>>()
    };
    let file = folder.path().join("findings/mine/README.md");
    fs::create_dir_all(file.parent().expect("it has a folder")).expect("the folder takes it");
    fs::write(&file, "mine").expect("the folder takes it");
    let ran = text(&["init", "python", path]);
    assert!(ran.starts_with("exit 2\n") && ran.contains("README.md exists, so nothing is written"), "{ran}");
    assert!(ran.contains("\n  help: move it away"), "{ran}");
    assert_eq!(names(), ["findings"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "mine");
    fs::remove_file(&file).expect("it is there");
    assert!(stdout(&["init", "python", path]).contains("mine.py\n"), "an empty folder is no obstacle");
}

#[test]
fn no_link_is_followed() {
    for (link, is_file) in [("mine.c", true), (".github", false)] {
        let (folder, outside) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let target = if is_file { outside.path().join("new") } else { outside.path().to_owned() };
        symlink(target, folder.path().join(link)).expect("the folder takes it");
        let ran = text(&["init", "c", folder.path().to_str().expect("a plain name")]);
        assert!(ran.starts_with("exit 2\n") && ran.contains("so nothing is written"), "{link}: {ran}");
        for (place, expected) in [(&folder, 1), (&outside, 0)] {
            assert_eq!(fs::read_dir(place.path()).expect("it lists").count(), expected, "{link}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = Scratch::new("init-file", "");
    let ran = text(&["init", "c", &format!("{}/mine", file.path())]);
    assert!(ran.starts_with("exit 2\n") && ran.contains("error: cannot write "), "{ran}");
    assert!(
        ran.contains("mine.c: ") && ran.contains("\n  help: name a folder that you may write into"),
        "{ran}"
    );
    let ran = text(&["init", "c", ""]);
    assert!(ran.starts_with("exit 2\n") && ran.contains("DIR"), "{ran}");
}
