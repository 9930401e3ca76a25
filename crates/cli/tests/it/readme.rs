//! Runs the commands of the README and of every chapter of the guide. The commands of a `console` block print
//! exactly the block's text; the commands of an `sh` block end with 0. `NOT_RUN` lists the commands that do
//! not run here, with the reason.
//!
//! The blocks of a page run in order, in a folder of their own. A block that begins with `# NAME` is the file
//! of this name. With `DMLCTS_PYTHON=python3`, the backends in Python run as well; otherwise this program
//! takes their place.

use std::{collections::BTreeSet, fs, thread};

use crate::common::job::Job;
use crate::common::pages::{Block, Page};

/// The beginnings of the commands that do not run here, and the reasons.
const NOT_RUN: [(&str, &str); 18] = [
    ("cargo test --workspace", "runs this test"),
    ("cargo install ", "builds the program that this test has, for minutes"),
    ("dmlcts accept findings/mine", "needs the run before it; tests/known runs such folders"),
    ("cargo binstall ", "downloads a release, which .ci/archive builds and tries"),
    ("gh attestation ", "asks GitHub about a release"),
    ("cargo doc ", ".ci/run builds the documentation"),
    ("cargo bench ", "takes minutes on a quiet machine"),
    ("apt-get install ", "needs root; .ci/run installs the same"),
    ("python3 -m venv ", "needs a network; .ci/run makes such an environment"),
    ("pip install ", "needs a network; .ci/run installs the same packages"),
    ("dmlcts doctor --backend 'exec:node ", "needs Node; tests/javascript.rs runs this backend"),
    ("dmlcts run --suite ci --backend 'exec:node ", "needs Node; tests/javascript.rs runs this backend"),
    ("dmlcts fuzz --findings findings/reference --time 8h", "takes a night"),
    ("dmlcts fuzz --backend 'exec:python3 mine.py'", "takes a night"),
    ("dmlcts replay findings/mine", "needs findings; tests/replay runs such folders"),
    ("dmlcts run --suite ci --backend wgpu", "needs an adapter; .ci/run runs the suites on one"),
    (
        "dmlcts run --suite ci --backend 'exec:python3 mine.py' --findings findings/mine",
        "needs a backend with just these failures; tests/known runs such folders",
    ),
    (
        "dmlcts run --suite ci --backend 'exec:python3 crates/backend/python/onnxruntime_backend.py'",
        "needs ONNX Runtime; .ci/run runs it",
    ),
];

/// Languages of blocks that other tests check, or none.
const NO_COMMANDS: [(&str, &str); 7] = [
    ("powershell", "Windows only: .github/workflows/directml.yml runs these commands"),
    (
        "python",
        "files, which commands beside them run; tests/python.rs compares the longest one with its file",
    ),
    ("javascript", "a file: tests/javascript.rs compares it with the one that it runs"),
    ("rust", "the end of a program, whose calls a documentation test of dmlcts-backend compiles"),
    ("toml", "manifests, of which .ci/insta gives one to cargo"),
    ("yaml", "files and excerpts, which are YAML; tests/pasted.rs runs those of CI services"),
    (
        "text",
        "drawings, and output that no command here can print; the failures are held to a snapshot below",
    ),
];

/// An example: the command and its expected output.
struct Example {
    command: String,
    expected: String,
}

fn examples(block: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => {
                examples.push(Example { command: command.to_owned(), expected: String::new() });
            }
            (None, Some(example)) => {
                example.expected.push_str(line);
                example.expected.push('\n');
            }
            (None, None) => panic!("output before any command: {line}"),
        }
    }
    examples
}

/// The commands of an `sh` block, without comments; a line that ends with a backslash continues on the next.
fn commands(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    let commands = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    commands.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Splits a command like a shell, but only at spaces and with single quotes around a word, which is enough
/// for the pages.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| {
            let is_quoted = index % 2 == 1;
            if is_quoted {
                vec![part.to_owned()]
            } else {
                part.split_whitespace().map(str::to_owned).collect()
            }
        })
        .collect()
}

/// Whether a text equals the expected one, in which a line `...` stands for any lines. Rates and progress
/// differ from machine to machine and are not compared.
fn matches(actual: &str, expected: &str) -> bool {
    fn lines_match(actual: &[&str], expected: &[&str]) -> bool {
        match expected.split_first() {
            None => actual.is_empty(),
            Some((&"...", rest)) => (0..=actual.len()).any(|start| lines_match(&actual[start..], rest)),
            Some((line, rest)) => {
                actual.split_first().is_some_and(|(first, others)| first == line && lines_match(others, rest))
            }
        }
    }
    fn lines(text: &str) -> Vec<&str> {
        let kept = text.lines().filter(|line| !line.starts_with("speed ") && !line.starts_with("at case "));
        kept.map(str::trim_end).collect()
    }
    lines_match(&lines(actual), &lines(expected))
}

