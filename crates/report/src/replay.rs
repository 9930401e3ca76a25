//! Commands to go on with, ready to be pasted: words are quoted for a shell where it would not leave them alone, and
//! options of the run that bear on a single case are repeated, since the case may well pass without them.

use std::fmt;

use dmlcts_model::{Case, FeatureLevel};

/// How to look at one case again as a run saw it.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The options of the run that bear on one case, such as `--backend` and its value, a word each and not quoted.
    pub options: Vec<String>,
}

impl Replay {
    /// The command that runs a case again, or the line of one.
    pub fn run(&self, case: &impl fmt::Display) -> String {
        let mut words = vec!["dmlcts".to_owned(), "run".to_owned()];
        words.extend_from_slice(&self.options);
        words.push(case.to_string());
        command(&words)
    }

    /// The command that says what the spec has to say of a case at a level.
    pub fn explain(case: &Case, level: FeatureLevel) -> String {
        let mut words = vec!["dmlcts".to_owned(), "explain".to_owned()];
        if level != FeatureLevel::NEWEST {
            words.extend(["--feature-level".to_owned(), level.to_string()]);
        }
        words.push(case.to_string());
        command(&words)
    }
}

/// Words as one command line for sh. PowerShell reads it alike unless a word holds a single quote itself.
pub fn command(words: &[impl AsRef<str>]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

/// A word in single quotes where a shell would take it apart or replace a part of it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_would_touch_them() {
        assert_eq!(
            command(&["dmlcts", "--suite", "cases/my suite.yaml"]),
            "dmlcts --suite 'cases/my suite.yaml'"
        );
        assert_eq!(quoted("wgpu:llvmpipe"), "wgpu:llvmpipe");
        assert_eq!(quoted("exec:python3 it's.py"), r"'exec:python3 it'\''s.py'");
        assert_eq!(quoted(""), "''");
        for letter in "$`\"\\*?[]{}()<>|&;~#! \n".chars() {
            assert_eq!(quoted(&letter.to_string()), format!("'{letter}'"));
        }
    }

    /// What is quoted comes out of a shell as it went in.
    #[cfg(unix)]
    #[test]
    fn a_shell_gives_back_what_was_quoted() {
        for word in
            ["a b", "it's", "'", "$HOME `id` \\ \"x\"", "PaddingMode == REFLECTION", "*", "", "~", "a\nb"]
        {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh starts");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
