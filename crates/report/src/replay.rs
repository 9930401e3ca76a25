//! Commands to paste into a shell. A command quotes words that a shell would change, and repeats the options
//! of the run that affect a single case. Without these options, the case may pass.
//!
//! A command stays on one line. Letters that a terminal obeys are written as digits, so that the shown
//! command is the one that runs.

use std::fmt::{self, Write as _};

use dmlcts_model::{Case, FeatureLevel, escaped};
use dmlcts_results::Header;

/// Builds the commands that run one case again as the run did.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The options of the run that affect one case, such as `--backend` and its value, one word each,
    /// unquoted.
    pub options: Vec<String>,
}

impl Replay {
    /// Builds the commands of a recorded run.
    pub fn of(header: &Header) -> Self {
        let options = [header.backend_options().words(), header.selection.words_of_a_case()].concat();
        Self { options }
    }

    /// The command that runs a case again, given as a case or as its line.
    pub fn run(&self, case: &impl fmt::Display) -> String {
        self.of_run(&[], std::slice::from_ref(case))
    }

    /// The command that runs cases again in order, in one process.
    pub fn in_order(&self, cases: &[impl fmt::Display]) -> String {
        self.of_run(&["--jobs", "1"], cases)
    }

    /// The command that runs cases with these further words.
    pub(crate) fn of_run(&self, further: &[&str], cases: &[impl fmt::Display]) -> String {
        let mut words = vec!["dmlcts".to_owned(), "run".to_owned()];
        words.extend_from_slice(&self.options);
        words.extend(further.iter().map(|word| (*word).to_owned()));
        words.extend(cases.iter().map(ToString::to_string));
        command(&words)
    }

    /// The command that explains a case by the spec at a feature level.
    pub fn explain(case: &Case, level: FeatureLevel) -> String {
        Self::of_case(&["dmlcts", "explain"], case, level)
    }

    /// The command that prints a program that shows a case without dmlcts.
    pub fn export(case: &Case, level: FeatureLevel) -> String {
        Self::of_case(&["dmlcts", "export", "--as", "c"], case, level)
    }

    fn of_case(words: &[&str], case: &Case, level: FeatureLevel) -> String {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if level != FeatureLevel::NEWEST {
            words.extend(["--feature-level".to_owned(), level.to_string()]);
        }
        words.push(case.to_string());
        command(&words)
    }
}

/// Joins words into one command line for sh. PowerShell reads it in the same way unless a word holds a single
/// quote.
pub fn command(words: &[impl AsRef<str>]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

/// Puts a word into single quotes if a shell would split it or replace a part of it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+%".contains(letter);
    if !word.is_empty() && !word.starts_with(':') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // A shell joins adjacent quoted parts, and the log of a CI service finds no `##` command in them.
    let quoted = format!("'{}'", word.replace('\'', r"'\''").replace("##", "#''#"));
    if escaped(&quoted) == quoted { quoted } else { in_digits(word) }
}

/// A word with letters that a terminal obeys, as a call of `printf` with their bytes in digits. `sh` removes
/// line feeds at its end.
fn in_digits(word: &str) -> String {
    let mut format = String::new();
    for letter in word.chars() {
        match letter {
            // These characters have a meaning for `printf`, for the quotes around it, for a shell's history,
            // or for a CI service.
            '%' => format.push_str("%%"),
            '\\' | '\'' | '!' | '#' => {
                let _ = write!(format, "\\{:03o}", u32::from(letter));
            }
            _ if escaped(letter.encode_utf8(&mut [0; 4])).len() == letter.len_utf8() => format.push(letter),
            _ => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                let _ = write!(format, "\\{byte:03o}");
            }),
        }
    }
    format!("\"$(printf -- '{format}')\"")
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
        assert_eq!(quoted("x ##[error]"), "'x #''#[error]'");
        assert_eq!(quoted("::error"), "'::error'");
        assert_eq!(quoted("a\nb% 'c'\u{202e}"), r#""$(printf -- 'a\012b%% \047c\047\342\200\256')""#);
        for letter in "$`\"\\*?[]{}()<>|&;~#! ".chars() {
            assert_eq!(quoted(&letter.to_string()), format!("'{letter}'"));
        }
    }

    /// A shell turns a quoted word back into the original.
    #[cfg(unix)]
    #[test]
    fn a_shell_gives_back_what_was_quoted() {
        for word in [
            "a b",
            "it's",
            "'",
            "$HOME `id` \\ \"x\"",
            "PaddingMode == REFLECTION",
            "*",
            "",
            "~",
            "a\nb",
            "\x1b]0;\x07 100% \\n 'it' \"$(id)\" `id`\r\n::error ##[error]##vso[x]\u{202e}ü",
            "##[error]",
            "::error",
            "-\n!",
        ] {
            let command = command(&["printf", "%s", word]);
            assert_eq!(escaped(&command), command, "a terminal shows it as it is");
            let script = format!("printf %s {}", quoted(word));
            let word = word.trim_end_matches('\n');
            let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh starts");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
