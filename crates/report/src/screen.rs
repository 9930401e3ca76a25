//! Writes to a terminal, or to the log of a CI service. Only text and the program's own colours have an
//! effect there.
//!
//! Messages escape text from outside the program. This writer catches text that a message fails to escape. It
//! passes line ends and the program's own colours, and escapes everything else that a terminal or a CI runner
//! obeys.

use std::io::{self, Write};

use dmlcts_model::{Escape, LineFilter};

/// The maximum length of a letter or a colour sequence, in bytes.
const LONGEST: usize = 32;

/// A writer that escapes text for display.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    /// Whether the program's own colour sequences pass.
    colour: bool,
    line: LineFilter,
    /// The start of an incomplete letter or colour sequence.
    begun: Vec<u8>,
}

impl<W: Write> Screen<W> {
    /// Writes to `out`, with or without colours.
    pub fn new(out: W, colour: bool) -> Self {
        Self { out, colour, line: LineFilter::Start, begun: Vec::new() }
    }

    /// Writes all complete letters and sequences, and returns their length in bytes.
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (mut written, mut at) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            let (length, escape) = match byte {
                b'\n' => {
                    self.line = LineFilter::Start;
                    (1, None)
                }
                0x1b if self.colour => match colour(rest) {
                    SequenceStart::Whole(length) => (length, None),
                    SequenceStart::Begun => break,
                    SequenceStart::None => (1, Some('\x1b')),
                },
                0..0x80 => (1, Some(char::from(byte)).filter(|&letter| !self.line.passes(letter))),
                _ => match letter(rest) {
                    (SequenceStart::Whole(length), letter) => {
                        (length, Some(letter).filter(|&letter| !self.line.passes(letter)))
                    }
                    (SequenceStart::Begun, _) => break,
                    (SequenceStart::None, _) => (1, Some(char::REPLACEMENT_CHARACTER)),
                },
            };
            if let Some(letter) = escape {
                self.out.write_all(&bytes[written..at])?;
                write!(self.out, "{}", Escape(letter))?;
                written = at + length;
            }
            at += length;
        }
        self.out.write_all(&bytes[written..at])?;
        Ok(at)
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() {
            let whole = self.write_whole(bytes)?;
            self.begun.extend(&bytes[whole..]);
            return Ok(bytes.len());
        }
        // Enough bytes to complete the pending letter; the next call writes the rest.
        let more = &bytes[..bytes.len().min(LONGEST)];
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend(more);
        let whole = self.write_whole(&joined)?;
        self.begun.extend(&joined[whole..]);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A letter or sequence at the start of some bytes.
enum SequenceStart {
    /// Complete, with this length in bytes.
    Whole(usize),
    /// Incomplete at the end of the bytes.
    Begun,
    /// Not at the start.
    None,
}

/// The sequence that sets a colour: `ESC [`, numbers, `m`.
fn colour(bytes: &[u8]) -> SequenceStart {
    let numbers = bytes.iter().skip(2).take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    match (bytes.get(1), bytes.get(2 + numbers)) {
        (Some(b'['), Some(b'm')) if numbers < LONGEST => SequenceStart::Whole(numbers + 3),
        (Some(b'[') | None, None) if bytes.len() < LONGEST => SequenceStart::Begun,
        _ => SequenceStart::None,
    }
}

/// A letter outside ASCII.
fn letter(bytes: &[u8]) -> (SequenceStart, char) {
    let start = &bytes[..bytes.len().min(4)];
    let valid = match str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => {
            return (SequenceStart::Begun, '\0');
        }
        Err(error) => str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid
        .chars()
        .next()
        .map_or((SequenceStart::None, '\0'), |letter| (SequenceStart::Whole(letter.len_utf8()), letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output, which does not depend on the pieces in which the text arrives.
    fn shown(text: &[u8], colour: bool) -> String {
        let all = [1, 2, 3, 7, text.len().max(1)].map(|length| {
            let mut screen = Screen::new(Vec::new(), colour);
            text.chunks(length).for_each(|piece| screen.write_all(piece).expect("memory takes it"));
            String::from_utf8(screen.out).expect("text")
        });
        assert!(all.iter().all(|other| *other == all[0]), "{all:?}");
        all[0].clone()
    }

    #[test]
    fn only_letters_line_ends_and_own_colours_get_through() {
        for (text, expected) in [
            ("plain: a::b\n  # größer, 🙂\n", "plain: a::b\n  # größer, 🙂\n"),
            ("\x1b[1;31mred\x1b[0m\x1b]0;title\x07", "\x1b[1;31mred\x1b[0m\\u{1b}]0;title\\u{7}"),
            ("\x1b[2J\x1b[31", "\\u{1b}[2J"),
            ("a\r\t\0\u{9b}\u{202e}b", r"a\r\t\0\u{9b}\u{202e}b"),
            ("a\n::error\n \x1b[1m::error\x1b[0m", "a\n:\\u{3a}error\n \x1b[1m:\\u{3a}error\x1b[0m"),
            ("##[error] ##vso[x] #\x1b[1m#[error]", "#\\u{23}[error] #\\u{23}vso[x] #\x1b[1m\\u{23}[error]"),
        ] {
            assert_eq!(shown(text.as_bytes(), true), expected);
        }
        assert_eq!(
            shown(b"\x1b[1mred\x1b[0m", false),
            r"\u{1b}[1mred\u{1b}[0m",
            "where there are no colours"
        );
        assert_eq!(shown(b"a\xffb\xe2\x82c", false), "a\\u{fffd}b\\u{fffd}\\u{fffd}c", "what is no text");
    }

    #[test]
    fn errors_of_the_output_are_handed_on() {
        let mut full = [0_u8; 2];
        let mut screen = Screen::new(&mut full[..], false);
        assert!(screen.write_all("größer".as_bytes()).is_err());
    }
}
