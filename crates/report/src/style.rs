//! How output looks: its colours, and the width of its lines. Without colours, text marks carry the same
//! information.

use std::fmt;

use textwrap::{Options, WordSeparator, WordSplitter, core::Word};

/// A terminal with fewer columns gets lines of any length, as it would have little text beside the indents.
const NARROWEST: usize = 40;

/// How output looks; the program decides it once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether the reader is a terminal that wants colours.
    pub colour: bool,
    /// The columns of that terminal; `None` for lines of any length.
    pub width: Option<usize>,
}

/// The meaning of a piece of text; each meaning has its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
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

impl Tone {
    /// The tone of a change, which is for the better, for the worse, or neither.
    pub fn of_change(is_good: Option<bool>) -> Self {
        is_good.map_or(Self::Note, |is_good| if is_good { Self::Good } else { Self::Bad })
    }

    /// The class of its colours on a page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Good => "good",
            Self::Note => "note",
            Self::Plain | Self::Strong | Self::Faint => "calm",
        }
    }
}

impl Style {
    /// No colours, and lines of any length.
    pub const PLAIN: Self = Self { colour: false, width: None };

    /// The text in its colour.
    pub fn paint<T: fmt::Display>(self, tone: Tone, text: T) -> Painted<T> {
        Painted { tone: self.colour.then_some(tone), text }
    }

    /// The text in lines of the terminal's width. All but the first are indented by `hanging` columns. Text
    /// in backticks stays in one line, so that a command can be copied.
    pub fn wrap(self, hanging: usize, text: &str) -> String {
        let Some(width) = self.width.filter(|width| *width >= NARROWEST) else { return text.to_owned() };
        let indent = " ".repeat(hanging);
        let options = Options::new(width)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation)
            .word_separator(WordSeparator::Custom(words));
        textwrap::fill(text, options)
    }
}

/// The words of a line, each with the spaces behind it. Text in backticks is a part of one word.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut rest = line;
    Box::new(std::iter::from_fn(move || {
        let (mut in_code, mut in_spaces) = (false, false);
        let end = rest.char_indices().find(|(at, letter)| {
            in_code = match letter {
                '`' if !in_code => rest[at + 1..].contains('`'),
                '`' => false,
                _ => in_code,
            };
            let ends = in_spaces && *letter != ' ';
            in_spaces = *letter == ' ' && !in_code;
            ends
        });
        let (word, others) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = others;
        (!word.is_empty()).then(|| Word::from(word))
    }))
}

/// A text in its colour.
#[derive(Debug)]
pub struct Painted<T> {
    tone: Option<Tone>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self.tone {
            None | Some(Tone::Plain) => return self.text.fmt(f),
            Some(Tone::Bad) => "1;31",
            Some(Tone::Good) => "32",
            Some(Tone::Note) => "33",
            Some(Tone::Strong) => "1",
            Some(Tone::Faint) => "2",
        };
        write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(width: usize, text: &str) -> String {
        Style { colour: false, width: Some(width) }.wrap(4, text)
    }

    #[test]
    fn lines_end_at_the_width_and_hang() {
        let text = "  it holds for 3 cases that passed, and does not hold for 2 further failures";
        insta::assert_snapshot!(wrapped(40, text), @r"
          it holds for 3 cases that passed, and
            does not hold for 2 further failures
        ");
        assert_eq!(wrapped(39, text), text, "a narrow terminal breaks lines itself");
        assert_eq!(Style::PLAIN.wrap(4, text), text);
    }

    #[test]
    fn a_command_stays_in_one_line() {
        let text =
            "61 of 80 obligations met (`dmlcts count --obligations --suite smoke --seed 7` names the others)";
        insta::assert_snapshot!(wrapped(44, text), @r"
        61 of 80 obligations met
            (`dmlcts count --obligations --suite smoke --seed 7`
            names the others)
        ");
        let unclosed = "an apostrophe ` of a stranger does not keep the rest of the text together";
        assert!(wrapped(40, unclosed).lines().all(|line| line.len() <= 40));
    }

    #[test]
    fn colours_take_no_columns() {
        let style = Style { colour: true, width: Some(40) };
        let text =
            format!("{} {}", style.paint(Tone::Bad, "FAIL 1:"), "where all is wrong in it. ".repeat(2));
        let bare: Vec<String> = style
            .wrap(2, &text)
            .lines()
            .map(|line| line.replace("\x1b[1;31m", "").replace("\x1b[0m", ""))
            .collect();
        assert_eq!(bare, ["FAIL 1: where all is wrong in it. where", "  all is wrong in it."]);
    }
}
