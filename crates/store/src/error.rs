use std::io;

use dmlcts_spec::LoadError;

/// Why a folder of findings cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Files have mistakes.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file or the folder cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// The path.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be written. It is as it was before.
    #[error("cannot write {path}: {cause}; the file is as it was")]
    Write {
        /// The path.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// There is no folder.
    #[error("there is no folder {path}")]
    None {
        /// The path.
        path: String,
    },
    /// A file is a link.
    #[error("{path} is a symbolic link; what a stranger may have put there is not followed")]
    Link {
        /// The path.
        path: String,
    },
    /// The position of a campaign has mistakes.
    #[error("{path} is no position of a campaign: {cause}")]
    Position {
        /// The path.
        path: String,
        /// Why.
        cause: String,
    },
    /// The folder holds the folders of backends.
    #[error("{path} holds folders and no finding")]
    Folders {
        /// The path.
        path: String,
        /// The name of one of its folders.
        one: String,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Load(_) => "correct the file, or restore it from version control".to_owned(),
            Self::Read { .. } => "name a folder that you may read".to_owned(),
            Self::Write { .. } => "make room, or name a folder that you may write to".to_owned(),
            Self::None { path } => {
                format!("`--accept` makes it from a run: dmlcts run --findings {path} --accept")
            }
            Self::Position { path, .. } => format!("remove {path}, and the campaign begins anew"),
            Self::Link { .. } => "remove the link, or put the file itself in its place".to_owned(),
            Self::Folders { path, one } => format!("name the folder of one backend, such as {path}/{one}"),
        }
    }
}
