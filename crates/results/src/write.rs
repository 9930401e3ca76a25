//! Writing a results file while a run goes on.
//!
//! Whatever ends the program, the file is whole up to the last line that was written: a chunk's lines go out in one piece,
//! and where they do not fit, what was written of them is taken back. Lines of cases that just passed are nearly all there
//! is, so that they are put together by hand; everything else is left to serde.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::{Duration, Instant},
};

use dmlcts_runner::{CaseResult, CaseResults, Group, Summary, Totals};
use dmlcts_spec::{Library, Obligation};

use crate::{
    CaseForm, Error, Header, Line, StatementForm, SummaryForm, TotalsForm, check_name, convert::Names,
};

/// How long after a checkpoint the next one is due.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(250);

/// Lines that are copied are handed to the system when they are so many bytes.
const COPIED: usize = 1 << 20;

/// A results file that is being written, and that nobody else can write meanwhile.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: String,
    /// Whether it is a file on a disk, which can be cut and synced, and not a pipe or a device.
    is_regular: bool,
    library: &'static Library,
    strategies: Vec<String>,
    /// As much of the file as is whole.
    length: u64,
    buffer: Vec<u8>,
    checkpoint: Instant,
    behind: Option<Behind>,
}

/// What stands behind the place where a file is gone on with. It stays until there is as much anew.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    /// How many more cases there are than were written anew.
    pub(crate) cases: u64,
    /// All of it.
    pub(crate) lines: Vec<u8>,
}

