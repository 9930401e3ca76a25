//! The command that starts a backend, as people type it behind `exec:`.

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

/// A text that is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is no word in it.
    #[error("the command is empty")]
    Empty,
    /// A quote without an end.
    #[error("the quote {0} has no end")]
    Quote(char),
}

impl Command {
    /// Reads a command. Blanks separate words; quotes, single or double, hold them together. No shell is asked: nothing
    /// is expanded, and a backslash is a letter, so that paths of Windows need no care.
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

    /// A program and its arguments as they are, called `text` in messages.
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
