//! Writing a results file while a run goes on.
//!
//! Whatever ends the program, the file is whole up to the last line that was written: a chunk's lines go out in few pieces,
//! and where one does not fit, what was written of it is taken back. How much of it may not be on the disk yet is `durable`'s matter. Lines of cases that just passed are nearly all there is, so that they are put together by hand; everything else is left to serde.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::Instant,
};

use dmlcts_runner::{CaseResult, CaseResults, Group, Summary, Totals};
use dmlcts_spec::{Library, Obligation};

use crate::{
    CaseForm, Error, Header, Line, StatementForm, SummaryForm, TotalsForm, UNSYNCED, check_name,
    convert::Names,
    durable::{Durable, sync_name},
};

/// Checkpoints take at most one part in so many of a run's time: a slow run has one behind each chunk, and a fast one behind some of them.
const CHECKPOINT_SHARE: u32 = 100;

/// Lines that are copied are handed to the system when they are so many bytes.
const COPIED: usize = 1 << 20;

/// A results file that is being written, and that nobody else can write meanwhile.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: String,
    /// Keeps it on the disk; `None` where it is a pipe or a device, which can be neither cut nor synced.
    durable: Option<Durable>,
    library: &'static Library,
    strategies: Vec<String>,
    /// Whether the file was made for this run.
    is_new: bool,
    /// As much of the file as is whole.
    length: u64,
    buffer: Vec<u8>,
    /// The lines in the buffer.
    lines: u64,
    /// When a checkpoint may follow.
    checkpoint: Instant,
    /// Whether there are cases behind the last one.
    is_owed: bool,
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
        // Not to be read: whoever reads a pipe that he writes to is never told that nobody else does.
        let mut options = OpenOptions::new();
        options.write(true);
        let (file, is_new) = match options.create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(_) => {
                (options.create_new(false).create(true).truncate(false).open(path).map_err(open)?, false)
            }
        };
        let about = file.metadata().map_err(open)?;
        lock(&file, path)?;
        // Asked again: the run that held the lock may have written since.
        let length = file.metadata().map_err(open)?.len();
        if about.is_file() && length > 0 && !overwrite {
            return Err(Error::Exists { path: path.to_owned() });
        }
        let mut writer = Self::new(file, path, about.is_file(), 0, library, strategies)?;
        writer.is_new = is_new;
        Ok(writer)
    }

    /// A writer that goes on behind so many bytes of a locked file.
    pub(crate) fn new(
        file: File,
        path: &str,
        is_regular: bool,
        length: u64,
        library: &'static Library,
        strategies: Vec<String>,
    ) -> Result<Self, Error> {
        let (path, checkpoint) = (path.to_owned(), Instant::now());
        let (buffer, lines, is_owed, behind) = (Vec::new(), 0, false, None);
        let start = || file.try_clone().and_then(|file| Durable::start(move || file.sync_data()));
        let durable = is_regular.then(start).transpose();
        let durable = durable.map_err(|cause| Error::Write { path: path.clone(), cause })?;
        Ok(Self {
            file,
            path,
            durable,
            library,
            strategies,
            is_new: false,
            length,
            buffer,
            lines,
            checkpoint,
            is_owed,
            behind,
        })
    }

    /// The same, where this stands behind the bytes that are gone on from.
    pub(crate) fn over(mut self, behind: Behind) -> Self {
        self.behind = Some(behind);
        self
    }

    /// Cuts off what is behind the part that is kept: everything, of a file that is written over.
    pub(crate) fn cut(&mut self) -> Result<(), Error> {
        if self.durable.is_none() {
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
        self.sync()?;
        if self.durable.is_some() {
            sync_name(Path::new(&self.path));
        }
        Ok(())
    }

    /// Writes what became of some cases, and a checkpoint where one is due and there are totals to go on from. Waits while more lines than
    /// [`UNSYNCED`] would not be on the disk.
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
                    self.lines += 1;
                }
            }
        }
        self.is_owed = true;
        if let Some(behind) = &mut self.behind {
            behind.cases = behind.cases.saturating_sub(cases.len() as u64);
        }
        let now = Instant::now();
        // One between cases that stand in the file already would be the end of those behind it.
        if let Some(totals) = totals.filter(|_| now >= self.checkpoint && !self.repeats()) {
            self.push_checkpoint(totals, groups, now);
        }
        self.flush_enough()
    }

    /// Whether what is written stands behind the place where the file is gone on with, as far as anybody knows.
    fn repeats(&self) -> bool {
        self.behind.as_ref().is_some_and(|behind| behind.cases > 0)
    }

    /// Writes the checkpoint that was not due yet when the last cases were written, since nobody knows when the next ones will be.
    pub fn pause(&mut self, totals: &Totals, groups: &[Group]) -> Result<(), Error> {
        if !self.is_owed {
            return Ok(());
        }
        self.push_checkpoint(totals, groups, Instant::now());
        self.flush_enough()
    }

    /// Hands everything to the system, but not before there is as much as stands behind the place where the file is gone on with.
    fn flush_enough(&mut self) -> Result<(), Error> {
        if self.repeats() { Ok(()) } else { self.flush() }
    }

    fn push_checkpoint(&mut self, totals: &Totals, groups: &[Group], now: Instant) {
        let totals = TotalsForm::new(totals, groups, self.names());
        self.push(&Line::Checkpoint(Box::new(totals)));
        self.checkpoint = now + CHECKPOINT_SHARE * now.elapsed();
        self.is_owed = false;
    }

    /// Writes a line that another file has, with its end. Nobody waits for it to be on the disk before the last line is, since the other
    /// file still has it.
    pub fn copy(&mut self, line: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(line);
        if self.buffer.len() >= COPIED { self.put(self.buffer.len()) } else { Ok(()) }
    }

    /// Writes the last line of a run that the program ends with this exit code after, with what it says of a profile. Where every case that was looked at is
    /// below the next one, a checkpoint precedes it, so that a run that ended early can go on.
    pub fn finish(
        &mut self,
        summary: &Summary,
        exit_code: u8,
        statement: Option<StatementForm>,
    ) -> Result<(), Error> {
        if self.durable.is_some() && !has_name(&self.file, &self.path) {
            return Err(Error::TakenAway { path: self.path.clone() });
        }
        let totals = TotalsForm::new(&summary.totals, &summary.groups, self.names());
        let (obligations_met, obligations) = obligations(self.library, summary);
        if totals.next == totals.read {
            self.push(&Line::Checkpoint(Box::new(totals.clone())));
        }
        self.push(&Line::Summary(Box::new(SummaryForm {
            ending: summary.ending,
            exit_code,
            lost: summary.lost.clone(),
            bad_end: summary.bad_end.clone(),
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
        self.lines += 1;
    }

    fn push(&mut self, line: &Line<'_>) {
        push(&mut self.buffer, line);
        self.lines += 1;
    }

    /// Hands everything to the system, in pieces that the disk must have taken before there are many more.
    fn flush(&mut self) -> Result<(), Error> {
        if let Some(behind) = self.behind.take() {
            return self.flush_over(&behind.lines);
        }
        while !self.buffer.is_empty() {
            let (bytes, lines) = if self.lines <= UNSYNCED {
                (self.buffer.len(), self.lines)
            } else {
                (length_of_lines(&self.buffer, UNSYNCED), UNSYNCED)
            };
            if let Some(durable) = &self.durable {
                durable.make_room(lines).map_err(|cause| self.unsynced(cause))?;
            }
            self.put(bytes)?;
            self.lines -= lines;
            if let Some(durable) = &self.durable {
                durable.wrote(lines);
            }
        }
        Ok(())
    }

    /// The same, where these lines stand behind the part that is whole. Those that are the same anew stay where they are; what differs is
    /// cut off for good before anything else takes its place, since a power cut would leave a mixture of both.
    fn flush_over(&mut self, old: &[u8]) -> Result<(), Error> {
        let start = self.length;
        let (same, lines) = same_lines(&self.buffer, old);
        if same < old.len() {
            self.try_end(old)?;
        }
        self.buffer.drain(..same);
        self.lines -= lines;
        self.length += same as u64;
        let written = self.cut().and_then(|()| self.sync()).and_then(|()| self.flush());
        if written.is_err() && same < old.len() {
            self.length = start;
            // The first error is the one that tells.
            let _ = self.restore(old);
        }
        written
    }

    /// Hands so many bytes to the system. What it takes only a part of is taken back.
    fn put(&mut self, bytes: usize) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer[..bytes]);
        self.buffer.drain(..bytes);
        if let Err(cause) = written {
            (self.buffer, self.lines) = (Vec::new(), 0);
            // The first error is the one that tells.
            let _ = self.cut();
            return Err(self.failed(cause));
        }
        self.length += bytes as u64;
        Ok(())
    }

    /// Writes the last byte of what stands behind the part that is whole where it stands. If that fails, as beyond the size that a file may
    /// have, the lines could not be put back, and so they are not cut off.
    fn try_end(&mut self, lines: &[u8]) -> Result<(), Error> {
        let Some((last, before)) = lines.split_last() else { return Ok(()) };
        let place = SeekFrom::Start(self.length + before.len() as u64);
        let written = self.file.seek(place).and_then(|_| self.file.write_all(&[*last]));
        written.map_err(|cause| {
            (self.buffer, self.lines) = (Vec::new(), 0);
            self.failed(cause)
        })
    }

    /// Puts back what stood behind the part that is whole. It takes no room that was not taken before.
    fn restore(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.set_len(self.length + lines.len() as u64)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(lines)
    }

    /// Waits until all of it is on the disk.
    fn sync(&self) -> Result<(), Error> {
        let Some(durable) = &self.durable else { return Ok(()) };
        durable.wrote(0);
        durable.wait().map_err(|cause| self.unsynced(cause))
    }

    fn unsynced(&self, cause: io::Error) -> Error {
        Error::Sync { path: self.path.clone(), cause }
    }

    fn failed(&self, cause: io::Error) -> Error {
        Error::Write { path: self.path.clone(), cause }
    }
}

impl Drop for Writer {
    /// Removes a file that was made for a run which never began, so that nothing was written to it.
    fn drop(&mut self) {
        let is_empty = || self.file.metadata().is_ok_and(|about| about.is_file() && about.len() == 0);
        if self.is_new && is_empty() && has_name(&self.file, &self.path) {
            // Where it cannot be removed, it stays, and is written over by the next run.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a file against other runs. Where files cannot be locked at all, nobody is kept out.
pub(crate) fn lock(file: &File, path: &str) -> Result<(), Error> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether a file is the one that has this name.
#[cfg(unix)]
fn has_name(file: &File, path: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |about: fs::Metadata| (about.dev(), about.ino());
    let named = fs::metadata(path).map(place);
    named.is_ok_and(|named| file.metadata().map(place).is_ok_and(|own| own == named))
}

/// The same, as far as can be known here.
#[cfg(not(unix))]
fn has_name(_: &File, path: &str) -> bool {
    fs::metadata(path).is_ok()
}

/// How many bytes the first lines have, which are so many at most.
fn length_of_lines(text: &[u8], lines: u64) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').zip(0..lines).map(|(line, _)| line.len()).sum()
}

/// How many bytes the lines have that two texts begin with, and how many lines they are.
fn same_lines(one: &[u8], other: &[u8]) -> (usize, u64) {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    let same = lines(one).zip(lines(other)).take_while(|(one, other)| one == other);
    same.fold((0, 0), |(bytes, count), (line, _)| (bytes + line.len(), count + 1))
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex, PoisonError},
        time::Duration,
    };

    use dmlcts_runner::Verdict;
    use dmlcts_tests::Scratch;

    use super::*;

    fn writer(path: &str) -> Writer {
        Writer::create(path, true, Library::embedded(), Vec::new()).expect("it can be made")
    }

    fn lines_of(path: &str) -> u64 {
        fs::read_to_string(path).expect("it is there").matches('\n').count() as u64
    }

    /// A chunk of a wide backend has more lines than may be lost.
    #[test]
    fn a_chunk_is_written_no_faster_than_the_disk_takes_it() {
        let file = Scratch::nothing("pieces.jsonl");
        let mut writer = writer(file.path());
        let syncs = Arc::new(Mutex::new(Vec::new()));
        let (theirs, path) = (Arc::clone(&syncs), file.path().to_owned());
        let sync = move || {
            theirs.lock().unwrap_or_else(PoisonError::into_inner).push(lines_of(&path));
            Ok(())
        };
        writer.durable = Some(Durable::start(sync).expect("a thread can be started"));
        for chunk in [384, 5 * UNSYNCED + 7, 384, UNSYNCED] {
            for index in 0..chunk {
                let case = CaseForm::in_short(index, "", Verdict::Pass);
                writer.push(&Line::Case(Box::new(case)));
            }
            writer.flush().expect("it can be written");
        }
        writer.sync().expect("it can be synced");
        drop(writer);
        let syncs = syncs.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, last) = (lines_of(file.path()), syncs.last().copied());
        assert_eq!((all, last), (6 * UNSYNCED + 2 * 384 + 7, Some(all)));
        // What stood there when a sync began is on the disk before the next one begins.
        let most =
            syncs.iter().zip(std::iter::once(&0).chain(&*syncs)).map(|(now, before)| now - before).max();
        assert!(most.is_some_and(|most| most <= UNSYNCED), "{syncs:?}");
    }

    #[test]
    fn a_sync_that_fails_ends_the_record_with_its_cause() {
        let file = Scratch::nothing("broken.jsonl");
        let mut writer = writer(file.path());
        let broken = Durable::start(|| Err(io::Error::other("the disk is gone")));
        writer.durable = Some(broken.expect("a thread can be started"));
        writer.push(&Line::Case(Box::new(CaseForm::in_short(0, "", Verdict::Pass))));
        let failed = writer.flush().and_then(|()| writer.sync()).expect_err("it cannot be synced");
        assert!(failed.is_machine());
        assert_eq!(
            failed.to_string(),
            format!(
                "the disk did not take the results file {}: the disk is gone; of its last cases, up to 8192 may be damaged or missing",
                file.path()
            )
        );
    }

    /// Checkpoints cost a fast run little, and a run that has to wait has one behind its last case.
    #[test]
    fn a_checkpoint_that_was_not_due_follows_when_the_run_pauses() {
        let file = Scratch::nothing("owed.jsonl");
        let mut writer = writer(file.path());
        let totals = Totals::new(Library::embedded(), 0);
        let checkpoints =
            || fs::read_to_string(file.path()).expect("it is there").matches("{\"checkpoint\"").count();
        let mut at = |due: Instant, pauses: usize| {
            writer.checkpoint = due;
            writer.cases(&CaseResults::default(), Some(&totals), &[]).expect("it can be written");
            (0..pauses).for_each(|_| writer.pause(&totals, &[]).expect("it can be written"));
            checkpoints()
        };
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(1 << 20));
        assert_eq!(at(now, 0), 1, "a slow run has one behind each chunk");
        assert_eq!((at(later, 0), at(later, 1), at(later, 2)), (1, 2, 3), "and one is enough");
        assert_eq!(at(now, 2), 4);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_never_synced() {
        assert!(writer("/dev/null").durable.is_none());
    }
}
