//! A name in a line that the spec of this program does not have.

/// A name that this program does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{name}` is unknown to this program")]
pub struct UnknownName {
    /// The kind of name that is expected.
    pub what: &'static str,
    /// The name, at most 100 characters of it.
    pub name: String,
}

impl UnknownName {
    pub(crate) fn new(what: &'static str, name: &str) -> Self {
        Self { what, name: name.chars().take(100).collect() }
    }
}
