//! Standard output on Windows. A process has it twice: as the handle that Windows keeps, and as a descriptor
//! of the C runtime.

use std::{
    ffi::c_void,
    fs::File,
    io,
    os::windows::io::{AsHandle, AsRawHandle},
};

/// `STD_OUTPUT_HANDLE` of `processenv.h`, which is -11.
const STANDARD_OUTPUT: u32 = 11_u32.wrapping_neg();

unsafe extern "system" {
    /// From `processenv.h`: sets a standard handle of the process; returns 0 on failure.
    fn SetStdHandle(which: u32, handle: *mut c_void) -> i32;
}

unsafe extern "C" {
    /// From C's `io.h`: makes `to` a duplicate of the descriptor `from`.
    fn _dup2(from: i32, to: i32) -> i32;
}

/// Returns the former standard output. All other output of the process goes to standard error.
pub(super) fn claim() -> io::Result<File> {
    let frames = io::stdout().as_handle().try_clone_to_owned()?;
    // `_dup2` closes the descriptor's handle, which Windows keeps as well, so that handle is set afterwards.
    // Without such descriptors nothing can print to one, so a failure is harmless. SAFETY: every runtime has
    // the descriptors 2 and 1, and `frames` has a handle of its own.
    unsafe { _dup2(2, 1) };
    // SAFETY: the handle belongs to standard error, which is never closed. A process may change the handle of
    // its standard output.
    if unsafe { SetStdHandle(STANDARD_OUTPUT, io::stderr().as_raw_handle()) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(frames))
}
