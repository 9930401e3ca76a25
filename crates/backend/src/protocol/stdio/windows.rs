//! Standard output on Windows, which a process has twice: the handle that Windows keeps, and the descriptor
//! of C's runtime.

use std::{
    ffi::c_void,
    fs::File,
    io,
    os::windows::io::{AsHandle, AsRawHandle},
};

/// `STD_OUTPUT_HANDLE` of `processenv.h`, which is -11.
const STANDARD_OUTPUT: u32 = 11_u32.wrapping_neg();

unsafe extern "system" {
    /// Of `processenv.h`: which handle a process has for standard output from here on; 0 where that fails.
    fn SetStdHandle(which: u32, handle: *mut c_void) -> i32;
}

unsafe extern "C" {
    /// Of C's `io.h`: one descriptor becomes another name of what the first one is.
    fn _dup2(from: i32, to: i32) -> i32;
}

/// What was standard output, for its owner alone; whoever else prints writes to standard error.
pub(super) fn claim() -> io::Result<File> {
    let frames = io::stdout().as_handle().try_clone_to_owned()?;
    // The runtime closes the handle of the descriptor, which Windows keeps as well: that is set afterwards.
    // Where it has no such descriptors, nobody can print to one, so that failing is no fault. SAFETY: 2 and 1
    // are descriptors that every runtime has; what `frames` is goes on by a handle of its own.
    unsafe { _dup2(2, 1) };
    // SAFETY: the handle is that of standard error, which nobody closes. A process may change which one
    // stands for its output.
    if unsafe { SetStdHandle(STANDARD_OUTPUT, io::stderr().as_raw_handle()) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(frames))
}
