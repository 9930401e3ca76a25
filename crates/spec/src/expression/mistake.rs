//! Mistakes in a text, and where they stand. A mistake is data: whoever knows the file shows its line.

use std::fmt;

/// A range of bytes in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` up to but not including `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Something in a text that cannot stand there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Where.
    pub span: Span,
    /// What was found, and what was expected there: a lower-case fragment.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake without advice.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Mistake {}

/// The name among `candidates` that `name` was probably meant to be, if one is near enough: at most one
/// edit in three letters, the case of letters aside.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let wanted = letters(name);
    // Nobody means a name by a text many times as long, and distances cost the product of the lengths.
    if wanted.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (edits(&wanted, &letters(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: insertions, deletions and replacements from one text to the other.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["InputWindowSizes", "InputWindowOffsets", "magnitude"];
        assert_eq!(nearest("InputWindowSize", names), Some("InputWindowSizes"));
        assert_eq!(nearest("magnitde", names), Some("magnitude"));
        assert_eq!(nearest("MAGNITUDE", names), Some("magnitude"));
        assert_eq!(nearest("EndPadding", names), None);
    }
}
