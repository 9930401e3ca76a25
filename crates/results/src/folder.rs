//! Reads folders that may hold what a stranger put there.

use std::{
    fs,
    io::{Error, ErrorKind, Result},
    path::{Path, PathBuf},
};

use crate::replace::is_temporary;

/// No file of findings or snapshots is larger.
const LARGEST: u64 = 1 << 20;

/// The names and paths in a folder, by name.
pub fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let named = fs::read_dir(folder)?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.path()))
    });
    let mut all = named.collect::<Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

/// The files among entries that a command left when it was killed.
pub fn leftovers(entries: Vec<(String, PathBuf)>) -> impl Iterator<Item = PathBuf> {
    let left = entries.into_iter().filter(|(name, path)| is_temporary(name) && !path.is_dir());
    left.map(|(_, path)| path)
}

/// Checks that a path is a file that may be read. `what` is what the file should be. A link is not followed.
///
/// # Errors
///
/// It does not exist, is not a file, or is too large.
pub fn check_file(path: &Path, what: &str) -> Result<()> {
    let about = fs::symlink_metadata(path)?;
    if about.is_file() && about.len() <= LARGEST {
        return Ok(());
    }
    let cause = format!("it is not a file, or larger than any {what}");
    Err(Error::new(ErrorKind::InvalidData, cause))
}
