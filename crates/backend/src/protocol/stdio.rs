//! Standard output and the end of a process that hosts a backend. Libraries and drivers may print at any
//! time, so standard output is reserved for frames. A backend that hangs cannot end itself, so the process
//! ends with its parent.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::process::parent_id;

/// The size of the buffer for frames, in bytes.
const BUFFER: usize = 64 << 10;

/// Returns standard output for frames. All other output of the process then goes to standard error, if the
/// system can redirect the output of a whole process.
pub fn claim_stdout() -> io::Result<Box<dyn Write>> {
    #[cfg(unix)]
    let output = io::BufWriter::with_capacity(BUFFER, unix::claim()?);
    #[cfg(windows)]
    let output = io::BufWriter::with_capacity(BUFFER, windows::claim()?);
    #[cfg(not(any(unix, windows)))]
    let output = io::stdout().lock();
    Ok(Box::new(output))
}

/// Ends this process within a second or two after its parent, even if a thread hangs. A parent that was
/// killed cannot end it. `parent` is the parent's process id, if known: the parent may have ended before this
/// call. If the system does not report the end of a parent, the process continues until it reads again.
pub fn end_with_parent(parent: Option<u32>) -> io::Result<()> {
    #[cfg(unix)]
    {
        let parent = parent.unwrap_or_else(parent_id);
        let watch = move || {
            while parent_id() == parent {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            unix::kill_myself();
        };
        std::thread::Builder::new().name("parent".to_owned()).spawn(watch)?;
    }
    #[cfg(not(unix))]
    let _ = parent;
    Ok(())
}
