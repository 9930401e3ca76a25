//! `--color` for every kind of coloured output, on pipes, where `auto` means no colours.

use std::process::Output;

use crate::common::dmlcts;

const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
const OUTSIDE: &str = "SLICE FLOAT32 in=4 out=9 Offsets=0 Sizes=9 Strides=1";

/// Each kind of output, and the stream that it goes to.
const KINDS: [(&str, &[&str]); 7] = [
    ("help", &["run", "-h"]),
    ("a mistake in the arguments", &["run", "--no-such-option"]),
    ("a mistake at its place", &["judge", "SLICE FLOAT32 in=x"]),
    ("a verdict on a desc", &["judge", OUTSIDE]),
    ("an explanation", &["explain", OUTSIDE]),
    ("a summary", &["run", CASE]),
    ("an operator", &["spec", "show", "SLICE"]),
];

fn is_coloured(Output { stdout, stderr, .. }: &Output) -> bool {
    [stdout, stderr].into_iter().any(|stream| stream.contains(&b'\x1b'))
}

fn run(words: &[&str], no_color: Option<&str>) -> Output {
    let mut command = dmlcts();
    command.args(words).env_remove("CLICOLOR_FORCE");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    command.output().expect("the program starts")
}

#[test]
fn colours_are_where_they_are_asked_for_and_nowhere_else() {
    for (kind, words) in KINDS {
        for no_color in [None, Some(""), Some("1")] {
            let with = |option: &[&str]| run(&[words, option].concat(), no_color);
            for always in [&["--color", "always"][..], &["--color=always"]] {
                assert!(is_coloured(&with(always)), "{kind}, {always:?}, NO_COLOR={no_color:?}");
            }
            for other in [&[][..], &["--color", "never"], &["--color", "auto"]] {
                assert!(!is_coloured(&with(other)), "{kind}, {other:?}, NO_COLOR={no_color:?}");
            }
        }
        // A global option may precede the command.
        assert!(is_coloured(&run(&[&["--color=always"], words].concat(), None)), "{kind}");
        let plain = run(&[words, &["--color=never"]].concat(), None);
        assert_eq!(plain.status, run(words, None).status, "{kind}");
    }
}

#[test]
fn a_choice_that_there_is_not_is_told() {
    let output = run(&["run", "--color", "blue"], None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("invalid value 'blue' for '--color <WHEN>'") && said.contains("auto, always, never"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
}
