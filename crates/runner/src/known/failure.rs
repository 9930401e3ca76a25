//! What an entry of a list says.

use super::Kind;
use crate::Class;

/// What an entry says, but for how it finds its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The file that it stands in.
    pub file: String,
    /// Its id.
    pub id: String,
    /// The suites that say whether it is still true.
    pub suites: Vec<String>,
    /// Its cases in words: the predicate, or how many are listed.
    pub cases: String,
    /// In which way they fail.
    pub signature: Class,
    /// Whose matter it is.
    pub kind: Kind,
    /// Why they fail.
    pub reason: String,
    /// Where it is followed up.
    pub link: Option<String>,
}
