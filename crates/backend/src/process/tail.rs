//! The last lines of a process's standard error, for the message about its end.

use std::collections::VecDeque;

use dmlcts_model::printable;

/// The maximum number of bytes that are kept.
const KEPT: usize = 8 << 10;
/// The number of last lines that are shown.
const LINES: usize = 3;
/// The maximum number of characters of a line that are shown.
const LETTERS: usize = 200;

/// The end of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let excess = self.0.len().saturating_sub(KEPT);
        self.0.drain(..excess);
    }

    /// The last non-empty lines, joined into one.
    pub(super) fn last_words(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // Lines that only point at the line above, with `^` or `~`, make no sense in joined text.
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| line.contains(|letter| !matches!(letter, '^' | '~' | ' ')));
        let mut last: Vec<_> = lines.rev().take(LINES).map(|line| printable(line, LETTERS)).collect();
        last.reverse();
        last.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_within_bounds() {
        let mut tail = Tail::default();
        for line in 0..10_000 {
            tail.push(format!("line {line}\n\n").as_bytes());
        }
        assert_eq!(tail.last_words(), "line 9997 | line 9998 | line 9999");
        assert!(tail.0.len() <= KEPT);
        tail.push(b"File 'mine.py'\n    import x\n    ~~~~ ^^^^\n\nNo x\n");
        assert_eq!(tail.last_words(), "File 'mine.py' | import x | No x");
        tail.push("x".repeat(100_000).as_bytes());
        assert_eq!(tail.last_words().len(), LETTERS);
        tail.push(b"\n\x1b[31mred\xff\n");
        assert!(tail.last_words().ends_with("| \\u{1b}[31mred\u{FFFD}"), "{}", tail.last_words());
    }
}
