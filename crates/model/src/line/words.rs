//! The words of a case line and their values. Each keeps its position, so that every mistake can be
//! underlined.

use std::ops::Range;

use super::{LineError, MAX_LIST_LENGTH};
use crate::{DataType, List, closest};

/// A piece of the line.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// The offset of its start in the line, in bytes.
    start: usize,
}

/// The words of a line, which are separated by spaces and tabs.
pub(super) fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let start = move |text: &str| text.as_ptr().addr() - line.as_ptr().addr();
    line.split([' ', '\t']).filter(|text| !text.is_empty()).map(move |text| Word { text, start: start(text) })
}

/// The integers that a C type can hold.
#[derive(Clone, Copy)]
pub(super) struct Integers {
    name: &'static str,
    low: i128,
    high: i128,
}

impl Integers {
    pub(super) const UINT8: Self = Self { name: "UINT8", low: 0, high: u8::MAX as i128 };
    pub(super) const UINT: Self = Self { name: "UINT", low: 0, high: u32::MAX as i128 };
    pub(super) const INT: Self = Self { name: "INT", low: i32::MIN as i128, high: i32::MAX as i128 };
    pub(super) const UINT64: Self = Self { name: "UINT64", low: 0, high: u64::MAX as i128 };
}

impl Word<'_> {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The word before and after a separator, without it.
    pub(super) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let (before, after) = self.text.split_once(separator)?;
        let after_start = self.start + before.len() + separator.len_utf8();
        Some((Self { text: before, start: self.start }, Self { text: after, start: after_start }))
    }

    /// An error about this word.
    pub(super) fn error(self, message: impl Into<String>, help: impl Into<String>) -> LineError {
        LineError::new(self.span(), message, help)
    }

    /// An error about an unknown name.
    pub(super) fn unknown<'b, I>(self, what: &str, names: I) -> LineError
    where
        I: IntoIterator<Item = &'b str> + Clone,
    {
        let help = match closest(self.text, names.clone()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known are {}", names.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        self.error(format!("`{}` is not {article} {what}", self.excerpt()), help)
    }

    /// The text, shortened for a message.
    pub(super) fn excerpt(self) -> String {
        let mut letters = self.text.chars();
        let mut excerpt: String = letters.by_ref().take(40).collect();
        if letters.next().is_some() {
            excerpt.push('…');
        }
        excerpt
    }

    /// Parses a decimal number of this C type.
    pub(super) fn integer(self, integers: Integers) -> Result<i128, LineError> {
        let Integers { name, low, high } = integers;
        let digits = self.text.strip_prefix('-').unwrap_or(self.text);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            let message = if self.text.is_empty() {
                "a number is missing".to_owned()
            } else {
                format!("`{}` is not a number", self.excerpt())
            };
            return Err(self.error(message, format!("write a decimal integer from {low} to {high}")));
        }
        // Numbers beyond 128 bits do not fit the type either.
        self.text.parse().ok().filter(|value| (low..=high).contains(value)).ok_or_else(|| {
            self.error(
                format!("`{}` does not fit {name}", self.excerpt()),
                format!("{name} holds {low} to {high}"),
            )
        })
    }

    /// Parses comma-separated numbers; `None` for `null`.
    pub(super) fn list(self, integers: Integers) -> Result<Option<List>, LineError> {
        let mut list = List::new();
        match self.text {
            "null" => return Ok(None),
            "" => return Ok(Some(list)),
            _ => {}
        }
        let mut rest = Some(self);
        while let Some(word) = rest {
            if list.len() == MAX_LIST_LENGTH {
                return Err(self.error(
                    format!("the list has more than {MAX_LIST_LENGTH} values"),
                    "DirectML's longest lists have 8",
                ));
            }
            let (value, after) =
                word.split_once(',').map_or((word, None), |(value, after)| (value, Some(after)));
            list.push(value.integer(integers)? as i64);
            rest = after;
        }
        Ok(Some(list))
    }

    /// Parses a data type's name or code.
    pub(super) fn data_type(self) -> Result<DataType, LineError> {
        if let Some(data_type) = DataType::from_name(self.text) {
            return Ok(data_type);
        }
        if self.text.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            return self.integer(Integers::UINT).map(|code| DataType(code as u32));
        }
        Err(self.unknown("data type", DataType::all().filter_map(DataType::name).collect::<Vec<_>>()))
    }

    /// Parses hex digits as bytes, in their order.
    pub(super) fn bytes(self) -> Result<Vec<u8>, LineError> {
        let digits = self.text.as_bytes();
        if let Some(bad) = self.text.find(|letter: char| !letter.is_ascii_hexdigit()) {
            let letter = self.text[bad..].chars().next().unwrap_or_default();
            let place = self.start + bad;
            return Err(LineError::new(
                place..place + letter.len_utf8(),
                format!("`{letter}` is not a hex digit"),
                "bytes are written as two hex digits each, without separators",
            ));
        }
        if digits.len() % 2 == 1 {
            return Err(self.error("half a byte is missing", "bytes are written as two hex digits each"));
        }
        let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
        Ok(digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
    }
}
