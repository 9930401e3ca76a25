//! Standard output and the end of a process that hosts a backend. Libraries and drivers may print at any
//! time, so standard output is reserved for frames. A backend that hangs cannot end itself, so the process
//! ends with its parent.

#[cfg(windows)]
mod windows;

use std::io::{self, Write};

/// The size of the buffer for frames, in bytes.
const BUFFER: usize = 64 << 10;

/// Returns standard output for frames. All other output of the process then goes to standard error, if the
/// system can redirect the output of a whole process.
pub fn claim_stdout() -> io::Result<Box<dyn Write>> {
    #[cfg(unix)]
    {
        let frames = rustix::io::dup(io::stdout())?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Box::new(io::BufWriter::with_capacity(BUFFER, std::fs::File::from(frames))))
    }
    #[cfg(windows)]
    {
        Ok(Box::new(io::BufWriter::with_capacity(BUFFER, windows::claim()?)))
    }
    #[cfg(not(any(unix, windows)))]
    Ok(Box::new(io::stdout().lock()))
}

/// Ends this process within a second or two after its parent, even if a thread hangs. A parent that was
/// killed cannot end it. `parent` is the parent's process id, if known: the parent may have ended before this
/// call. If the system does not report the end of a parent, the process continues until it reads again.
pub fn end_with_parent(parent: Option<u32>) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, getpid, getppid, kill_process};
        let known = parent.and_then(|parent| Pid::from_raw(i32::try_from(parent).ok()?));
        let parent = if known.is_some() { known } else { getppid() };
        let watch = move || {
            while getppid() == parent {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            // A thread that hangs may hold a lock that an orderly exit waits for.
            let _ = kill_process(getpid(), Signal::KILL);
        };
        std::thread::Builder::new().name("parent".to_owned()).spawn(watch)?;
    }
    #[cfg(not(unix))]
    let _ = parent;
    Ok(())
}
