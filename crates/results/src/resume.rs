//! Resumes a run that was cut off, from the last checkpoint of its results file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use dmlcts_runner::{RunOutcomes, Totals};
use dmlcts_spec::Library;

use crate::{
    Error, Header, Item, Reader, TotalsForm, Writer,
    analysis::Witness,
    check_name,
    convert::Names,
    count::Count,
    write::{OldLines, lock},
};

/// The most bytes behind the last checkpoint that are kept in memory until their cases ran again. No run
/// writes this much between two checkpoints.
const MOST_KEPT: u64 = 64 << 20;

/// A results file to resume. It is not changed before [`Self::resume`].
#[derive(Debug)]
pub struct Unfinished {
    path: String,
    file: File,
    header: Header,
    checkpoint: Option<TotalsForm>,
    /// The offset behind the last checkpoint, or behind the header if there is none.
    end: u64,
    /// The number of cases behind `end`.
    cases: u64,
    /// The offset behind the last complete line.
    whole: u64,
}

impl Unfinished {
    /// Opens and locks a file, finds the last checkpoint, and checks that all cases before it are there.
    ///
    /// # Errors
    ///
    /// There is no results file, cases are missing, or a line is damaged that is not the last one. A kill can
    /// only damage the last line, and the lines behind another one are not discarded.
    pub fn open(path: &str) -> Result<Self, Error> {
        let open = |cause| Error::Open { path: path.to_owned(), cause };
        check_name(Path::new(path)).map_err(open)?;
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
            _ => open(cause),
        })?;
        lock(&file, path)?;
        let mut reader = Reader::new(Box::new(file.try_clone().map_err(open)?), path)?;
        let (mut checkpoint, mut end) = (None, reader.offset());
        let (mut count, mut before, mut trouble) = (Count::default(), 0, None);
        let whole = loop {
            let (whole, number) = (reader.offset(), reader.number() + 1);
            let (what, totals, is_checkpoint) = match reader.next() {
                Ok(Some(Item::Case(case))) => {
                    // A mistake behind the last checkpoint does not matter: these cases run again.
                    trouble = trouble.or_else(|| count.case(&case).err());
                    continue;
                }
                Ok(Some(Item::Checkpoint(totals))) => ("checkpoint", *totals, true),
                Ok(Some(Item::Summary(summary))) => ("summary", summary.totals, false),
                Ok(None) => break whole,
                Err(Error::Line { path, number, cause }) => {
                    if reader.is_at_end()? {
                        break whole;
                    }
                    return Err(Error::Damaged { path, number, cause });
                }
                Err(error) => return Err(error),
            };
            let wrong = trouble.take();
            let what = format!("the {what} in line {number}");
            let checked = wrong.map_or_else(|| count.check(&what, &totals), Err);
            checked.map_err(|cause| Error::Miscounted { path: path.to_owned(), cause })?;
            if is_checkpoint {
                (checkpoint, end, before) = (Some(totals), reader.offset(), count.cases());
            }
        };
        let header = reader.header().clone();
        let cases = count.cases() - before;
        Ok(Self { path: path.to_owned(), file, header, checkpoint, end, cases, whole })
    }

    /// What was run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The totals of the last checkpoint, of a run whose strategies have these names. Empty if there is none.
    pub fn totals(&self, library: &'static Library, strategies: &[String]) -> Result<Totals, Error> {
        let unknown = |cause| Error::UnknownName { path: self.path.clone(), cause };
        match &self.checkpoint {
            Some(checkpoint) => checkpoint.totals(library, strategies).map_err(unknown),
            None => Ok(Totals::new(library, strategies.len())),
        }
    }

    /// The outcomes of the cases before the last checkpoint, of a run whose strategies have these names.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it has a name that this program's spec does not have.
    pub fn run_outcomes(
        &self,
        library: &'static Library,
        strategies: &[String],
    ) -> Result<RunOutcomes, Error> {
        let read = |cause| Error::Read { path: self.path.clone(), cause };
        let unknown = |cause| Error::UnknownName { path: self.path.clone(), cause };
        let mut file = self.file.try_clone().map_err(read)?;
        file.seek(SeekFrom::Start(0)).map_err(read)?;
        let mut reader = Reader::new(Box::new(file.take(self.end)), &self.path)?;
        let level = self.header.feature_level().map_err(unknown)?;
        let names = Names { library, strategies };
        let mut run_outcomes = RunOutcomes::default();
        while let Some(item) = reader.next()? {
            let Item::Case(case) = item else { continue };
            match Witness::read(&case, names, level, false).map_err(unknown)? {
                Witness::Passed(_) => run_outcomes.add(&[case.index], Vec::new()),
                Witness::Failed(found, _) => run_outcomes.add(&[], vec![*found]),
                Witness::Nothing | Witness::TooMany => {}
            }
        }
        Ok(run_outcomes)
    }

    /// Continues behind the last checkpoint. The lines there stay until the same number of cases ran again,
    /// so that a failed run leaves no fewer cases than before.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn resume(mut self, library: &'static Library, strategies: Vec<String>) -> Result<Writer, Error> {
        let read = |cause| Error::Read { path: self.path.clone(), cause };
        let length = self.whole - self.end;
        let mut old = OldLines::default();
        if length <= MOST_KEPT {
            self.file.seek(SeekFrom::Start(self.end)).map_err(read)?;
            (&self.file).take(length).read_to_end(&mut old.text).map_err(read)?;
            old.cases = self.cases;
        }
        self.file.seek(SeekFrom::Start(self.end)).map_err(read)?;
        Ok(Writer::new(self.file, &self.path, true, self.end, library, strategies)?.over(old))
    }
}
