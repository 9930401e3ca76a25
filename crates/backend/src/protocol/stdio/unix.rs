//! Standard output and the end of the process on Unix.

use std::{fs::File, io, os::fd::AsFd};

/// Returns the former standard output. All other output of the process goes to standard error.
pub(super) fn claim() -> io::Result<File> {
    let frames = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: `frames` has a descriptor of its own, and Rust keeps both of these open.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(frames))
}

/// Ends the process at once. A thread that hangs may hold a lock that an orderly exit waits for.
pub(super) fn kill_myself() {
    // SAFETY: the call takes numbers alone.
    unsafe { libc::raise(libc::SIGKILL) };
}