impl Writer {
    /// Opens a file to record a run in, whose strategies have these names. What is in it is written over if `overwrite` says so, when the
    /// header is written; else it is an error.
    pub fn create(
        path: &str,
        overwrite: bool,
        library: &'static Library,
        strategies: Vec<String>,
    ) -> Result<Self, Error> {
        let open = |cause| Error::Open { path: path.to_owned(), cause };
        check_name(Path::new(path)).map_err(open)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let file = file.or_else(|error| match error.kind() {
            // A pipe's end, which can only be written to.
            io::ErrorKind::PermissionDenied => OpenOptions::new().write(true).open(path),
            _ => Err(error),
        });
        let file = file.map_err(open)?;
        let about = file.metadata().map_err(open)?;
        lock(&file, path)?;
        // Asked again: the run that held the lock may have written since.
        let length = file.metadata().map_err(open)?.len();
        if about.is_file() && length > 0 && !overwrite {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Ok(Self::new(file, path, about.is_file(), 0, library, strategies))
    }

    /// A writer that goes on behind so many bytes of a locked file.
    pub(crate) fn new(
        file: File,
        path: &str,
        is_regular: bool,
        length: u64,
        library: &'static Library,
        strategies: Vec<String>,
    ) -> Self {
        let (path, checkpoint) = (path.to_owned(), Instant::now());
        let (buffer, behind) = (Vec::new(), None);
        Self { file, path, is_regular, library, strategies, length, buffer, checkpoint, behind }
    }

    /// The same, where this stands behind the bytes that are gone on from.
    pub(crate) fn over(mut self, behind: Behind) -> Self {
        self.behind = Some(behind);
        self
    }

    /// Cuts off what is behind the part that is kept: everything, of a file that is written over.
    pub(crate) fn cut(&mut self) -> Result<(), Error> {
        if !self.is_regular {
            return Ok(());
        }
        let cut = self.file.set_len(self.length);
        let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.length)).map(drop));
        cut.map_err(|cause| self.failed(cause))
    }

    /// Writes the first line.
    pub fn header(&mut self, header: &Header) -> Result<(), Error> {
        self.cut()?;
        self.push(&Line::Header(Box::new(header.clone())));
        self.flush()?;
        self.sync()
    }

    /// Writes what became of some cases, and a checkpoint where one is due and there are totals to go on from.
    pub fn cases(
        &mut self,
        cases: &CaseResults,
        totals: Option<&Totals>,
        groups: &[Group],
    ) -> Result<(), Error> {
        for case in cases.iter() {
            match case.details {
                None if is_plain(case.line) => self.push_pass(&case),
                _ => {
                    let form =
                        CaseForm::new(&case, Names { library: self.library, strategies: &self.strategies });
                    push(&mut self.buffer, &Line::Case(Box::new(form)));
                }
            }
        }
        if let Some(behind) = &mut self.behind {
            behind.cases = behind.cases.saturating_sub(cases.len() as u64);
            if behind.cases > 0 {
                return Ok(());
            }
        }
        let is_due = self.checkpoint.elapsed() >= CHECKPOINT_EVERY;
        let Some(totals) = totals.filter(|_| is_due) else { return self.flush() };
        let totals = TotalsForm::new(totals, groups, self.names());
        self.push(&Line::Checkpoint(Box::new(totals)));
        self.flush()?;
        self.sync()?;
        self.checkpoint = Instant::now();
        Ok(())
    }

    /// Writes a line that another file has, with its end.
    pub fn copy(&mut self, line: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(line);
        if self.buffer.len() >= COPIED { self.flush() } else { Ok(()) }
    }

    /// Writes the last line of a run that the program ends with this exit code after, with what it says of a profile. Where every case that was looked at is
    /// below the next one, a checkpoint precedes it, so that a run that ended early can go on.
    pub fn finish(
        &mut self,
        summary: &Summary,
        exit_code: u8,
        statement: Option<StatementForm>,
    ) -> Result<(), Error> {
        let totals = TotalsForm::new(&summary.totals, &summary.groups, self.names());
        let (obligations_met, obligations) = obligations(self.library, summary);
        if totals.next == totals.read {
            self.push(&Line::Checkpoint(Box::new(totals.clone())));
        }
        self.push(&Line::Summary(Box::new(SummaryForm {
            ending: summary.ending.id().to_owned(),
            exit_code,
            lost: summary.lost.clone(),
            abandoned: summary.abandoned.iter().map(|cases| (cases.start, cases.end)).collect(),
            cut: summary.cut.iter().map(Into::into).collect(),
            obligations_met,
            obligations,
            statement,
            totals,
        })));
        self.flush()?;
        self.sync()
    }

    fn names(&self) -> Names<'_> {
        Names { library: self.library, strategies: &self.strategies }
    }

    /// The line of a case that just passed, as serde writes it.
    fn push_pass(&mut self, case: &CaseResult<'_>) {
        // Writing into memory cannot fail.
        let _ = write!(self.buffer, r#"{{"case":{{"index":{},"line":""#, case.index);
        self.buffer.extend_from_slice(case.line.as_bytes());
        self.buffer.extend_from_slice(br#"","verdict":""#);
        self.buffer.extend_from_slice(case.verdict.id().as_bytes());
        self.buffer.extend_from_slice(b"\"}}\n");
    }

    fn push(&mut self, line: &Line<'_>) {
        push(&mut self.buffer, line);
    }

    /// Hands everything to the system. What it takes only a part of is taken back.
    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer);
        let length = self.buffer.len() as u64;
        self.buffer.clear();
        match written {
            Ok(()) => {
                self.length += length;
                // What is left of it is cut off.
                if self.behind.take().is_some() { self.cut() } else { Ok(()) }
            }
            Err(cause) => {
                // The first error is the one that tells.
                if let Some(behind) = self.behind.take() {
                    let _ = self.restore(&behind.lines);
                } else {
                    let _ = self.cut();
                }
                Err(self.failed(cause))
            }
        }
    }

    /// Puts back what stood behind the part that is whole. It takes no room that was not taken before.
    fn restore(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.set_len(self.length + lines.len() as u64)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(lines)
    }

    /// Waits until it is on the disk.
    fn sync(&self) -> Result<(), Error> {
        if !self.is_regular {
            return Ok(());
        }
        self.file.sync_data().map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: io::Error) -> Error {
        Error::Write { path: self.path.clone(), cause }
    }
}

/// Locks a file against other runs. Where files cannot be locked at all, nobody is kept out.
pub(crate) fn lock(file: &File, path: &str) -> Result<(), Error> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether a line stands in JSON as it is.
fn is_plain(line: &str) -> bool {
    // Every byte is looked at, which goes many at a time; stopping at the first that is not plain does not.
    line.bytes().fold(true, |plain, byte| plain & matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~'))
}

fn push(buffer: &mut Vec<u8>, line: &Line<'_>) {
    // Every map of a line has texts for keys, and writing into memory cannot fail.
    let _ = serde_json::to_writer(&mut *buffer, line);
    buffer.push(b'\n');
}

/// How many obligations were met of how many, of the operators that had any case.
fn obligations(library: &Library, summary: &Summary) -> (u64, u64) {
    let (mut met, mut all) = (0, 0);
    for operator in library.operators() {
        let obligations = operator.obligations(summary.level);
        let is_met = |obligation: &&Obligation| summary.totals.coverage.met(operator, **obligation);
        let of_operator = obligations.iter().filter(is_met).count();
        if of_operator > 0 {
            met += of_operator as u64;
            all += obligations.len() as u64;
        }
    }
    (met, all)
}
