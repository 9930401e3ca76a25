//! Suites: named recipes in YAML, embedded in the program or read from a file.

mod check;
mod form;

use std::sync::Arc;

use dmlcts_case_files::SUITES;
use dmlcts_spec::{
    FileError, Library, LoadError, Source, read_file,
    yaml::{self, Document, Place},
};

pub(crate) use check::CheckedPart;
pub use form::{BoundForm, Cross, FillForm, PartForm, RanksForm, Strategy, SuiteForm};

/// A suite as it was written. [`Suite::expand`] applies it to a spec.
#[derive(Debug, Clone)]
pub struct Suite {
    document: Arc<Document<SuiteForm>>,
    source: Source,
}

/// The reason why a suite could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// No embedded suite has this name.
    #[error("there is no suite `{name}`; name one of {known}, or the path of a YAML file")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of the embedded suites.
        known: String,
    },
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not a suite, or uses names that the spec does not have.
    #[error(transparent)]
    Mistakes(#[from] LoadError),
}

impl Suite {
    /// The names of the embedded suites.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SUITES.iter().map(|suite| suite.0)
    }

    /// The embedded suite with this name, or the suite in the file at this path. A name with a dot or a slash
    /// is a path.
    pub fn load(name: &str) -> Result<Self, SuiteError> {
        if let Some((_, text)) = SUITES.iter().find(|suite| suite.0 == name) {
            return Ok(Self::parse(&Source::new(format!("cases/suites/{name}.yaml"), *text))?);
        }
        if !name.contains(['.', '/', '\\']) {
            let known: Vec<_> = Self::names().collect();
            return Err(SuiteError::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        Ok(Self::parse(&read_file(name)?)?)
    }

    /// A suite from its text.
    pub fn parse(source: &Source) -> Result<Self, LoadError> {
        Ok(Self { document: Arc::new(yaml::read(source)?), source: source.clone() })
    }

    /// The suite's name.
    pub fn name(&self) -> &str {
        &self.document.value.suite
    }

    /// The purpose of the suite.
    pub fn purpose(&self) -> &str {
        self.document.value.purpose.trim()
    }

    /// The YAML form of the suite.
    pub fn form(&self) -> &SuiteForm {
        &self.document.value
    }

    /// The place of the whole form, for mistakes.
    pub(crate) fn place(&self) -> Place<'_> {
        self.document.root()
    }

    /// The source text of the suite.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Checks the parts against a spec.
    pub(crate) fn check<'lib>(&self, library: &'lib Library) -> Result<Vec<CheckedPart<'lib>>, LoadError> {
        let mut wrong = Vec::new();
        let parts = check::check(&self.document, library, &mut wrong);
        LoadError::check(wrong)?;
        Ok(parts)
    }
}
