//! Standard output for frames alone: libraries and drivers print when nobody expects it, and a process that hosts one
//! must not pass that on as frames.

use std::io::{self, Write};

/// Standard output for frames; what else the process prints goes to standard error from here on, where the system lets that be
/// said of a whole process.
pub fn claim_stdout() -> io::Result<Box<dyn Write>> {
    #[cfg(unix)]
    {
        let frames = rustix::io::dup(io::stdout())?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Box::new(io::BufWriter::with_capacity(64 << 10, std::fs::File::from(frames))))
    }
    #[cfg(not(unix))]
    Ok(Box::new(io::stdout().lock()))
}
