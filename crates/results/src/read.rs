//! Reading a results file line by line, in memory that does not grow with it.

use std::{
    fmt,
    fs::File,
    io::{BufRead, BufReader, Read},
};

use crate::{CaseForm, Error, Header, Line, SummaryForm, TotalsForm, VERSION};

/// A longer line is none: a damaged file must not take the machine's memory.
const LONGEST_LINE: u64 = 64 << 20;

/// A results file that is read.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    header: Header,
}

/// A line behind the header.
#[derive(Debug)]
pub enum Item<'a> {
    /// What became of a case.
    Case(Box<CaseForm<'a>>),
    /// What all cases so far came to.
    Checkpoint(Box<TotalsForm>),
    /// How the run ended.
    Summary(Box<SummaryForm>),
}

impl Reader {
    /// Opens a file and reads its header.
    pub fn open(path: &str) -> Result<Self, Error> {
        let file = File::open(path).map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
        Self::new(Box::new(file), path)
    }

    /// Reads the header of what is called `path` in messages.
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
            // Of a header of another version, nothing but its number may be understood.
            Ok(_) => Err(Error::NoHeader { path: lines.path }),
            Err(cause) => Err(match lines.version() {
                Some(version) if version != VERSION => Error::Version { path: lines.path, version },
                Some(_) if !lines.is_torn => lines.wrong(cause),
                _ => Error::NoHeader { path: lines.path },
            }),
        }
    }

    /// What was run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.lines.path
    }

    /// Whether the last line was cut short, so that it is none.
    pub fn is_torn(&self) -> bool {
        self.lines.is_torn
    }

    /// The line that was read last, with its end.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.lines.line
    }

    /// What is wrong with the line that was read last.
    pub(crate) fn wrong(&self, cause: impl Into<String>) -> Error {
        Error::Line { path: self.lines.path.clone(), number: self.lines.number, cause: cause.into() }
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.lines.number
    }

    /// The bytes up to the end of the line that was read last.
    pub(crate) fn offset(&self) -> u64 {
        self.lines.offset
    }

    /// Whether nothing stands behind the line that was read last.
    pub(crate) fn is_at_end(&mut self) -> Result<bool, Error> {
        let left = self.lines.input.fill_buf().map(<[u8]>::is_empty);
        left.map_err(|cause| Error::Read { path: self.lines.path.clone(), cause })
    }

    /// The next line; `None` behind the last one.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it gives borrows from it, which an iterator's items cannot"
    )]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let wrong = |cause| self.lines.wrong(cause);
        match self.lines.parse().map_err(wrong)? {
            Line::Case(case) => {
                case.check().map_err(|unknown| wrong(unknown.to_string()))?;
                Ok(Some(Item::Case(case)))
            }
            Line::Checkpoint(totals) => {
                totals.check().map_err(|unknown| wrong(unknown.to_string()))?;
                Ok(Some(Item::Checkpoint(totals)))
            }
            Line::Summary(summary) => {
                summary.totals.check().map_err(|unknown| wrong(unknown.to_string()))?;
                Ok(Some(Item::Summary(summary)))
            }
            Line::Header(_) => Err(wrong("a second header; files are joined by `dmlcts merge`".to_owned())),
        }
    }
}

/// The lines of a file, whatever stands in them.
struct Lines {
    path: String,
    input: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// The line's number, from 1.
    number: u64,
    /// The bytes up to the line's end.
    offset: u64,
    is_torn: bool,
}

impl Lines {
    /// Reads a line; `false` where there is none, or none that is whole.
    fn advance(&mut self) -> Result<bool, Error> {
        self.line.clear();
        let mut bounded = (&mut self.input).take(LONGEST_LINE);
        let read = bounded.read_until(b'\n', &mut self.line);
        let length = read.map_err(|cause| Error::Read { path: self.path.clone(), cause })?;
        self.number += 1;
        if self.line.last() != Some(&b'\n') {
            if length as u64 == LONGEST_LINE {
                let cause = format!("it has more than {LONGEST_LINE} bytes");
                return Err(Error::Line { path: self.path.clone(), number: self.number, cause });
            }
            self.is_torn = length > 0;
            return Ok(false);
        }
        self.offset += length as u64;
        Ok(true)
    }

    /// That the line which was read last is not right.
    fn wrong(&self, cause: String) -> Error {
        Error::Line { path: self.path.clone(), number: self.number, cause }
    }

    fn parse(&self) -> Result<Line<'_>, String> {
        // Serde's own place is that of the line, which follows its line end.
        serde_json::from_slice(self.line.trim_ascii_end()).map_err(|error| error.to_string())
    }

    /// The version that a header of any version states.
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
