//! What somebody else wrote, such as the words of a backend, made fit for a message.

use std::borrow::Cow;

/// The first letters of a text, as many as this at most, on one line. In place of a letter that ends a line, that a terminal
/// obeys, that changes the order in which others are shown, or that is none (U+FFFE and U+FFFF, which XML cannot hold), there is a blank.
pub fn printable(text: &str, most: usize) -> Cow<'_, str> {
    // There are never more letters than bytes.
    if text.len() <= most && text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    text.chars().take(most).map(|letter| if is_shown(letter) { letter } else { ' ' }).collect()
}

fn is_shown(letter: char) -> bool {
    let is_separator = matches!(letter, '\u{2028}' | '\u{2029}');
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_none = matches!(letter, '\u{fffe}' | '\u{ffff}');
    !(letter.is_control() || is_separator || turns || is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_terminal_would_not_just_show_is_replaced() {
        for (text, most, expected) in [
            ("plain", 5, "plain"),
            ("plain", 4, "plai"),
            ("größer", 6, "größer"),
            ("größer", 5, "größe"),
            ("\u{1b}[31mred\nand\tso\r\u{9b}0m", 40, " [31mred and so  0m"),
            ("a\u{202e}b\u{2028}c", 9, "a b c"),
            ("a\u{fffe}b\u{ffff}c\u{fffd}", 9, "a b c\u{fffd}"),
            ("", 0, ""),
        ] {
            assert_eq!(printable(text, most), expected);
        }
        assert!(matches!(printable("größer", 9), Cow::Borrowed(_)), "most texts are left as they are");
    }
}
