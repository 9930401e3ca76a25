//! Reads snapshots. A file that this program would not write as it is, is an error with its line: a snapshot
//! that was edited by hand shows what no backend did.

use std::collections::HashSet;

use dmlcts_runner::Class;

use crate::{
    Chance, Finding, Further, Metadata, Snapshot, SnapshotError, Statement,
    digests::{Digests, Edited},
    snapshot::{Counts, Place},
};

/// The lines of a body, with their places in the file.
pub(crate) struct Lines<'a> {
    path: &'a str,
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
    /// The number of lines above the body.
    above: usize,
}

impl<'a> Lines<'a> {
    /// The next line, with its number.
    pub(crate) fn next(&mut self) -> Option<(usize, &'a str)> {
        self.rest.next().map(|(place, line)| (self.above + place + 1, line))
    }

    /// The rest of the next line after `start`, if it begins so.
    pub(crate) fn next_if(&mut self, start: &str) -> Option<(usize, &'a str)> {
        let (place, line) = self.rest.next_if(|(_, line)| line.starts_with(start))?;
        Some((self.above + place + 1, &line[start.len()..]))
    }

    /// The number of the next line.
    fn number(&mut self) -> usize {
        let above = self.above;
        self.rest.peek().map_or(above + 1, |(place, _)| above + place + 1)
    }

    pub(crate) fn wrong(&self, line: usize, cause: impl Into<String>) -> SnapshotError {
        SnapshotError::line(self.path, line, cause)
    }
}

/// Splits a file into its header and its body, and checks that both are as they were written.
pub(crate) fn split<'a>(
    path: &'a str,
    text: &'a str,
) -> Result<(Metadata, Lines<'a>, &'a str), SnapshotError> {
    let line = |line: usize, cause: &str| SnapshotError::line(path, line, cause);
    let rest =
        text.strip_prefix("---\n").ok_or_else(|| line(1, "expected `---`, the start of the header"))?;
    let end = rest.find("\n---\n").ok_or_else(|| {
        line(text.lines().count(), "the file ends in its header: expected a line `---` below it")
    })?;
    let (header, body) = (&rest[..=end], &rest[end + "\n---\n".len()..]);
    // The first line keeps the numbers of lines in messages right.
    let (about, digests) = Metadata::parse(path, &format!("---\n{header}"))?;
    let above = header.lines().count() + 2;
    let lines = Lines { path, rest: body.lines().enumerate().peekable(), above };
    let Some(edited) = digests.edited(&Digests::of(&about, body), &about) else {
        return Ok((about, lines, body));
    };
    // The header has each value in a line of its own, below the first line of the file.
    let of = |key: &str| {
        let is_of =
            |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
        header.lines().position(is_of).map_or(1, |place| place + 2)
    };
    Err(match edited {
        Edited::Value(key) => line(of(key), &format!("the value of `{key}` is not as dmlcts wrote it")),
        Edited::Digest(key) => line(of(key), &format!("the file does not fit the digest `{key}`")),
        Edited::Line(place) => {
            let cause = if place < body.trim_end().lines().count() {
                "the line is not as dmlcts wrote it: it was edited, or a line is missing here"
            } else {
                "the file ends here, and lines are missing"
            };
            let wrong = line(above + place + 1, cause);
            first_mistake(&about, lines, body, above + place + 1).unwrap_or(wrong)
        }
    })
}

/// The reason why a line, or one above it, is no line of a snapshot. `None` if all of them could be.
fn first_mistake(about: &Metadata, lines: Lines<'_>, body: &str, edited: usize) -> Option<SnapshotError> {
    if body.lines().any(|line| line.starts_with("example ")) {
        return None;
    }
    let mistake = snapshot(about.clone(), lines).err()?;
    matches!(mistake, SnapshotError::Line { line, .. } if line <= edited).then_some(mistake)
}

impl Snapshot {
    /// Reads the text of a file. `path` is its name in messages.
    ///
    /// # Errors
    ///
    /// The text is not as this program wrote it.
    pub fn parse(path: &str, text: &str) -> Result<Self, SnapshotError> {
        let text = text.replace("\r\n", "\n");
        let (about, lines, body) = split(path, &text)?;
        let above = lines.above;
        let read = snapshot(about, lines)?;
        if read.body().trim_end() != body.trim_end() {
            let own = read.body();
            let place =
                own.lines().zip(body.lines()).position(|(own, there)| own != there).unwrap_or_default();
            return Err(SnapshotError::line(path, above + place + 1, "the line is not as dmlcts writes it"));
        }
        Ok(read)
    }
}

