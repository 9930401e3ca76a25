//! Why there is no backend to ask.

use crate::process::StartError;

/// Why a backend could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Its process did not start, or is no backend.
    #[error(transparent)]
    Process(#[from] StartError),
    /// It has a reason of its own, such as a GPU that is not there.
    #[error("{0}")]
    Own(String),
}

impl From<String> for OpenError {
    fn from(reason: String) -> Self {
        Self::Own(reason)
    }
}
