//! A ledger's file. Mistakes are reported with their locations, a write replaces the whole file, and a file
//! that is no ledger is left alone.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use dmlcts_spec::{
    FileError, FileReason, LoadError, Source, read_file,
    yaml::{self, Document, LARGEST_FILE},
};

use super::{LedgerEntry, LedgerForm, LedgerNews};
use crate::{FileLock, prepare_to_replace, replace};

/// An error of a ledger's file.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// It is no ledger, or it has mistakes.
    #[error("{0}")]
    Load(#[from] LoadError),
    /// It is a results file.
    #[error("{path} is a results file, and no ledger")]
    Results {
        /// Its name.
        path: String,
    },
    /// It is no regular file, but a folder or a device.
    #[error("{path} is no file")]
    NoFile {
        /// Its name.
        path: String,
    },
    /// No file can be created beside it.
    #[error("cannot write into the folder of the ledger {path}: {cause}")]
    Folder {
        /// The ledger.
        path: String,
        /// The cause.
        cause: io::Error,
    },
    /// It could not be written after the run.
    #[error("cannot write the ledger {path}: {cause}; it is as it was")]
    Write {
        /// The ledger.
        path: String,
        /// The cause.
        cause: String,
    },
}

impl LedgerError {
    /// The remedy.
    pub fn help(&self) -> &'static str {
        match self {
            Self::File(FileError { reason: FileReason::TooLarge, .. }) => {
                "a ledger is far smaller: name the one that `--ledger` of `run` or `merge` wrote"
            }
            Self::File(error) => error.help(),
            Self::Results { .. } => {
                "`dmlcts merge` makes a ledger of it: dmlcts merge run.jsonl --ledger answers.yaml; `dmlcts ledger answers.yaml` shows that"
            }
            Self::Load(_) => "mend it, or name another file for the ledger: it was left as it is",
            Self::NoFile { .. } | Self::Folder { .. } => {
                "name a file in a folder that exists, and that you may write to"
            }
            Self::Write { .. } => {
                "make room, and run it again, or join its results file by `dmlcts merge --ledger`"
            }
        }
    }

    /// Whether the machine failed, and the user's input is right.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Write { .. })
    }
}

/// A ledger in a file.
#[derive(Debug)]
pub struct Ledger {
    /// Its path, with links resolved.
    path: PathBuf,
    /// Its current text; empty if there is no file yet.
    text: String,
    form: LedgerForm,
}

impl Ledger {
    /// Reads an existing ledger.
    pub fn read(name: &str) -> Result<Self, LedgerError> {
        if is_results(name) {
            return Err(LedgerError::Results { path: name.to_owned() });
        }
        let source = read_file(name)?;
        let form = if source.text.is_empty() { LedgerForm::default() } else { parse(&source)? };
        let path = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        Ok(Self { path, text: source.text, form })
    }

    /// Reads a ledger, which is empty if there is no file yet.
    pub fn open(name: &str) -> Result<Self, LedgerError> {
        // A pipe may have no end, and a write would replace it with a file.
        if fs::metadata(name).is_ok_and(|about| !about.is_file()) {
            return Err(LedgerError::NoFile { path: name.to_owned() });
        }
        match Self::read(name) {
            Err(LedgerError::File(FileError { reason: FileReason::System(error), .. }))
                if error.kind() == io::ErrorKind::NotFound =>
            {
                let (path, form) = (PathBuf::from(name), LedgerForm::default());
                Ok(Self { path, text: String::new(), form })
            }
            read => read,
        }
    }

    /// Reads a ledger before a run, and makes sure that it can be written after the run.
    pub fn prepare(name: &str) -> Result<(), LedgerError> {
        let ledger = Self::open(name)?;
        prepare_to_replace(&ledger.path).map_err(|cause| LedgerError::Folder { path: name.to_owned(), cause })
    }

    /// Its contents.
    pub fn form(&self) -> &LedgerForm {
        &self.form
    }

    /// Compares a run with the current file, and enters it. The file is locked meanwhile: entries of other
    /// runs stay, and a concurrent run waits.
    pub fn record(name: &str, run: LedgerEntry, is_complete: bool) -> Result<LedgerNews, LedgerError> {
        let failed = |cause: String| LedgerError::Write { path: name.to_owned(), cause };
        let _lock = FileLock::acquire(Path::new(name));
        let mut ledger = Self::open(name).map_err(|error| failed(error.to_string()))?;
        let news = ledger.form.record(name, run, is_complete);
        ledger.write().map_err(failed)?;
        Ok(news)
    }

    /// Replaces the file with the current contents.
    fn write(&self) -> Result<(), String> {
        let text = self.form.to_yaml(&self.text);
        if text == self.text {
            return Ok(());
        }
        if text.len() > LARGEST_FILE {
            return Err(format!("it would have more than {LARGEST_FILE} bytes: take entries out of it"));
        }
        replace(&self.path, text.as_bytes()).map_err(|error| error.to_string())
    }
}

/// Whether a file begins like a results file. Such a file may be larger than a ledger may be, so only its
/// start is read.
fn is_results(name: &str) -> bool {
    const HEAD: &[u8] = br#"{"header":"#;
    let mut head = Vec::new();
    // A pipe could not be read again. Errors of the file are reported when it is read as a ledger.
    let file = fs::metadata(name).is_ok_and(|about| about.is_file()).then(|| fs::File::open(name));
    let read = file.and_then(Result::ok).map(|file| file.take(HEAD.len() as u64).read_to_end(&mut head));
    read.is_some_and(|read| read.is_ok()) && head == HEAD
}

/// Parses a ledger's text, or reports all its mistakes.
pub(crate) fn parse(source: &Source) -> Result<LedgerForm, LoadError> {
    let document: Document<LedgerForm> = yaml::read(source)?;
    let mut wrong = Vec::new();
    let form = &document.value;
    for (at, entry) in form.backends.iter().enumerate() {
        let place = document.root().key("backends").index(at);
        if form.backends[..at].iter().any(|other| other.key() == entry.key()) {
            let label = "the second: name, device, driver and suite are those of another entry";
            wrong.push(place.key("name").mistake("two entries are of the same backend", label));
        }
        for (at, question) in entry.questions.iter().enumerate() {
            let place = place.key("questions").index(at);
            if entry.questions[..at].iter().any(|other| other.question == question.question) {
                let message = format!("the question `{}` stands there twice", question.question);
                wrong.push(place.key("question").mistake(message, "the second"));
            }
            for (at, answer) in question.answers.iter().enumerate() {
                let place = place.key("answers").index(at).key("answer");
                let name = answer.answer.as_str();
                if question.answers[..at].iter().any(|other| other.answer == name) {
                    wrong
                        .push(place.mistake(format!("the answer `{name}` stands there twice"), "the second"));
                } else if !["reject", "accept", "semantics"].contains(&name) && !name.starts_with("reads ") {
                    let label = "expected reject, accept, semantics or `reads` with an expression";
                    wrong.push(place.mistake(format!("`{name}` is no answer"), label));
                }
            }
        }
    }
    LoadError::check(wrong)?;
    let mut form = document.value;
    form.backends.sort_by(|one, other| one.key().cmp(&other.key()));
    for entry in &mut form.backends {
        entry.questions.sort_by(|one, other| one.question.cmp(&other.question));
    }
    Ok(form)
}
