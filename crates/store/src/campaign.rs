//! How far a campaign has come, in the folder of its findings.

use std::{
    fs::{self, File},
    path::PathBuf,
};

use dmlcts_results::replace_entry;
use serde::{Deserialize, Serialize};

use crate::{
    Folder, StoreError,
    folder::{not_written, read, refuse_link},
};

/// The folder of the campaigns in a folder of findings.
const FOLDER: &str = ".campaign";

/// How far a campaign has come: the next command with the same cases goes on from here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The cases that it runs: suite, spec and filter. With other ones, a campaign begins anew.
    pub of: String,
    /// The number of times that all cases of the suite have run, each time with other random choices.
    pub lap: u64,
    /// The index of the next case of this lap.
    pub next: u64,
    /// The number of cases that ran in all.
    pub cases: u64,
    /// The time that they took, in seconds.
    pub seconds: u64,
    /// The part of that time that went into studying failures, in seconds.
    #[serde(default)]
    pub studied: u64,
    /// The number of findings that failed in the last command and that nobody accepted.
    #[serde(default)]
    pub new: u64,
    /// The number of known findings that failed in the last command.
    #[serde(default)]
    pub known: u64,
    /// The obligations of the spec that the cases of the last command met, and the number of all.
    #[serde(default)]
    pub obligations: [usize; 2],
    /// The findings that a study wrote which ended early. They are studied again.
    #[serde(default)]
    pub unfinished: Vec<String>,
    /// The failures of this lap that no predicate separates, as operator and class. More of the same kind
    /// are only counted, until the next lap.
    #[serde(default)]
    pub unexplained: Vec<(String, String)>,
}

/// The file with the position of a campaign. No other campaign with the same seed has it.
#[derive(Debug)]
pub struct PositionFile {
    path: PathBuf,
    /// Locked while this value lives.
    _lock: File,
}

impl PositionFile {
    /// Opens the file of the campaign with a seed, and reads the position. Makes the folder if there is
    /// none. `None` if a campaign with this seed is running.
    ///
    /// # Errors
    ///
    /// It cannot be read or written, is a link, or has mistakes.
    pub fn open(folder: &Folder, seed: u64) -> Result<Option<(Self, Position)>, StoreError> {
        let campaigns = folder.path().join(FOLDER);
        refuse_link(&campaigns)?;
        fs::create_dir_all(&campaigns).map_err(|cause| not_written(&campaigns, cause))?;
        let ignored = campaigns.join(".gitignore");
        replace_entry(&ignored, b"*\n").map_err(|cause| not_written(&ignored, cause))?;
        let lock = campaigns.join(format!("seed-{seed}.lock"));
        refuse_link(&lock)?;
        let opened = File::options().write(true).create(true).truncate(false).open(&lock);
        let opened = opened.map_err(|cause| not_written(&lock, cause))?;
        // Some file systems have no locks. The campaign runs on them all the same.
        if matches!(opened.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Ok(None);
        }
        let path = campaigns.join(format!("seed-{seed}.json"));
        let position = if path.exists() || path.is_symlink() {
            let parsed = serde_json::from_str(&read(&path)?);
            let path = path.display().to_string();
            parsed.map_err(|cause| StoreError::Position { path, cause: cause.to_string() })?
        } else {
            Position::default()
        };
        Ok(Some((Self { path, _lock: opened }, position)))
    }

    /// Writes the position.
    ///
    /// # Errors
    ///
    /// It cannot be written. The file is as it was then.
    pub fn write(&self, position: &Position) -> Result<(), StoreError> {
        let text = serde_json::to_string(position).unwrap_or_default() + "\n";
        replace_entry(&self.path, text.as_bytes()).map_err(|cause| not_written(&self.path, cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_goes_on_and_is_alone_with_its_seed() {
        let made = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder::new(made.path().join("mine"));
        let unexplained = vec![("SLICE".to_owned(), "crashed".to_owned())];
        let position =
            Position { of: "fuzz".to_owned(), lap: 2, next: 7, unexplained, ..Position::default() };
        let (file, empty) = PositionFile::open(&folder, 1).expect("it opens").expect("it is free");
        assert_eq!(empty, Position::default());
        file.write(&position).expect("it can be written");
        assert!(PositionFile::open(&folder, 1).expect("it opens").is_none(), "another one has it");
        assert!(PositionFile::open(&folder, 2).expect("it opens").is_some(), "another seed has its own");
        drop(file);
        let (_, again) = PositionFile::open(&folder, 1).expect("it opens").expect("it is free");
        assert_eq!(again, position);
        fs::write(folder.path().join(".campaign/seed-3.json"), "{\"of\":").expect("it can be written");
        assert!(matches!(PositionFile::open(&folder, 3), Err(StoreError::Position { .. })));
    }
}
