//! Writes a results file while a run goes on.
//!
//! The file always ends with a complete line: a chunk is written in few pieces, and a piece that does not fit
//! is removed again. `durable` bounds the number of unsynced lines.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::Instant,
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_runner::{CaseResult, CaseResults, Group, Totals};
use dmlcts_spec::Library;

use crate::{
    CaseForm, Error, FindingForm, Header, Line, StatementForm, SummaryForm, TotalsForm, check_name,
    convert::Names,
    durable::{Durable, sync_name},
};

/// Checkpoints take at most one part in this number of a run's time.
const CHECKPOINT_SHARE: u32 = 100;

/// The number of bytes after which copied lines are written.
const COPIED: usize = 1 << 20;

/// A results file that is being written, and is locked meanwhile.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: String,
    /// `None` for pipes and devices, which can be neither truncated nor synced.
    durable: Option<Durable>,
    library: &'static Library,
    strategies: Vec<String>,
    /// Whether the file was made for this run.
    is_new: bool,
    /// The file's length up to the end of its last complete line, in bytes.
    length: u64,
    buffer: Vec<u8>,
    /// The number of lines in the buffer.
    lines: u64,
    /// When a checkpoint may follow.
    checkpoint: Instant,
    /// Whether there are cases behind the last checkpoint.
    lacks_checkpoint: bool,
    old: Option<OldLines>,
}

/// The lines behind the checkpoint from which a run is resumed. They stay until the same number of cases ran
/// again.
#[derive(Debug, Default)]
pub(crate) struct OldLines {
    /// The number of cases that did not run again yet.
    pub(crate) cases: u64,
    pub(crate) text: Vec<u8>,
}

impl Writer {
    /// Opens a file to record a run whose strategies have these names. If the file is not empty, `overwrite`
    /// lets [`Writer::header`] truncate it; otherwise that is an error.
    pub fn create(
        path: &str,
        overwrite: bool,
        library: &'static Library,
        strategies: Vec<String>,
    ) -> Result<Self, Error> {
        let open = |cause| Error::Open { path: path.to_owned(), cause };
        check_name(Path::new(path)).map_err(open)?;
        // Without read access, a write to a pipe fails once its reader is gone.
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
        // The run that held the lock may have written since `about`.
        let length = file.metadata().map_err(open)?.len();
        if about.is_file() && length > 0 && !overwrite {
            return Err(Error::Exists { path: path.to_owned() });
        }
        let mut writer = Self::new(file, path, about.is_file(), 0, library, strategies)?;
        writer.is_new = is_new;
        Ok(writer)
    }

