//! Writes YAML for people: scalars without needless quotes, and the comments at the top of a file that is
//! rewritten. Every text is read back exactly as it was.

use std::fmt::Write as _;

/// A scalar in a block, without quotes if possible.
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

/// Whether YAML treats a character as a line break or as no character, or whether it is invisible.
fn is_escaped(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The comments at the top of a file.
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