/// Reads a body.
fn snapshot(about: Metadata, mut lines: Lines<'_>) -> Result<Snapshot, SnapshotError> {
    let mut all = Snapshot { about, ..Snapshot::default() };
    let mut ids = HashSet::new();
    while let Some((number, id)) = lines.next_if("finding ") {
        if !ids.insert(id) {
            return Err(lines.wrong(number, format!("the finding {id} stands there twice")));
        }
        all.findings.push(finding(id, &mut lines)?);
    }
    if let Some((number, text)) = lines.next_if("further findings: ") {
        let further = further(text);
        let further = further.ok_or_else(|| lines.wrong(number, "expected `N with M cases; digest D`"))?;
        all.further = Some(further);
    }
    while let Some((number, text)) = lines.next_if("chance   ") {
        let chance = chance(text);
        let expected =
            "expected `OPERATOR, crash or memory: N of M cases` or `OPERATOR, other: N of M cases`";
        all.chance.push(chance.ok_or_else(|| lines.wrong(number, expected))?);
    }
    for (head, statements) in [("answers  ", &mut all.answers), ("refuses  ", &mut all.refusals)] {
        while let Some((number, text)) = lines.next_if(head) {
            let parts = text.split_once(": ");
            let (subject, text) = parts.ok_or_else(|| lines.wrong(number, "expected `: ` in the line"))?;
            statements.push(Statement { subject: subject.to_owned(), text: text.to_owned() });
        }
    }
    while let Some((_, lack)) = lines.next_if("lacks    ") {
        all.lacks.push(lack.to_owned());
    }
    match lines.next() {
        Some((number, _)) => {
            let cause = "expected a finding, `further findings`, `chance`, `answers`, `refuses` or `lacks`, in this order";
            Err(lines.wrong(number, cause))
        }
        None => Ok(all),
    }
}

/// Reads the lines of a finding below its id.
fn finding(id: &str, lines: &mut Lines<'_>) -> Result<Finding, SnapshotError> {
    let number = lines.number();
    let headline = lines.next_if("  ").and_then(|(_, text)| headline(text));
    let (class, place) = headline.ok_or_else(|| {
        lines.wrong(number, "expected a class, and `where` or `of`, below the finding's id")
    })?;
    let number = lines.number();
    let counts = lines.next_if("  ").and_then(|(_, text)| counts(text));
    let counts = counts.ok_or_else(|| lines.wrong(number, "expected `N of M cases; digest D`"))?;
    let (mut example, mut shows) = (None, None);
    if let Some((_, text)) = lines.next_if("  e.g. ") {
        // No line of a case has a colon with a space.
        let (case, sentence) = text.split_once(": ").map_or((text, None), |(case, rest)| (case, Some(rest)));
        (example, shows) = (Some(case.to_owned()), sentence.map(str::to_owned));
    }
    Ok(Finding { id: id.to_owned(), class, place, counts, example, shows })
}

fn headline(text: &str) -> Option<(Class, Place)> {
    let (class, rest) = text.split_once(' ')?;
    let class = Class::from_id(class)?;
    if let Some(operators) = rest.strip_prefix("of ") {
        return Some((class, Place::Of(operators.to_owned())));
    }
    let text = rest.strip_prefix("where ")?;
    let (predicate, invalid) = match text.strip_suffix(" among invalid descs") {
        Some(predicate) => (predicate, true),
        None => (text, false),
    };
    Some((class, Place::Where { predicate: predicate.to_owned(), invalid }))
}

fn counts(text: &str) -> Option<Counts> {
    let (text, digest) = with_digest(text)?;
    let (cases, of) = text.split_once(" of ")?;
    Some(Counts { cases: number(cases)?, of: cases_of(of)?, digest })
}

fn further(text: &str) -> Option<Further> {
    let (text, digest) = with_digest(text)?;
    let (findings, cases) = text.split_once(" with ")?;
    Some(Further { findings: number(findings)?, cases: cases_of(cases)?, digest })
}

fn chance(text: &str) -> Option<Chance> {
    let (subject, numbers) = text.rsplit_once(": ")?;
    let (operator, severity) = subject.rsplit_once(", ")?;
    let (cases, of) = numbers.split_once(" of ")?;
    let is_severe = match severity {
        "crash or memory" => true,
        "other" => false,
        _ => return None,
    };
    Some(Chance { operator: operator.to_owned(), is_severe, cases: number(cases)?, of: cases_of(of)? })
}

/// The text before a digest, and the digest.
fn with_digest(text: &str) -> Option<(&str, String)> {
    let (text, digest) = text.split_once("; digest ")?;
    let is_digest = digest.len() == 8 && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_digest.then(|| (text, digest.to_owned()))
}

/// The number of `1,234 cases`.
fn cases_of(text: &str) -> Option<u64> {
    number(text.strip_suffix(" cases").or(text.strip_suffix(" case"))?)
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}