    /// A writer that continues a locked file behind its first `length` bytes.
    pub(crate) fn new(
        file: File,
        path: &str,
        is_regular: bool,
        length: u64,
        library: &'static Library,
        strategies: Vec<String>,
    ) -> Result<Self, Error> {
        let path = path.to_owned();
        let start = || file.try_clone().map(|file| Durable::new(move || file.sync_data()));
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
            buffer: Vec::new(),
            lines: 0,
            checkpoint: Instant::now(),
            lacks_checkpoint: false,
            old: None,
        })
    }

    /// The same for a file that has these lines behind `length`.
    pub(crate) fn over(mut self, old: OldLines) -> Self {
        self.old = Some(old);
        self
    }

    /// Truncates the file behind its last complete line.
    fn cut(&mut self) -> Result<(), Error> {
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

    /// Writes some cases, and a checkpoint if one is due and there are totals to resume from.
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
        self.lacks_checkpoint = true;
        if let Some(old) = &mut self.old {
            old.cases = old.cases.saturating_sub(cases.len() as u64);
        }
        let now = Instant::now();
        // A checkpoint between old lines would end the part of them that stays in place.
        if let Some(totals) = totals.filter(|_| now >= self.checkpoint && !self.repeats()) {
            self.push_checkpoint(totals, groups, now);
        }
        self.flush_enough()
    }

    /// Whether the file has cases that did not run again yet.
    fn repeats(&self) -> bool {
        self.old.as_ref().is_some_and(|old| old.cases > 0)
    }

    /// Writes the checkpoint that the last cases lack, and syncs the file, while the run waits for its
    /// backend.
    pub fn pause(&mut self, totals: &Totals, groups: &[Group]) -> Result<(), Error> {
        if self.lacks_checkpoint {
            self.push_checkpoint(totals, groups, Instant::now());
            self.flush_enough()?;
        }
        self.durable.as_mut().map_or(Ok(()), Durable::sync_rest).map_err(|cause| self.unsynced(cause))
    }

    /// Writes the buffer, unless the file has cases that did not run again yet.
    fn flush_enough(&mut self) -> Result<(), Error> {
        if self.repeats() { Ok(()) } else { self.flush() }
    }

    fn push_checkpoint(&mut self, totals: &Totals, groups: &[Group], now: Instant) {
        let totals = TotalsForm::new(totals, groups, self.names());
        self.push(&Line::Checkpoint(Box::new(totals)));
        self.checkpoint = now + CHECKPOINT_SHARE * now.elapsed();
        self.lacks_checkpoint = false;
    }

    /// Writes a line of another file, with its line feed. Only [`Writer::finish`] syncs it: the other file
    /// has it.
    pub fn copy(&mut self, line: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(line);
        if self.buffer.len() >= COPIED { self.put(self.buffer.len()) } else { Ok(()) }
    }

    /// Writes the summary, with the program's exit code and the statement about a profile. A checkpoint
    /// precedes it if no case behind the next one ran, so that a run that ended early can be resumed.
    pub fn finish(
        &mut self,
        run: &Diagnosis,
        exit_code: u8,
        statement: Option<StatementForm>,
    ) -> Result<(), Error> {
        let summary = &run.summary;
        if self.durable.is_some() && !has_name(&self.file, &self.path) {
            return Err(Error::Removed { path: self.path.clone() });
        }
        let totals = TotalsForm::new(&summary.totals, &summary.groups, self.names());
        let [met, obligations] = summary.totals.coverage.count(self.library, summary.level);
        if totals.next == totals.read {
            self.push(&Line::Checkpoint(Box::new(totals.clone())));
        }
        self.push(&Line::Summary(Box::new(SummaryForm {
            ending: summary.ending,
            exit_code,
            lost: summary.lost.clone(),
            bad_end: summary.bad_end.clone(),
            abandoned: summary.abandoned.iter().map(|cases| (cases.start, cases.end)).collect(),
            cut: summary.cut.clone(),
            obligations_met: met as u64,
            obligations: obligations as u64,
            statement,
            totals,
            findings: run.findings.iter().map(FindingForm::new).collect(),
            left_out: run.left_out.clone(),
        })));
        self.flush()?;
        self.sync()
    }

    fn names(&self) -> Names<'_> {
        Names { library: self.library, strategies: &self.strategies }
    }

    /// The line of a case that passed, in the same form as serde's. Nearly all lines are such.
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

    /// Writes the buffer, in pieces between which the file is synced.
    fn flush(&mut self) -> Result<(), Error> {
        if let Some(old) = self.old.take() {
            return self.flush_over(&old.text);
        }
        while !self.buffer.is_empty() {
            let lines = self.durable.as_ref().map_or(self.lines, |durable| durable.room().min(self.lines));
            let all = lines == self.lines;
            self.put(if all { self.buffer.len() } else { length_of_lines(&self.buffer, lines) })?;
            self.lines -= lines;
            let synced = self.durable.as_mut().map_or(Ok(()), |durable| durable.wrote(lines));
            synced.map_err(|cause| self.unsynced(cause))?;
        }
        Ok(())
    }

    /// The same for a file with old lines behind `length`. Equal lines stay in place. The others are
    /// truncated and synced before new ones are written: a power cut must not leave a mixture of both.
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
            // The first error is the one to report.
            let _ = self.restore(old);
        }
        written
    }

    /// Writes the first bytes of the buffer. If that fails, the part that was written is removed.
    fn put(&mut self, bytes: usize) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer[..bytes]);
        self.buffer.drain(..bytes);
        if let Err(cause) = written {
            (self.buffer, self.lines) = (Vec::new(), 0);
            // The first error is the one to report.
            let _ = self.cut();
            return Err(self.failed(cause));
        }
        self.length += bytes as u64;
        Ok(())
    }

    /// Writes the last byte of the old lines in place. If that fails, as beyond the largest size of a file,
    /// the old lines could not be restored, so they must not be truncated.
    fn try_end(&mut self, lines: &[u8]) -> Result<(), Error> {
        let Some((last, before)) = lines.split_last() else { return Ok(()) };
        let place = SeekFrom::Start(self.length + before.len() as u64);
        let written = self.file.seek(place).and_then(|_| self.file.write_all(&[*last]));
        written.map_err(|cause| {
            (self.buffer, self.lines) = (Vec::new(), 0);
            self.failed(cause)
        })
    }

    /// Writes the old lines again. The file becomes no longer than it was.
    fn restore(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.set_len(self.length + lines.len() as u64)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(lines)
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.durable.as_mut().map_or(Ok(()), Durable::sync).map_err(|cause| self.unsynced(cause))
    }

    fn unsynced(&self, cause: io::Error) -> Error {
        Error::Sync { path: self.path.clone(), cause }
    }

    fn failed(&self, cause: io::Error) -> Error {
        Error::Write { path: self.path.clone(), cause }
    }
}

