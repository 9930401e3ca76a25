//! Replaces a file as a whole: after a crash or on a full disk, either the old file is there or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// The start and the end of the name of a temporary file.
const PREFIX: &str = ".dmlcts-";
const SUFFIX: &str = ".new";

/// Checks before a run that [`replace`] can write this file after it.
///
/// # Errors
///
/// The folder does not exist or is not writable, or the file is not writable.
pub fn prepare_to_replace(path: &Path) -> io::Result<()> {
    check_name(path)?;
    if let Ok(about) = fs::metadata(path) {
        // A rename needs no permission to write to the file that it replaces.
        OpenOptions::new().write(true).open(path)?;
        if !about.is_file() {
            return Ok(());
        }
    }
    temporary(&target(path))?.close()
}

/// Writes a file beside the one at this path, syncs it and renames it over that one, whose permissions it
/// takes. If the path is a link, its target is replaced. Devices are written to directly.
///
/// # Errors
///
/// It cannot be written. The old file is unchanged then.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        check_name(path)?;
        return OpenOptions::new().write(true).open(path)?.write_all(text);
    }
    replace_entry(&target(path), text)
}

/// As [`replace`], for a folder that strangers may have filled: it follows no link at this path, and writes
/// to no device. The rename replaces a link itself.
///
/// # Errors
///
/// It cannot be written. The old file is unchanged then.
pub fn replace_entry(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = temporary(path)?;
    // Errors of `NamedTempFile` itself would name the temporary file.
    file.as_file_mut().write_all(text)?;
    if let Ok(about) = fs::symlink_metadata(path)
        && about.is_file()
    {
        file.as_file().set_permissions(about.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Whether a file of this name is the temporary file of a replacement. It stays if the program is killed.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX))
}

/// Refuses pipes and sockets, since opening one waits for its other end. An already open one, such as
/// `/dev/stdout`, is accepted.
///
/// # Errors
///
/// The path names a pipe or a socket.
pub fn check_name(path: &Path) -> io::Result<()> {
    let is_open =
        ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|open| path.starts_with(open));
    match fs::metadata(path) {
        Ok(about) if !is_open && waits(&about) => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a device"))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn waits(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_fifo() || about.file_type().is_socket()
}

#[cfg(not(unix))]
fn waits(_: &fs::Metadata) -> bool {
    false
}

/// The path with its links resolved, if it exists.
pub(crate) fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in the folder of another one.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // With its own function, tempfile would create a file that only its owner can read.
    builder.prefix(PREFIX).suffix(SUFFIX).make_in(folder(path), |path| File::create_new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_or_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let left = || fs::read_dir(folder).expect("it is there").count();
        let path = folder.join("text");
        prepare_to_replace(&path).expect("it can be made");
        assert_eq!(left(), 0, "nothing is made in advance");
        replace(&path, b"old").expect("it can be written");
        prepare_to_replace(&path).expect("it can be replaced");
        replace(&path, b"new").expect("it can be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert!(prepare_to_replace(folder).is_err(), "a folder is no file");
        // The temporary file can be made, and not renamed.
        assert!(replace(&folder.join("x".repeat(256)), b"lost").is_err(), "the name is too long");
        assert_eq!(left(), 1, "nothing is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_pipes_are_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = |name: &str| folder.path().join(name);
        let mode = |name: &Path| fs::metadata(name).expect("it is there").permissions().mode() & 0o777;
        replace(&name("made"), b"").expect("it can be written");
        fs::write(name("usual"), "").expect("it can be written");
        assert_eq!(mode(&name("made")), mode(&name("usual")), "a new file is as readable as any");
        fs::set_permissions(name("made"), fs::Permissions::from_mode(0o604)).expect("it is ours");
        symlink("made", name("link")).expect("links can be made");
        replace(&name("link"), b"by its link").expect("it can be replaced");
        assert!(name("link").is_symlink());
        assert_eq!(fs::read(name("made")).expect("it is there"), b"by its link");
        assert_eq!(mode(&name("made")), 0o604);
        replace_entry(&name("link"), b"in its place").expect("it can be replaced");
        assert!(!name("link").is_symlink());
        assert_eq!(fs::read(name("made")).expect("it is there"), b"by its link");
        replace_entry(&name("made"), b"entry").expect("it can be replaced");
        assert_eq!(mode(&name("made")), 0o604);
        let made = std::process::Command::new("mkfifo").arg(name("pipe")).status();
        assert!(made.expect("mkfifo starts").success());
        // Neither waits for a reader.
        assert!(prepare_to_replace(&name("pipe")).is_err() && replace(&name("pipe"), b"").is_err());
    }
}
