//! Writing YAML for people: scalars as plain as they can be, and the comments above a file that is written anew. What is written
//! here is read again as it was, whatever it holds.

use std::fmt::Write as _;

/// A scalar of a block, as plain as it can be.
pub fn scalar(text: &str) -> String {
    const WORDS: [&str; 7] = ["true", "false", "null", "yes", "no", "on", "off"];
    let starts_plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = starts_plain
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(is_escaped)
        && !text.ends_with([':', ' '])
        && !WORDS.contains(&text.to_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// A scalar in quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if is_escaped(letter) => {
                // Writing into a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// What YAML takes for the end of a line, for no character at all, or for nothing that a person sees.
fn is_escaped(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The comments above everything else in a file.
pub fn comments(text: &str) -> &str {
    let lines = text.split_inclusive('\n');
    let above = lines.take_while(|line| line.starts_with('#') || line.trim().is_empty());
    &text[..above.map(str::len).sum()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::{Source, yaml::read};

    #[derive(Deserialize, JsonSchema)]
    struct Form {
        plain: String,
        quoted: String,
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in any::<String>()) {
            let file = format!("plain: {}\nquoted: {}\n", scalar(&text), quoted(&text));
            let form = read::<Form>(&Source::new("file", &file)).map_err(|error| TestCaseError::fail(format!("{error}\n{file}")))?;
            prop_assert_eq!((&form.value.plain, &form.value.quoted), (&text, &text));
        }
    }

    #[test]
    fn only_what_stands_above_is_a_comment_above() {
        assert_eq!(comments("# a\n\n# b\nkey: value # c\n# d\n"), "# a\n\n# b\n");
        assert_eq!(comments("key: value"), "");
    }
}
