//! Splits a text into tokens.

use dmlcts_model::FeatureLevel;

use super::{Mistake, Span};
use crate::names::levels;

/// The greatest integer literal. It is a bit smaller than 128 bits, so that the sum of two literals still
/// fits.
pub(super) const GREATEST: i128 = i128::MAX >> 1;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'a> {
    Integer(i128),
    Level(FeatureLevel),
    /// A name, a dotted name or a keyword.
    Word(&'a str),
    Sign(&'static str),
    End,
}

/// Signs. A longer sign precedes its prefixes.
const SIGNS: [&str; 19] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", "=", "!", "%"];

/// Signs of other languages, and their equivalents in this one.
const FOREIGN: [(&str, &str); 6] =
    [("&&", "and"), ("||", "or"), ("**", "^"), ("=", "=="), ("!", "not"), ("%", "mod")];

pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let start = at;
        let rest = &text[start..];
        let token = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            let length = rest
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '_')
                .unwrap_or(rest.len());
            at += length;
            number(&rest[..length], Span::new(start, at))?
        } else if first.is_ascii_alphabetic() || first == '_' {
            at += word_length(rest);
            Token::Word(&text[start..at])
        } else if let Some((sign, instead)) = FOREIGN[..3].iter().find(|(sign, _)| rest.starts_with(sign)) {
            return Err(foreign(sign, instead, start));
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            if let Some((sign, instead)) = FOREIGN.iter().find(|(name, _)| *name == sign) {
                return Err(foreign(sign, instead, start));
            }
            at += sign.len();
            Token::Sign(sign)
        } else {
            let span = Span::new(start, start + first.len_utf8());
            let shown =
                if first.is_ascii_graphic() { first.to_string() } else { first.escape_debug().to_string() };
            let mistake = Mistake::new(span, format!("`{shown}` has no meaning here"));
            return Err(match quoted(rest) {
                Some(word) => mistake.help(format!("write `{word}`, without quotes")),
                None => mistake,
            });
        };
        tokens.push((token, Span::new(start, at)));
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    Ok(tokens)
}

/// The quoted word at the start of a text.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (word, _) = text[1..].split_once(quote)?;
    (!word.is_empty() && word_length(word) == word.len()).then_some(word)
}

fn foreign(sign: &str, instead: &str, start: usize) -> Mistake {
    Mistake::new(
        Span::new(start, start + sign.len()),
        format!("`{sign}` is not an operator of this language"),
    )
    .help(format!("write `{instead}`"))
}

/// The length of the word at the start of a text: letters, digits, underscores, and single dots between them.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_letter =
        |at: usize| bytes.get(at).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut at = 0;
    while is_letter(at) || (bytes.get(at) == Some(&b'.') && is_letter(at + 1)) {
        at += 1;
    }
    at
}

fn number(text: &str, span: Span) -> Result<Token<'static>, Mistake> {
    if text.contains('.') {
        return text.parse().map(Token::Level).map_err(|_| {
            Mistake::new(span, format!("`{text}` is not a feature level"))
                .help(format!("the levels are {}; there are no fractions", levels()))
        });
    }
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(Mistake::new(span, format!("`{text}` is not an integer"))
            .help("write decimal digits, or `0x` and hexadecimal digits"));
    }
    match i128::from_str_radix(digits, radix) {
        Ok(value) if value <= GREATEST => Ok(Token::Integer(value)),
        _ => Err(too_large(span)),
    }
}

pub(super) fn too_large(span: Span) -> Mistake {
    Mistake::new(span, "this integer is too large").help("a literal is less than 2^126")
}
