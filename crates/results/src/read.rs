//! Reads a results file line by line. The memory does not grow with the file.

use std::{
    fmt,
    io::{BufRead, BufReader, Read},
};

use dmlcts_spec::open_file;

use crate::{CaseForm, Error, Header, Line, SummaryForm, TotalsForm, VERSION};

/// The maximum number of bytes of a line, so that a damaged file does not exhaust the memory.
const LONGEST_LINE: u64 = 64 << 20;

/// Reads a results file.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    header: Header,
}

/// A line after the header.
#[derive(Debug)]
pub enum Item<'a> {
    /// The result of a case.
    Case(Box<CaseForm<'a>>),
    /// The totals of all cases so far.
    Checkpoint(Box<TotalsForm>),
    /// The end of the run.
    Summary(Box<SummaryForm>),
}

impl Reader {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not start with a header of this version.
    pub fn open(path: &str) -> Result<Self, Error> {
        let file = open_file(path).map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
        Self::new(Box::new(file), path)
    }

    /// Reads the header of an input. Messages call the input `path`.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or does not start with a header of this version.
    pub fn new(input: Box<dyn Read>, path: &str) -> Result<Self, Error> {
        let input = BufReader::with_capacity(1 << 18, input);
        let path = path.to_owned();
        let mut lines = Lines { path, input, line: Vec::new(), number: 0, offset: 0, is_torn: false };
        let header = if lines.advance()? { lines.parse() } else { Err(String::new()) };
        match header {
            Ok(Line::Header(header)) if header.format == VERSION => {
                let header = *header;
                header.check().map_err(|cause| lines.wrong(cause.to_string()))?;
                Ok(Self { lines, header })
            }
            // A header of another version need not have anything in common with this one but its number.
            Ok(_) => Err(Error::NoHeader { path: lines.path }),
            Err(cause) => Err(match lines.version() {
                Some(version) if version != VERSION => Error::Version { path: lines.path, version },
                Some(_) if !lines.is_torn => lines.wrong(cause),
                _ => Error::NoHeader { path: lines.path },
            }),
        }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The path, as messages have it.
    pub fn path(&self) -> &str {
        &self.lines.path
    }

    /// Whether the last line is incomplete. It is ignored then.
    pub fn is_torn(&self) -> bool {
        self.lines.is_torn
    }

    /// The bytes of the current line, with its line end.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.lines.line
    }

    /// An error about the current line.
    pub(crate) fn wrong(&self, cause: impl Into<String>) -> Error {
        self.lines.wrong(cause.into())
    }

    /// The number of the current line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.lines.number
    }

    /// The offset of the end of the current line, in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.lines.offset
    }

    /// Whether the current line is the last one.
    pub(crate) fn is_at_end(&mut self) -> Result<bool, Error> {
        let left = self.lines.input.fill_buf().map(<[u8]>::is_empty);
        left.map_err(|cause| Error::Read { path: self.lines.path.clone(), cause })
    }

    /// Reads the next line. `None` after the last one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the line does not have the format.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader, which an iterator's items cannot"
    )]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let wrong = |cause| self.lines.wrong(cause);
        let (checked, item) = match self.lines.parse().map_err(wrong)? {
            Line::Case(case) => (case.check(), Item::Case(case)),
            Line::Checkpoint(totals) => (totals.check(), Item::Checkpoint(totals)),
            Line::Summary(summary) => (summary.check(), Item::Summary(summary)),
            Line::Header(_) => return Err(wrong("a second header; `dmlcts merge` joins files".to_owned())),
        };
        checked.map_err(|unknown| wrong(unknown.to_string()))?;
        Ok(Some(item))
    }
}

/// The lines of a file, before they are parsed.
struct Lines {
    path: String,
    input: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// The line's number, from 1.
    number: u64,
    /// The offset of the line's end, in bytes.
    offset: u64,
    is_torn: bool,
}

impl Lines {
    /// Reads a line. Returns false if there is none, or only an incomplete one.
    fn advance(&mut self) -> Result<bool, Error> {
        self.line.clear();
        let mut bounded = (&mut self.input).take(LONGEST_LINE);
        let read = bounded.read_until(b'\n', &mut self.line);
        let length = read.map_err(|cause| Error::Read { path: self.path.clone(), cause })?;
        self.number += 1;
        if self.line.last() != Some(&b'\n') {
            if length as u64 == LONGEST_LINE {
                let cause = format!("it has more than {LONGEST_LINE} bytes");
                return Err(self.wrong(cause));
            }
            self.is_torn = length > 0;
            return Ok(false);
        }
        self.offset += length as u64;
        Ok(true)
    }

    /// An error about the current line.
    fn wrong(&self, cause: String) -> Error {
        Error::Line { path: self.path.clone(), number: self.number, cause }
    }

    fn parse(&self) -> Result<Line<'_>, String> {
        // Serde would count the line end as the start of a second line, and report mistakes there.
        serde_json::from_slice(self.line.trim_ascii_end()).map_err(|error| error.to_string())
    }

    /// The version of the format, if the line is a header of any version.
    fn version(&self) -> Option<u32> {
        let line: serde_json::Value = serde_json::from_slice(&self.line).ok()?;
        line.get("header")?.get("format")?.as_u64().map(|version| version as u32)
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("path", &self.path)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
