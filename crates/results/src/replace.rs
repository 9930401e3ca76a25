//! Putting a file whole in the place of another. Whatever ends the program, and however full the disk is, the old one is there or
//! the new one, and nothing between.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// As many names are tried for a file beside another.
const MOST_NAMES: usize = 100;

/// Makes sure, before a run, that [`replace`] can put a file there when it has ended.
///
/// # Errors
///
/// Where it cannot: the folder is not there, or may not be written to.
pub fn prepare_to_replace(path: &Path) -> io::Result<()> {
    check_name(path)?;
    if let Ok(about) = fs::metadata(path) {
        // Whoever may not write to a file is not to have it replaced, either.
        OpenOptions::new().write(true).open(path)?;
        if !about.is_file() {
            return Ok(());
        }
    }
    let (_, beside) = create_beside(&target(path))?;
    fs::remove_file(beside)
}

/// Puts a file with this text in the place of the one at a path: it is written beside it, synced and renamed. A device has nothing
/// in it, and is written to.
///
/// # Errors
///
/// Where it cannot be written; what was there is as it was.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let about = fs::metadata(path);
    if about.as_ref().is_ok_and(|about| !about.is_file()) {
        check_name(path)?;
        return OpenOptions::new().write(true).open(path)?.write_all(text);
    }
    let target = target(path);
    let (mut file, beside) = create_beside(&target)?;
    let write = || {
        file.write_all(text)?;
        if let Ok(about) = about {
            file.set_permissions(about.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, &target)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one that tells.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Refuses a name that would keep the program waiting: a pipe has to have somebody at its other end. One that is open already, as
/// `/dev/stdout` may be, has.
///
/// # Errors
///
/// Where something has the name that is neither a file nor a device.
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

/// Where the file lies, which is elsewhere where its name is a link.
pub(crate) fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The folder that a file lies in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a file beside another, under a name that nothing has: neither what a program left behind that was killed, nor what another
/// thread writes.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut taken = None;
    for number in 0..MOST_NAMES {
        let beside = folder(path).join(format!(".{name}.{}-{number}.new", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_stays() {
        let folder = std::env::temp_dir().join(format!("dmlcts-replace-{}", std::process::id()));
        fs::create_dir(&folder).expect("the temporary folder takes a folder");
        let path = folder.join("text");
        prepare_to_replace(&path).expect("it can be made");
        assert!(!path.exists(), "nothing is made in advance");
        replace(&path, b"old").expect("it can be written");
        prepare_to_replace(&path).expect("it can be replaced");
        replace(&path, b"new").expect("it can be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        // What another has left beside it, or writes there now, is none of ours.
        let (_, beside) = create_beside(&path).expect("it can be made");
        fs::write(&beside, "theirs").expect("it can be written");
        prepare_to_replace(&path).expect("it can be replaced");
        replace(&path, b"newer").expect("it can be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"newer");
        assert_eq!(fs::read(&beside).expect("it is there"), b"theirs");
        // Where no name is left, nothing is touched.
        let others: Vec<PathBuf> =
            (1..MOST_NAMES).map(|_| create_beside(&path).expect("it can be made").1).collect();
        assert!(prepare_to_replace(&path).is_err() && replace(&path, b"lost").is_err());
        assert_eq!(fs::read(&path).expect("it is there"), b"newer");
        others.iter().chain([&beside]).for_each(|other| fs::remove_file(other).expect("it is there"));
        assert!(prepare_to_replace(&folder).is_err(), "a folder is no file");
        // What cannot take the place of another goes away.
        let name = "x".repeat(250);
        assert!(replace(&folder.join(name), b"lost").is_err(), "its name beside is too long");
        let left = fs::read_dir(&folder).expect("it is there").count();
        assert_eq!(left, 1, "nothing is left beside it");
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink(&path, &link).expect("it can be made");
            replace(&link, b"by its link").expect("it can be replaced");
            assert!(link.is_symlink() && fs::read(&path).expect("it is there") == b"by its link");
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.expect("mkfifo starts").success());
            // None of these waits.
            assert!(prepare_to_replace(&pipe).is_err() && replace(&pipe, b"").is_err());
        }
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
