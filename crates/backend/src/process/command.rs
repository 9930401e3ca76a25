//! The command that starts a backend, as it is written after `exec:`.

use std::{
    ffi::{OsStr, OsString},
    fmt, process,
};

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    text: String,
    program: OsString,
    arguments: Vec<String>,
}

/// A text that is not a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The text has no word.
    #[error("the command is empty")]
    Empty,
    /// A quote is not closed.
    #[error("the quote {0} has no end")]
    Quote(char),
}

impl Command {
    /// Parses a command. Whitespace separates words, and single or double quotes keep them together. No shell
    /// is involved: nothing is expanded, and a backslash is an ordinary character, so that Windows paths need
    /// no escapes.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for letter in text.chars() {
            match quote {
                Some(open) if letter == open => quote = None,
                None if letter == '\'' || letter == '"' => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                None if letter.is_whitespace() => words.extend(word.take()),
                _ => word.get_or_insert_default().push(letter),
            }
        }
        if let Some(open) = quote {
            return Err(CommandError::Quote(open));
        }
        words.extend(word);
        let mut words = words.into_iter();
        let program = words.next().ok_or(CommandError::Empty)?;
        Ok(Self { text: text.trim().to_owned(), program: program.into(), arguments: words.collect() })
    }

    /// A program and its arguments, unparsed. Messages call it `text`.
    pub fn of(program: &OsStr, arguments: &[&str], text: &str) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { text: text.to_owned(), program: program.to_owned(), arguments }
    }

    pub(super) fn to_process(&self) -> process::Command {
        let mut command = process::Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together_and_backslashes_are_letters() {
        let words = |text| {
            let command = Command::parse(text).expect("a command");
            let program = command.program.into_string().expect("it is text");
            [vec![program], command.arguments].concat()
        };
        assert_eq!(words("python3  my.py"), ["python3", "my.py"]);
        assert_eq!(words(r#"'a b'c "it's" '' C:\x\y"#), ["a bc", "it's", "", r"C:\x\y"]);
        assert_eq!(Command::parse(" \t"), Err(CommandError::Empty));
        assert_eq!(Command::parse("python3 'x"), Err(CommandError::Quote('\'')));
    }
}
