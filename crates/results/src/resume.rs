//! Going on with a run that was cut off, from the last checkpoint of its results file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Seek as _, SeekFrom},
};

use dmlcts_runner::Totals;
use dmlcts_spec::Library;

use crate::{Error, Header, Reader, TotalsForm, Writer, write::lock};

/// A results file to go on with. It is not touched before [`Unfinished::go_on`].
#[derive(Debug)]
pub struct Unfinished {
    path: String,
    file: File,
    header: Header,
    /// What the last checkpoint says, and where it ends; where there is none, where the header ends.
    checkpoint: Option<TotalsForm>,
    end: u64,
}

impl Unfinished {
    /// Opens and locks a file, and finds the last checkpoint.
    pub fn open(path: &str) -> Result<Self, Error> {
        let open = |cause| Error::Open { path: path.to_owned(), cause };
        let file = OpenOptions::new().read(true).write(true).open(path);
        let mut file = file.map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
            _ => open(cause),
        })?;
        lock(&file, path)?;
        let mut reader = Reader::new(Box::new(file.try_clone().map_err(open)?), path)?;
        let (mut checkpoint, mut end) = (None, reader.offset());
        while let Some(next) = reader.next_checkpoint()? {
            checkpoint = Some(next);
            end = reader.offset();
        }
        let header = reader.header().clone();
        file.seek(SeekFrom::Start(end)).map_err(open)?;
        Ok(Self { path: path.to_owned(), file, header, checkpoint, end })
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

    /// Cuts off what stands behind the last checkpoint, and writes on from there.
    pub fn go_on(self, library: &'static Library, strategies: Vec<String>) -> Result<Writer, Error> {
        let mut writer = Writer::new(self.file, &self.path, true, self.end, library, strategies);
        writer.cut()?;
        Ok(writer)
    }
}
