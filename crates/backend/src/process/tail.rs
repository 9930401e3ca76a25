//! The last lines of a process's standard error, for the message about its end.

use std::collections::VecDeque;

use dmlcts_model::printable;

/// The maximum number of bytes that are kept.
const KEPT: usize = 32 << 10;
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

    /// The last non-empty lines, joined into one. The line of a panic, or the last one before a stack, comes
    /// first. Backtraces and stacks are left out.
    pub(super) fn last_words(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // Lines that only point at the line above, with `^` or `~`, make no sense in joined text.
        let lines =
            text.lines().filter(|line| line.trim().contains(|letter| !matches!(letter, '^' | '~' | ' ')));
        let mut said: Vec<&str> = Vec::new();
        let mut is_trace = false;
        // The line before the last stack, which ends the message of an error.
        let mut error = None;
        for whole in lines {
            let line = whole.trim();
            is_trace = line == "stack backtrace:" || is_trace && is_frame(line);
            if !is_trace && is_call(whole) {
                error = said.len().checked_sub(1);
            } else if !is_trace && !line.starts_with("note: ") {
                // A note tells of the variables that show more of the backtrace.
                said.push(line);
            }
        }
        let first = said.len().saturating_sub(LINES);
        let panic = said[..first].iter().rposition(|line| line.contains(" panicked at "));
        let shown = match (panic, error.filter(|error| *error < first)) {
            // The message follows.
            (Some(panic), _) => [&said[panic..=panic + 1], &said[said.len() - 1..]].concat(),
            (None, Some(error)) => [&said[error..=error], &said[first + 1..]].concat(),
            (None, None) => said[first..].to_vec(),
        };
        let shown: Vec<_> = shown.into_iter().map(|line| printable(line, LETTERS)).collect();
        shown.join(" | ")
    }
}

/// Whether a line is of a backtrace of Rust: `12: name`, or `at file:line`.
fn is_frame(line: &str) -> bool {
    let number = line.split_once(": ").map_or("", |(number, _)| number);
    line.starts_with("at ") || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line is of a stack of JavaScript, Java or .NET: `at name (file:line)`, indented.
fn is_call(line: &str) -> bool {
    line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ")
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
        tail.push(b"thread 'main' panicked at src/a.rs:1:2:\nno x\nin y\nwith z\nstack backtrace:\n");
        tail.push(b"   0: begin\n             at /rustc/a.rs:3:4\n  12: end\nnote: run with `RUST_BACKTRACE=full`\n");
        assert_eq!(tail.last_words(), "thread 'main' panicked at src/a.rs:1:2: | no x | with z");
        tail.push(b"3: a line of the program\nlast\nwords\n");
        assert!(tail.last_words().ends_with("a.rs:1:2: | no x | words"), "{}", tail.last_words());
        tail.push("x".repeat(100_000).as_bytes());
        assert_eq!(tail.last_words().len(), LETTERS);
        tail.push(b"\n\x1b[31mred\xff\n");
        assert!(tail.last_words().ends_with("| \\u{1b}[31mred\u{FFFD}"), "{}", tail.last_words());
    }

    /// As Node.js 20 writes it for `throw new Error("x")`.
    const NODE: &str = r#"[eval]:1
throw new Error("x")
^

Error: x
    at [eval]:1:7
    at runScriptInThisContext (node:internal/vm:209:10)
    at node:internal/process/execution:118:14
    at [eval]-wrapper:6:24
    at runScript (node:internal/process/execution:101:62)
    at evalScript (node:internal/process/execution:133:3)
    at node:internal/main/eval_string:51:3

Node.js v20.20.2
"#;

    #[test]
    fn the_error_before_a_stack_is_kept() {
        let mut tail = Tail::default();
        tail.push(NODE.as_bytes());
        assert_eq!(tail.last_words(), r#"throw new Error("x") | Error: x | Node.js v20.20.2"#);
        // The properties of an error follow its stack.
        let with_properties = NODE.replace("51:3\n", "51:3 {\n  code: 'NONE',\n  url: 'x.mjs'\n}\n");
        tail.push(with_properties.as_bytes());
        assert_eq!(tail.last_words(), "Error: x | } | Node.js v20.20.2");
    }
}
