//! Notes: lines on standard error that begin with `note: `, by which a process informs the user of a run.

use dmlcts_model::printable;

use super::Incidents;

/// The prefix of a note.
const MARK: &str = "note: ";
/// The maximum number of bytes of a line that are kept.
const KEPT: usize = 4 << 10;
/// The maximum number of characters of a note that are shown.
const LETTERS: usize = 600;

/// Finds notes in a stream and reports them.
pub(super) struct Notes {
    incidents: Incidents,
    /// The current, unfinished line.
    line: Vec<u8>,
}

impl Notes {
    pub(super) fn new(incidents: Incidents) -> Self {
        Self { incidents, line: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = KEPT.saturating_sub(self.line.len());
            self.line.extend(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                if let Some(note) = line.trim_end().strip_prefix(MARK) {
                    self.incidents.note(&printable(note, LETTERS));
                }
                self.line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&[u8]]) -> Vec<String> {
        let incidents = Incidents::default();
        let mut notes = Notes::new(incidents.clone());
        for piece in pieces {
            notes.push(piece);
        }
        std::iter::from_fn(|| incidents.take()).chain(incidents.repeated_notes()).collect()
    }

    #[test]
    fn lines_with_the_mark_are_told_and_no_others() {
        let pieces: [&[u8]; 4] =
            [b"loading\nno", b"te: one\r\nnotes: none\nA note: none\n", b"note: two", b"\nnote: three"];
        assert_eq!(told(&pieces), ["a backend process notes: one", "a backend process notes: two"]);
    }

    #[test]
    fn a_line_is_shown_once_with_its_count() {
        let lines = "note: again\n".repeat(428) + "note: once\n";
        assert_eq!(
            told(&[lines.as_bytes()]),
            [
                "a backend process notes: again",
                "a backend process notes: once",
                "backend processes noted 428 times: again"
            ]
        );
    }

    #[test]
    fn of_many_lines_the_first_are_shown_and_the_others_counted() {
        let lines: Vec<String> = (0..1_000_000).map(|number| format!("note: {number}\n")).collect();
        let told = told(&[lines.concat().as_bytes()]);
        assert_eq!(told.len(), 21);
        assert_eq!(told[20], "backend processes noted 999980 lines more");
    }

    #[test]
    fn a_line_is_told_within_bounds() {
        let [long, bell] = [["note: ", &"x".repeat(100_000), "\n"].concat(), "note: \x07\n".to_owned()];
        let told = told(&[long.as_bytes(), bell.as_bytes()]);
        assert_eq!(told.len(), 2);
        assert!(told[0].len() < 1000 && !told[1].contains('\x07'), "{told:?}");
    }
}
