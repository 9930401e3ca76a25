//! `-h` fits a terminal of 80 columns. `reference.rs` compares `--help` with the guide.

use crate::common::{COMMANDS, commands, dmlcts};

/// `-h` of a command on a terminal of 80 columns.
fn short(command: &str) -> String {
    let words = command.split_whitespace().chain(["-h"]);
    let output = dmlcts().args(words).env("COLUMNS", "80").output().expect("the program starts");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("the program prints UTF-8")
}

#[test]
fn help_fits_eighty_columns() {
    for command in COMMANDS {
        let help = short(command);
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{command}: {help}");
        // Each option and command has one line, except the option that lists the backends.
        let more: Vec<&str> = help
            .lines()
            .filter(|line| line.starts_with(&" ".repeat(20)) && !line.trim().starts_with("as a line"))
            .collect();
        assert!(more.len() <= 1, "{command}: {more:?}");
    }
}

#[test]
fn options_stand_under_headings() {
    let headings = |help: &str| {
        let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
        help.lines().filter(is_heading).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_all = "Options of every command:";
    assert_eq!(
        headings(&short("run")),
        [
            "Arguments:",
            "Cases:",
            "Limits:",
            "Backend:",
            "Verdicts:",
            "Output and reports:",
            of_all,
            "Examples:"
        ]
    );
    assert_eq!(headings(&short("list")), ["Cases:", "Limits:", of_all, "Examples:"]);
    assert_eq!(headings(&short("count")), ["Cases:", "Limits:", of_all]);
    assert_eq!(headings(&short("merge")), ["Arguments:", "Output and reports:", of_all, "Examples:"]);
    insta::assert_snapshot!(short("run"));
}

/// An example of another command would not run.
#[test]
fn examples_are_of_the_command_that_shows_them() {
    for command in &COMMANDS[1..] {
        let output =
            dmlcts().args(command.split_whitespace().chain(["--help"])).output().expect("the program starts");
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, examples) = help.split_once("\nExample").unwrap_or_default();
        for example in examples.lines().skip(1).take_while(|line| line.starts_with("  ")) {
            assert!(
                example.contains(&format!("dmlcts {command} ")) || example.trim() == "dmlcts run",
                "{command}: {example}"
            );
        }
    }
}

/// The tests of help, and the reference in the guide, have every command.
#[test]
fn every_command_is_tried() {
    let of_all = commands(&[]);
    let listed =
        of_all.iter().cloned().chain(["findings", "snapshot", "spec"].into_iter().flat_map(|word| {
            let further = commands(&[word]).into_iter();
            further.map(move |name| format!("{word} {name}"))
        }));
    let missing: Vec<String> = listed.filter(|name| !COMMANDS.contains(&name.as_str())).collect();
    assert!(of_all.len() > 20 && missing.is_empty(), "{missing:?}");
}