fn check_example(job: &Job, page: &str, Example { command, expected }: &Example) {
    let words = words(command);
    let arguments = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["dmlcts", ref arguments @ ..] | ["cargo", "run", "--release", "--", ref arguments @ ..] => {
            arguments.to_vec()
        }
        _ => panic!("{page} shows the output of `{command}`, which is not dmlcts"),
    };
    let output =
        job.command(env!("CARGO_BIN_EXE_dmlcts")).args(arguments).output().expect("the program starts");
    let actual = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(matches(&actual, expected), "{page}: $ {command}\n{actual}");
}

fn run_commands(job: &Job, page: &str, block: &str, left_out: &mut BTreeSet<&'static str>) {
    for command in commands(block) {
        if let Some((start, _)) = NOT_RUN.iter().find(|(start, _)| command.starts_with(start)) {
            left_out.insert(start);
        } else if cfg!(unix) {
            let output = job.run(&command);
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {command}: {}\n{said}", output.status);
        }
    }
}

/// Runs a page, and returns the entries of `NOT_RUN` that it needed.
fn run(page: &Page) -> BTreeSet<&'static str> {
    let job = Job::new(&page.name.replace('/', "-"));
    // Pages use this name for a reader's own backend. The chapter on Python creates the file.
    let numpy = include_str!("../../../backend/python/numpy_backend.py");
    fs::write(job.0.join("mine.py"), numpy.replace("\"numpy\", np.__version__", "\"mine\", \"1.0\""))
        .expect("the folder takes it");
    let mut left_out = BTreeSet::new();
    for Block { language, text } in page.blocks() {
        let first = text.lines().next().unwrap_or_default();
        if let Some(name) =
            first.strip_prefix("# ").filter(|name| !name.contains([' ', '/']) && name.contains('.'))
        {
            fs::write(job.0.join(name), &text).expect("the folder takes it");
        }
        match language.as_str() {
            "console" => examples(&text).iter().for_each(|example| check_example(&job, &page.name, example)),
            "sh" => run_commands(&job, &page.name, &text, &mut left_out),
            "yaml" => drop(serde_yaml::from_str::<serde_yaml::Value>(&text).expect(&page.name)),
            other => assert!(
                NO_COMMANDS.iter().any(|(language, _)| *language == other),
                "{}: how is a block of `{other}` held to the truth? Say so in NO_COMMANDS",
                page.name
            ),
        }
    }
    left_out
}

#[test]
fn every_command_of_every_page_runs() {
    let pages = crate::common::pages::for_users();
    let left_out: BTreeSet<&str> = thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        runs.into_iter()
            .flat_map(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    for (start, why) in NOT_RUN {
        assert!(left_out.contains(start), "no page has `{start}` (it {why}): take it off the list");
    }
}

/// The failure on the pages equals the one that the crate `report` writes.
#[test]
fn the_failure_of_the_pages_is_a_real_one() {
    let snapshot = include_str!(
        "../../../report/tests/it/snapshots/it__failures__wrong_elements_are_marked_and_name_their_origin.snap"
    );
    let mut found = 0;
    for page in crate::common::pages::for_users() {
        for block in page.blocks().iter().filter(|block| block.text.starts_with("FAIL ")) {
            assert!(snapshot.contains(block.text.trim_end()), "{}: {}", page.name, block.text);
            found += 1;
        }
    }
    assert_eq!(found, 1, "the chapter on reports shows it");
}

#[test]
fn dots_stand_for_any_lines() {
    assert!(matches("a\nspeed 7\nb\nc\n", "a\nb\nc\nspeed 8\n"));
    assert!(matches("a\nb\nc\nd\n", "...\nb\n...\n"));
    assert!(!matches("a\nb\nc\n", "...\nb\n") && !matches("a\nb\n", "a\n") && !matches("a\n", "a\nb\n"));
}

#[test]
fn comments_are_no_part_of_a_command() {
    assert_eq!(commands("# how\na b   # c\nd \\\n    e\n\nf 'g h'\n"), ["a b", "d e", "f 'g h'"]);
}
