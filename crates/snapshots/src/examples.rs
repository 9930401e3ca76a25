//! The examples of the pages as a backend answers them, with their outputs in full. They show a person what
//! the operators do, although the spec determines them.

use std::collections::BTreeMap;

use dmlcts_model::{Outcome, Tensor, element_to_text};
use dmlcts_results::{CaseForm, Header};
use dmlcts_runner::Verdict;
use dmlcts_spec::{Library, Operator};

use crate::{Metadata, SnapshotError, parse, write};

/// The examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examples {
    /// The header, which is not compared.
    pub about: Metadata,
    /// The examples, in the order of the specs.
    pub all: Vec<Example>,
}

/// An example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The id, such as `slice1.example-1`.
    pub id: String,
    /// Whether the backend gave the output of the page.
    pub is_right: bool,
    /// The desc, what the backend did, and the rows of the output.
    pub lines: Vec<String>,
}

/// What the backend did, in the line of an example that is right.
const RIGHT: &str = "gives the output of the page";

/// The same for an example that failed in the run and passed alone.
const BY_CHANCE: &str = "fails by chance";

/// The lines of all examples' cases.
fn of(library: &Library) -> impl Iterator<Item = (&dmlcts_spec::Example, String)> {
    let all = library.operators().iter().flat_map(Operator::examples);
    all.map(|example| (example, example.case.to_string()))
}

impl Examples {
    /// Whether a line is the case of an example.
    pub fn has(line: &str) -> bool {
        of(Library::embedded()).any(|(_, own)| own == line)
    }

    /// The examples of a recorded run, from the results of their cases by line. `None` if not all are among
    /// the cases of the run.
    pub fn new(header: &Header, results: &BTreeMap<String, CaseForm<'static>>) -> Option<Self> {
        let all: Option<Vec<Example>> = of(Library::embedded())
            .map(|(example, line)| Some(Example::new(example, results.get(&line)?)))
            .collect();
        Some(Self { about: Metadata::new(header), all: all? })
    }

    /// Puts the accepted examples in the place of those that failed by chance.
    pub fn keep(&mut self, accepted: &Self) {
        for one in self.all.iter_mut().filter(|one| one.is_by_chance()) {
            if let Some(was) = accepted.all.iter().find(|was| was.id == one.id) {
                one.clone_from(was);
            }
        }
    }

    /// Reads the text of a file. `path` is its name in messages.
    ///
    /// # Errors
    ///
    /// The text is not as this program wrote it.
    pub fn parse(path: &str, text: &str) -> Result<Self, SnapshotError> {
        let text = text.replace("\r\n", "\n");
        let (about, mut lines, _) = parse::split(path, &text)?;
        let mut all: Vec<Example> = Vec::new();
        while let Some((number, line)) = lines.next() {
            if let Some(id) = line.strip_prefix("example ") {
                all.push(Example { id: id.to_owned(), is_right: false, lines: Vec::new() });
            } else if let (Some(text), Some(last)) = (line.strip_prefix("  "), all.last_mut()) {
                last.is_right |= last.lines.len() == 1 && text == RIGHT;
                last.lines.push(text.to_owned());
            } else {
                return Err(lines.wrong(number, "expected `example` and an id, or an indented line below it"));
            }
        }
        Ok(Self { about, all })
    }

    /// The body of the file.
    pub fn body(&self) -> String {
        let mut text = String::new();
        for example in &self.all {
            text.extend(["example ", &example.id, "\n"]);
            example.lines.iter().for_each(|line| text.extend(["  ", line, "\n"]));
        }
        text
    }

    /// The whole file.
    pub fn to_text(&self) -> String {
        write::file(&self.about, &self.body())
    }
}

impl Example {
    /// Whether it failed in the run and passed alone.
    pub(crate) fn is_by_chance(&self) -> bool {
        self.lines.get(1).is_some_and(|line| line == BY_CHANCE)
    }

    fn new(example: &dmlcts_spec::Example, result: &CaseForm<'_>) -> Self {
        let line = example.case.to_string();
        let desc = line.split_once(" fill=").map_or(line.as_str(), |(desc, _)| desc).to_owned();
        let tensor = example.case.desc.output.as_ref();
        let is_right = result.verdict == Verdict::Pass && result.outcome.is_none();
        let mut lines = vec![desc];
        if is_right {
            lines.push(RIGHT.to_owned());
            lines.extend(
                tensor.map(|tensor| rows(tensor, &example.output, &example.output)).unwrap_or_default(),
            );
            return Self { id: example.id.clone(), is_right, lines };
        }
        let outcome = result.outcome.as_ref().and_then(|outcome| outcome.outcome().ok());
        if result.verdict == Verdict::Flake {
            lines.push(BY_CHANCE.to_owned());
            return Self { id: example.id.clone(), is_right, lines };
        }
        // The name of the class already says that the backend crashed or gave no answer.
        let is_named = matches!(outcome, Some(Outcome::Crashed(_) | Outcome::TimedOut | Outcome::Lost));
        let outcome = outcome.filter(|_| result.class.is_none() || !is_named);
        let did = outcome.as_ref().and_then(crate::answered::outcome);
        let how = match result.class {
            Some(class) => format!("fails: {}", class.id()),
            None => result.verdict.name().to_owned(),
        };
        lines.push(how + &did.map_or_else(String::new, |did| format!(", {did}")));
        let actual = result.output.as_deref().map(bytes).unwrap_or_default();
        if let Some(tensor) = tensor.filter(|_| actual.len() >= example.output.len()) {
            lines.extend(rows(tensor, &actual, &example.output));
        }
        Self { id: example.id.clone(), is_right, lines }
    }
}

/// The innermost rows of a packed tensor. Elements that differ from the expected ones have a star.
fn rows(tensor: &Tensor, actual: &[u8], expected: &[u8]) -> Vec<String> {
    let size = tensor.data_type.element_size().unwrap_or(1);
    let width =
        tensor.sizes.as_ref().and_then(|sizes| sizes.last()).map_or(1, |size| (*size).max(1) as usize);
    let element = |(actual, expected): (&[u8], &[u8])| {
        let star = if actual == expected { "" } else { "*" };
        element_to_text(tensor.data_type, actual) + star
    };
    let all: Vec<String> = actual.chunks_exact(size).zip(expected.chunks_exact(size)).map(element).collect();
    all.chunks(width).map(|row| row.join(" ")).collect()
}

/// The bytes of hexadecimal digits; none if they are no such digits.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.unwrap_or_default();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}
