//! Why a backend cannot be opened.

use crate::process::StartError;

/// Why a backend could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Its process did not start, or is not a backend.
    #[error(transparent)]
    Process(#[from] StartError),
    /// The backend's own reason, such as a missing GPU.
    #[error("{0}")]
    Own(String),
    /// Its declaration makes no sense.
    #[error("{0}")]
    Declaration(String),
}

impl From<String> for OpenError {
    fn from(reason: String) -> Self {
        Self::Own(reason)
    }
}
