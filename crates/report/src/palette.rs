//! Colours, or none. Without colours, text marks carry the same information.

use std::fmt;

/// Whether output is coloured; the program decides this once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Palette {
    /// Whether the reader is a terminal that wants colours.
    pub colour: bool,
}

/// The meaning of a piece of text; each meaning has its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Something is wrong.
    Bad,
    /// Something is as it should be.
    Good,
    /// Something to take note of.
    Note,
    /// A heading.
    Strong,
    /// Something of less importance.
    Faint,
}

impl Palette {
    /// No colours.
    pub const PLAIN: Self = Self { colour: false };

    /// The text in its colour.
    pub fn paint<T: fmt::Display>(self, tone: Tone, text: T) -> Painted<T> {
        Painted { tone: self.colour.then_some(tone), text }
    }
}

/// A text in its colour.
#[derive(Debug)]
pub struct Painted<T> {
    tone: Option<Tone>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(tone) = self.tone else { return self.text.fmt(f) };
        let code = match tone {
            Tone::Bad => "1;31",
            Tone::Good => "32",
            Tone::Note => "33",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
    }
}
