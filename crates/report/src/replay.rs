//! Commands to go on with, ready to be pasted: words are quoted for a shell where it would not leave them alone, and
//! options of the run that bear on a single case are repeated, since the case may well pass without them. A command stays on one line, and
//! is as a terminal shows it: letters that a terminal obeys are spelled in digits.

use std::fmt::{self, Write as _};

use dmlcts_model::{Case, FeatureLevel, escaped};

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
    if !word.is_empty() && !word.starts_with(':') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // A shell joins what stands in two pairs of quotes, and the log of a CI service sees no command in it.
    let quoted = format!("'{}'", word.replace('\'', r"'\''").replace("##", "#''#"));
    if escaped(&quoted) == quoted { quoted } else { in_digits(word) }
}

/// A word with letters that a terminal obeys, as `printf` makes it of their bytes. It loses line feeds at its end, as sh has it.
fn in_digits(word: &str) -> String {
    let mut format = String::new();
    for letter in word.chars() {
        match letter {
            // Each means something to `printf`, to the quotes around it, to a shell's history, or to a CI service.
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

    /// What is quoted comes out of a shell as it went in.
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
