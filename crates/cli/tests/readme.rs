//! Every `$ dmlcts …` of the README, run: what it prints is what the README shows. Times and rates differ from
//! machine to machine, so the figures of the line `speed` are not compared.

use std::{path::Path, process::Command};

/// An example: the arguments, and what must come out.
struct Example {
    command: String,
    expected: String,
}

/// The examples of all blocks marked `console`.
fn examples(readme: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => {
                    examples.push(Example { command: command.to_owned(), expected: String::new() });
                }
                (None, Some(example)) => {
                    example.expected.push_str(line);
                    example.expected.push('\n');
                }
                (None, None) => panic!("output before any command: {line}"),
            },
        }
    }
    examples
}

/// Splits a command as a shell does, as far as the README needs it: spaces, and single quotes around a word.
fn words(command: &str) -> Vec<String> {
    command
        .split('\'')
        .enumerate()
        .flat_map(|(index, part)| {
            let quoted = index % 2 == 1;
            let pieces: Vec<String> = if quoted {
                vec![part.to_owned()]
            } else {
                part.split_whitespace().map(str::to_owned).collect()
            };
            pieces
        })
        .collect()
}

fn without_figures(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("speed ")).map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn every_command_of_the_readme_prints_what_it_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(path).expect("the README is there");
    let examples = examples(&readme);
    assert!(examples.len() >= 4, "the README has lost its examples");
    for Example { command, expected } in examples {
        let words = words(&command);
        let arguments = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["dmlcts", ref arguments @ ..] | ["cargo", "run", "--release", "--", ref arguments @ ..] => {
                arguments.to_vec()
            }
            _ => panic!("the README shows the output of `{command}`, which is not dmlcts"),
        };
        // The examples find the program where the README puts it: on the path.
        let program = Path::new(env!("CARGO_BIN_EXE_dmlcts"));
        let folder = program.parent().expect("a program lies in a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)));
        let path = path.expect("folders have plain names");
        let output =
            Command::new(program).args(arguments).env("PATH", path).output().expect("the program starts");
        let actual = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(without_figures(&actual), without_figures(&expected), "$ {command}");
    }
}
