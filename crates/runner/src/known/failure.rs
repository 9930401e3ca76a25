//! The content of an entry of a list.

use super::Kind;
use crate::Class;

/// The content of an entry, except the selector of its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The file that contains it.
    pub file: String,
    /// Its id.
    pub id: String,
    /// The suites whose complete runs show whether it is still true.
    pub suites: Vec<String>,
    /// A description of its cases: the predicate, or the number of listed cases.
    pub cases: String,
    /// The class of their failure.
    pub signature: Class,
    /// The kind of cause.
    pub kind: Kind,
    /// Why they fail.
    pub reason: String,
    /// The address of an issue about it.
    pub link: Option<String>,
}
