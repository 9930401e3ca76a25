//! A process and its three pipes. A thread serves each pipe, so that nobody waits for a process that neither reads nor
//! writes, and a process that is ended takes everything that it started with it.

use std::{
    fmt,
    io::{self, BufReader, Read, Write},
    process::{self, ChildStdin, ChildStdout, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Command, tail::Tail};
use crate::protocol::{Bounds, Frame, FrameError, LONGEST_HEADER};

/// Frames that wait for the host. A process that sends more has to wait itself.
const WAITING_FRAMES: usize = 4;
/// How long a process that closed its standard output, or that was told to end, may take to end.
const GRACE: Duration = Duration::from_secs(1);
/// How long what a process wrote last to standard error may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Every process that runs.
static ALIVE: Mutex<Vec<Arc<Mutex<process::Child>>>> = Mutex::new(Vec::new());

/// Ends every backend process of this program at once, and everything that they started. For the end of a program that
/// leaves a thread with a hanging backend behind.
pub fn end_all() {
    for child in locked(&ALIVE).drain(..) {
        end(&mut locked(&child));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a process did instead of sending a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ended, in this way.
    Ended(String),
    /// It said nothing for this long.
    Silent(Duration),
    /// It broke the protocol, in this way.
    Wrong(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(what) | Self::Wrong(what) => f.write_str(what),
            Self::Silent(time) => write!(f, "it was silent for {:.1} s", time.as_secs_f64()),
        }
    }
}

/// A frame that came.
pub(super) struct Received {
    pub(super) frame: Frame,
    /// Whether something had come behind it already.
    pub(super) is_followed: bool,
}

/// A process that runs.
pub(super) struct Child {
    process: Arc<Mutex<process::Child>>,
    /// To the thread that writes to it.
    to: Option<Sender<Vec<u8>>>,
    /// From the thread that reads from it; ends with the pipe.
    from: Receiver<Result<Received, FrameError>>,
    /// The most bytes of tensors that it can rightly send.
    permitted: Arc<AtomicU64>,
    tail: Arc<Mutex<Tail>>,
    /// Ends with its standard error.
    spoken: Receiver<()>,
}

impl Child {
    pub(super) fn spawn(command: &Command) -> io::Result<Self> {
        let mut command = command.to_process();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: Ctrl-C is for the host to handle, and the group can be ended as a whole.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let process = Arc::new(Mutex::new(process));
        locked(&ALIVE).push(Arc::clone(&process));
        let (to, frames_to) = channel();
        let (sender, from) = sync_channel(WAITING_FRAMES);
        let (speaking, spoken) = channel();
        let (permitted, tail) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Tail::default())));
        // From here on, dropping it ends the process, whatever fails.
        let child = Self {
            process,
            to: Some(to),
            from,
            permitted: Arc::clone(&permitted),
            tail: Arc::clone(&tail),
            spoken,
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let named = || thread::Builder::new().name("backend pipe".to_owned());
        named().spawn(move || write(stdin, &frames_to))?;
        named().spawn(move || read(stdout, &sender, &permitted))?;
        named().spawn(move || {
            listen(stderr, &tail);
            drop(speaking);
        })?;
        Ok(child)
    }

    /// Says how many bytes of tensors may come at most.
    pub(super) fn permit(&self, bytes: u64) {
        self.permitted.store(bytes, Ordering::Relaxed);
    }

    /// Has bytes written. Where the process is gone, the next [`Child::receive`] tells.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        if let Some(to) = &self.to {
            let _ = to.send(bytes);
        }
    }

    /// The next frame, or what came instead of it.
    pub(super) fn receive(&self, patience: Duration) -> Result<Received, Fault> {
        match self.from.recv_timeout(patience) {
            Ok(Ok(received)) => Ok(received),
            Ok(Err(error)) => {
                // A process that dies inside of a frame has died, first of all.
                let ended =
                    matches!(error, FrameError::Short { .. } | FrameError::Io(_)).then(|| self.status());
                match ended.flatten() {
                    Some(status) => Err(Fault::Ended(
                        self.with_last_words(&format!("it ended inside of a frame ({status})")),
                    )),
                    None => Err(Fault::Wrong(self.with_last_words(&error.to_string()))),
                }
            }
            Err(RecvTimeoutError::Timeout) => Err(Fault::Silent(patience)),
            Err(RecvTimeoutError::Disconnected) => Err(match self.status() {
                Some(status) => Fault::Ended(self.with_last_words(&format!("it ended ({status})"))),
                None => Fault::Wrong("it closed its standard output and went on running".to_owned()),
            }),
        }
    }

    /// How the process ended, once it has.
    fn status(&self) -> Option<process::ExitStatus> {
        let until = Instant::now() + GRACE;
        loop {
            if let Ok(Some(status)) = locked(&self.process).try_wait() {
                return Some(status);
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// A message with what the process said last on standard error.
    pub(super) fn with_last_words(&self, message: &str) -> String {
        let _ = self.spoken.recv_timeout(LAST_WORDS);
        let words = locked(&self.tail).last_words();
        if words.is_empty() { message.to_owned() } else { format!("{message}; it said: {words}") }
    }

    /// Lets it end by itself, in a moment.
    pub(super) fn dismiss(mut self) {
        self.to = None;
        self.status();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        locked(&ALIVE).retain(|child| !Arc::ptr_eq(child, &self.process));
        end(&mut locked(&self.process));
    }
}

/// Ends a process and its group.
fn end(process: &mut process::Child) {
    // A process that was waited for has given its number back, which may be another's by now; its group keeps the number
    // as long as anything that it started is there, and that is not worth the risk.
    if matches!(process.try_wait(), Ok(Some(_))) {
        return;
    }
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(process),
        rustix::process::Signal::KILL,
    );
    // Windows knows no groups that can be ended; this tool of its own goes from parent to child.
    #[cfg(windows)]
    let _ = process::Command::new("taskkill")
        .args(["/T", "/F", "/PID", &process.id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = process.kill();
    let _ = process.wait();
}

fn write(mut stdin: ChildStdin, frames: &Receiver<Vec<u8>>) {
    for frame in frames {
        // What a process does not read it will not answer, and the host waits for the answer.
        if stdin.write_all(&frame).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(stdout: ChildStdout, frames: &SyncSender<Result<Received, FrameError>>, permitted: &AtomicU64) {
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    loop {
        // What is permitted is said before anything is asked, and so before anything can come.
        let wait = io::BufRead::fill_buf(&mut stdout).map(<[u8]>::is_empty);
        let bounds = Bounds { header: LONGEST_HEADER, body: permitted.load(Ordering::Relaxed) };
        let frame = match wait {
            Ok(true) => return,
            _ => Frame::read(&mut stdout, bounds),
        };
        match frame {
            Ok(Some(frame)) => {
                let is_followed = !stdout.buffer().is_empty();
                if frames.send(Ok(Received { frame, is_followed })).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                let _ = frames.send(Err(error));
                // What else it says is of no use, but it shall not wait for a reader.
                let _ = io::copy(&mut stdout, &mut io::sink());
                return;
            }
        }
    }
}

fn listen(mut stderr: impl Read, tail: &Mutex<Tail>) {
    let mut piece = [0; 4096];
    loop {
        match stderr.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => locked(tail).push(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
