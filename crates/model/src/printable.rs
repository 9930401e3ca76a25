//! Escapes text from outside this program, such as a backend's messages or file names, for output in a line
//! of a message.
//!
//! Characters that control a terminal, end a line or are invisible become escapes such as `\u{1b}`, so that
//! nothing is lost. The logs of CI services are terminals with additional commands: `::error` at the start of
//! a line on GitHub, and `##[error]` and `##vso[task]` anywhere in a line. One character of each command
//! becomes an escape, too.

use std::{borrow::Cow, fmt};

/// A text on one line, in which no character has a special effect.
pub fn escaped(text: &str) -> Cow<'_, str> {
    printable(text, usize::MAX)
}

/// The start of such a line: at most `most` characters, and no partial escape.
pub fn printable(text: &str, most: usize) -> Cow<'_, str> {
    let mut filter = LineFilter::default();
    // A text never has more characters than bytes.
    if text.len() <= most && text.chars().all(|letter| filter.passes(letter)) {
        return Cow::Borrowed(text);
    }
    let (mut filter, mut shown, mut left) = (LineFilter::default(), String::new(), most);
    for letter in text.chars() {
        let escape = (!filter.passes(letter)).then(|| Escape(letter).to_string());
        let length = escape.as_ref().map_or(1, String::len);
        if length > left {
            break;
        }
        left -= length;
        match escape {
            Some(escape) => shown.push_str(&escape),
            None => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Decides for the characters of a line, in order, which can be shown as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineFilter {
    /// Only spaces precede the next character.
    #[default]
    Start,
    /// A colon precedes it, and only spaces precede the colon.
    Colon,
    /// A `#` precedes it.
    Hash,
    /// Any other text precedes it.
    Text,
}

impl LineFilter {
    /// Whether a character can be shown as it is after those before it. If not, the caller must show it as an
    /// [`Escape`].
    #[inline]
    pub fn passes(&mut self, letter: char) -> bool {
        let (next, passes) = match (letter, *self) {
            (' ', Self::Start) => (Self::Start, true),
            (':', Self::Start) => (Self::Colon, true),
            (':', Self::Colon) | ('#', Self::Hash) => (Self::Text, false),
            ('#', _) => (Self::Hash, true),
            (' '..='~', _) => (Self::Text, true),
            _ => (Self::Text, is_visible(letter)),
        };
        *self = next;
        passes
    }
}

/// Whether a non-ASCII character is visible, according to the standard library's tables. The check puts a
/// letter in front, because the tables escape a combining mark only at the start of a text.
fn is_visible(letter: char) -> bool {
    let mut buffer = [b'a'; 5];
    letter.encode_utf8(&mut buffer[1..]);
    let text = std::str::from_utf8(&buffer[..=letter.len_utf8()]).unwrap_or_default();
    text.escape_debug().eq(text.chars())
}

/// A character as text that identifies it, such as `\n` or `\u{202e}`.
#[derive(Clone, Copy, Debug)]
pub struct Escape(pub char);

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(letter) = *self;
        let mut short = letter.escape_debug();
        if short.len() > 1 {
            write!(f, "{short}")
        } else {
            short.try_for_each(|_| write!(f, "{}", letter.escape_unicode()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_do_more_than_stand_there_are_shown_as_escapes() {
        for (text, expected) in [
            ("plain: a::b # c, C:\\d, `e` \"f\" 'g'", "plain: a::b # c, C:\\d, `e` \"f\" 'g'"),
            ("größer, gro\u{308}ßer, 大きい, 🙂", "größer, gro\u{308}ßer, 大きい, 🙂"),
            ("\u{1b}[31mred\nand\tso\r\u{9b}0m\0\x07\x7f", r"\u{1b}[31mred\nand\tso\r\u{9b}0m\0\u{7}\u{7f}"),
            ("a\u{202e}b\u{2028}c\u{200b}d\u{e0041}", r"a\u{202e}b\u{2028}c\u{200b}d\u{e0041}"),
            ("a\u{fffe}b\u{ffff}c\u{fffd}", "a\\u{fffe}b\\u{ffff}c\u{fffd}"),
            ("::error::no", r":\u{3a}error::no"),
            ("  ::error::no", r"  :\u{3a}error::no"),
            ("a ##[error]no", r"a #\u{23}[error]no"),
            ("##vso[task.x]no ####", r"#\u{23}vso[task.x]no #\u{23}#\u{23}"),
            ("", ""),
        ] {
            assert_eq!(escaped(text), expected);
            assert_eq!(escaped(expected), expected, "what was escaped is left as it is");
        }
        assert!(matches!(escaped("größer"), Cow::Borrowed(_)), "most texts are left as they are");
    }

    #[test]
    fn a_line_is_cut_between_letters_and_escapes() {
        for (text, most, expected) in [
            ("plain", 5, "plain"),
            ("plain", 4, "plai"),
            ("größer", 6, "größer"),
            ("größer", 5, "größe"),
            ("a\x1bb", 7, r"a\u{1b}"),
            ("a\x1bb", 6, "a"),
            ("", 0, ""),
        ] {
            assert_eq!(printable(text, most), expected);
        }
    }
}
