//! What a process that hosts a backend does about itself. Its standard output is for frames alone: libraries
//! and drivers print when nobody expects it. And it ends with its own host, since nobody else ends a backend
//! that hangs.

#[cfg(windows)]
mod windows;

use std::io::{self, Write};

/// So much of a frame is written at a time.
const BUFFER: usize = 64 << 10;

/// Standard output for frames; what else the process prints goes to standard error from here on, where the
/// system lets that be said of a whole process.
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

/// Has this process end within a second or two of the one that started it, whatever it is busy with: one that
/// is killed ends nobody any more. `parent` is the number of that one, where it is known: it may have ended
/// before anybody looks. Where the system does not say that a parent has ended, the process goes on until it
/// reads again.
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
            // Whoever hangs may hold what an orderly end waits for.
            let _ = kill_process(getpid(), Signal::KILL);
        };
        std::thread::Builder::new().name("parent".to_owned()).spawn(watch)?;
    }
    #[cfg(not(unix))]
    let _ = parent;
    Ok(())
}
