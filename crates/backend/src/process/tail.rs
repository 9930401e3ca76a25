//! What a process said last on standard error: a few lines, for the message about its end.

use std::collections::VecDeque;

use dmlcts_model::printable;

/// As much is kept.
const KEPT: usize = 8 << 10;
/// As many lines are shown, the last ones.
const LINES: usize = 3;
/// As much of a line is shown.
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

    /// The last lines that hold something, on one line.
    pub(super) fn last_words(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // What points at a part of the line above it points nowhere on one line.
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
