//! Going on with a run that was cut off, from the last checkpoint of its results file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use dmlcts_runner::Totals;
use dmlcts_spec::Library;

use crate::{
    Error, Header, Item, Reader, TotalsForm, Writer, check_name,
    count::Count,
    write::{Behind, lock},
};

/// As many bytes behind the last checkpoint are held in memory until they stand in the file anew. Checkpoints come four times a
/// second, in which no run writes as much.
const MOST_KEPT: u64 = 64 << 20;

/// A results file to go on with. It is not touched before [`Unfinished::go_on`].
#[derive(Debug)]
pub struct Unfinished {
    path: String,
    file: File,
    header: Header,
    /// What the last checkpoint says, and where it ends; where there is none, where the header ends.
    checkpoint: Option<TotalsForm>,
    end: u64,
    /// The cases behind it, and where the last whole line ends.
    behind: u64,
    whole: u64,
}

impl Unfinished {
    /// Opens and locks a file, finds the last checkpoint, and sees to it that the cases before it are there.
    ///
    /// # Errors
    ///
    /// Where there is no results file, it does not add up, or a line of it is damaged that is not the last one: only the last one can a kill
    /// have torn, and what stands behind another is not thrown away for it.
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
                    // What is wrong behind the last checkpoint is run again, and does not matter.
                    trouble = trouble.or_else(|| count.case(&case).err());
                    continue;
                }
                Ok(Some(Item::Checkpoint(totals))) => ("checkpoint", *totals, true),
                Ok(Some(Item::Summary(summary))) => ("summary", summary.totals, false),
                // As far as it is whole: the last line is what a kill tears.
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
            checked.map_err(|cause| Error::Uncounted { path: path.to_owned(), cause })?;
            if is_checkpoint {
                (checkpoint, end, before) = (Some(totals), reader.offset(), count.cases());
            }
        };
        let header = reader.header().clone();
        let behind = count.cases() - before;
        Ok(Self { path: path.to_owned(), file, header, checkpoint, end, behind, whole })
    }

    /// What was run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the cases came to up to the last checkpoint, of a run whose strategies have these names. Nothing, where there is none.
    pub fn totals(&self, library: &'static Library, strategies: &[String]) -> Result<Totals, Error> {
        let strange = |cause| Error::Strange { path: self.path.clone(), cause };
        match &self.checkpoint {
            Some(checkpoint) => checkpoint.totals(library, strategies).map_err(strange),
            None => Ok(Totals::new(library, strategies.len())),
        }
    }

    /// Writes on behind the last checkpoint. What stands there stays until there are as many cases anew, so that a run that
    /// cannot go on leaves no fewer than it found.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn go_on(mut self, library: &'static Library, strategies: Vec<String>) -> Result<Writer, Error> {
        let read = |cause| Error::Read { path: self.path.clone(), cause };
        let length = self.whole - self.end;
        let mut behind = Behind::default();
        if length <= MOST_KEPT {
            self.file.seek(SeekFrom::Start(self.end)).map_err(read)?;
            (&self.file).take(length).read_to_end(&mut behind.lines).map_err(read)?;
            behind.cases = self.behind;
        }
        self.file.seek(SeekFrom::Start(self.end)).map_err(read)?;
        Ok(Writer::new(self.file, &self.path, true, self.end, library, strategies)?.over(behind))
    }
}