impl Drop for Writer {
    /// Removes a file that was created for a run that never began.
    fn drop(&mut self) {
        let is_empty = || self.file.metadata().is_ok_and(|about| about.is_file() && about.len() == 0);
        if self.is_new && is_empty() && has_name(&self.file, &self.path) {
            // An empty file does not hinder the next run.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a file against other runs, on file systems that have locks.
pub(crate) fn lock(file: &File, path: &str) -> Result<(), Error> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether the file still has this name.
#[cfg(unix)]
fn has_name(file: &File, path: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |about: fs::Metadata| (about.dev(), about.ino());
    let named = fs::metadata(path).map(place);
    named.is_ok_and(|named| file.metadata().map(place).is_ok_and(|own| own == named))
}

/// The standard library cannot compare files here.
#[cfg(not(unix))]
fn has_name(_: &File, path: &str) -> bool {
    fs::metadata(path).is_ok()
}

/// The length of the first `lines` lines in bytes.
fn length_of_lines(text: &[u8], lines: u64) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').zip(0..lines).map(|(line, _)| line.len()).sum()
}

/// The length in bytes and the number of the lines that both texts begin with.
fn same_lines(one: &[u8], other: &[u8]) -> (usize, u64) {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    let same = lines(one).zip(lines(other)).take_while(|(one, other)| one == other);
    same.fold((0, 0), |(bytes, count), (line, _)| (bytes + line.len(), count + 1))
}

/// Whether JSON needs no escapes for a line.
fn is_plain(line: &str) -> bool {
    // `fold` instead of `all`, since a loop without an early exit is vectorized.
    line.bytes().fold(true, |plain, byte| plain & matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~'))
}

fn push(buffer: &mut Vec<u8>, line: &Line<'_>) {
    // Every map has strings as keys, and writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *buffer, line);
    buffer.push(b'\n');
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
    use crate::UNSYNCED;

    fn writer(path: &str) -> Writer {
        Writer::create(path, true, Library::embedded(), Vec::new()).expect("it can be made")
    }

    fn lines_of(path: &str) -> u64 {
        fs::read_to_string(path).expect("it is there").matches('\n').count() as u64
    }

    #[test]
    fn a_chunk_of_more_lines_than_may_be_lost_is_synced_in_pieces() {
        let file = Scratch::nothing("pieces.jsonl");
        let mut writer = writer(file.path());
        let syncs = Arc::new(Mutex::new(Vec::new()));
        let (theirs, path) = (Arc::clone(&syncs), file.path().to_owned());
        let sync = move || {
            theirs.lock().unwrap_or_else(PoisonError::into_inner).push(lines_of(&path));
            Ok(())
        };
        writer.durable = Some(Durable::new(sync));
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
        let most =
            syncs.iter().zip(std::iter::once(&0).chain(&*syncs)).map(|(now, before)| now - before).max();
        assert!(most.is_some_and(|most| most <= UNSYNCED), "{syncs:?}");
    }

    #[test]
    fn a_sync_that_fails_ends_the_record_with_its_cause() {
        let file = Scratch::nothing("broken.jsonl");
        let mut writer = writer(file.path());
        writer.durable = Some(Durable::new(|| Err(io::Error::other("the disk is gone"))));
        writer.push(&Line::Case(Box::new(CaseForm::in_short(0, "", Verdict::Pass))));
        let failed = writer.flush().and_then(|()| writer.sync()).expect_err("it cannot be synced");
        assert!(failed.is_machine());
        assert_eq!(
            failed.to_string(),
            format!(
                "cannot sync the results file {} to the disk: the disk is gone; up to 8192 of its last cases may be damaged or missing",
                file.path()
            )
        );
    }

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
    fn only_files_are_synced() {
        assert!(writer("/dev/null").durable.is_none());
    }
}
