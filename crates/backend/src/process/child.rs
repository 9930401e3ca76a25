//! A process and its three pipes. Each pipe has its own thread, so that a process that neither reads nor
//! writes blocks nothing else. When a process is ended, everything that it started ends with it.

use std::{
    io::{self, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Command, Deadline, Incidents, group::Group, locked, notes::Notes, shutdown::Shutdown, tail::Tail,
};
use crate::protocol::{Bounds, Frame, FrameError, LONGEST_HEADER, LONGEST_HELLO, speaks};

/// The longest wait, since adding a longer one to the clock could overflow.
const LONGEST: Duration = Duration::from_secs(1 << 32);
/// The maximum number of frames that wait for the host. After that, the process must wait.
const WAITING_FRAMES: usize = 4;
/// The capacity of a pipe in bytes: enough for a whole batch of tiny cases, so that neither side must be
/// woken in the middle of it.
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;
/// How long the host waits for the end of a process that closed its standard output. Usually such a process
/// is ending, and it is useless in any case.
const CLOSED: Duration = Duration::from_millis(200);
/// How long the host waits for the last output on standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// The interval at which the host checks a process that is about to end.
const PACE: Duration = Duration::from_millis(2);
/// The interval at which the host checks a silent process. The end of its pipe shows that it has ended,
/// unless another process holds the pipe, too.
const LOOK: Duration = Duration::from_millis(20);

/// All running processes.
static ALIVE: Mutex<Vec<Arc<Mutex<Group>>>> = Mutex::new(Vec::new());

/// Ends every backend process of this program at once, with everything that they started. For the end of a
/// program that leaves a thread with a hanging backend behind.
pub fn end_all() {
    for child in locked(&ALIVE).drain(..) {
        locked(&child).end();
    }
}

/// What a process did instead of sending a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ProcessFault {
    /// It ended, as `how` describes. `is_killed` is whether SIGKILL ended it: another process sent that, such
    /// as the kernel when memory runs out.
    #[error("{how}")]
    Ended { how: String, is_killed: bool },
    /// It was silent for this long.
    #[error("it was silent for {:.1} s", .0.as_secs_f64())]
    Silent(Duration),
    /// It broke the protocol, as this describes.
    #[error("{0}")]
    Wrong(String),
    /// It speaks another version of the protocol.
    #[error("{}", speaks("it", *.0))]
    Version(u32),
    /// Its `hello` is longer than the limit, as this describes.
    #[error("{0}")]
    LongHello(String),
}

impl ProcessFault {
    /// The fault of a process that ended in another way than by SIGKILL.
    pub(super) fn ended(how: impl Into<String>) -> Self {
        Self::Ended { how: how.into(), is_killed: false }
    }
}

/// A frame that was received.
pub(super) struct Received {
    pub(super) frame: Frame,
    /// Whether more bytes had already arrived after it.
    pub(super) is_followed: bool,
    /// When it had arrived.
    pub(super) at: Instant,
}

/// A running process.
pub(super) struct Child {
    process: Arc<Mutex<Group>>,
    /// Bytes for the thread that writes to the process.
    to: Option<Sender<Vec<u8>>>,
    /// Frames from the thread that reads from the process. The channel closes with the pipe.
    from: Receiver<Result<Received, FrameError>>,
    /// The maximum number of tensor bytes that a valid answer can have.
    permitted: Arc<AtomicU64>,
    tail: Arc<Mutex<Tail>>,
    /// Closes with the process's standard error.
    spoken: Receiver<()>,
    /// The deadline after which the host waits for no frame.
    deadline: Deadline,
    /// The maximum memory of the process in bytes.
    memory: Option<u64>,
}

impl Child {
    /// Starts a process. Its notes become incidents. After the deadline, no frame is waited for. `memory` is
    /// the maximum memory of the process in bytes.
    pub(super) fn spawn(
        command: &Command,
        incidents: Incidents,
        deadline: Deadline,
        memory: Option<u64>,
    ) -> io::Result<Self> {
        let mut command = command.to_process();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Group::spawn(&mut command)?;
        let leader = &mut process.leader;
        let pipes = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
        #[cfg(target_os = "linux")]
        if let (Some(stdin), Some(stdout), _) = &pipes {
            // If the system does not allow this size, the pipe keeps its own.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE);
            let _ = rustix::pipe::fcntl_setpipe_size(stdout, PIPE);
        }
        let process = Arc::new(Mutex::new(process));
        locked(&ALIVE).push(Arc::clone(&process));
        let (to, frames_to) = channel();
        let (sender, from) = sync_channel(WAITING_FRAMES);
        let (speaking, spoken) = channel();
        let (permitted, tail) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Tail::default())));
        // From here on, dropping the child ends the process if anything fails.
        let child = Self {
            process,
            to: Some(to),
            from,
            permitted: Arc::clone(&permitted),
            tail: Arc::clone(&tail),
            spoken,
            deadline,
            memory,
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let named = || thread::Builder::new().name("backend pipe".to_owned());
        named().spawn(move || write(stdin, &frames_to))?;
        named().spawn(move || read(stdout, &sender, &permitted))?;
        named().spawn(move || {
            listen(stderr, &tail, Notes::new(incidents));
            drop(speaking);
        })?;
        Ok(child)
    }

    /// Permits answers with this many bytes of tensors.
    pub(super) fn permit(&self, bytes: u64) {
        self.permitted.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Writes bytes to the process. If the process has ended, the next [`Child::receive`] returns the fault.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        if let Some(to) = &self.to {
            let _ = to.send(bytes);
        }
    }

    /// The next frame, or the fault that occurred instead.
    pub(super) fn receive(&self, patience: Duration) -> Result<Received, ProcessFault> {
        match self.wait_for_frame(patience)? {
            Ok(received) => Ok(received),
            Err(FrameError::Version(version)) => Err(ProcessFault::Version(version)),
            Err(error @ FrameError::Long { kind: "hello", .. }) => {
                Err(ProcessFault::LongHello(error.to_string()))
            }
            Err(error) => {
                // If a process ends within a frame, its end is the main fault.
                let ended = matches!(error, FrameError::Short { .. } | FrameError::Io(_))
                    .then(|| self.status(CLOSED));
                match ended.flatten() {
                    Some(status) => Err(self.ended("it ended inside of a frame", status)),
                    None => Err(ProcessFault::Wrong(self.with_last_words(&error.to_string()))),
                }
            }
        }
    }

    /// The fault of a process that closed the pipe.
    fn closed(&self) -> ProcessFault {
        match self.status(CLOSED) {
            Some(status) => self.ended("it ended", status),
            None => ProcessFault::ended("it closed its standard output and went on running"),
        }
    }

    /// The next result of the reading thread, until the pipe closes or the process ends.
    fn wait_for_frame(&self, patience: Duration) -> Result<Result<Received, FrameError>, ProcessFault> {
        let until = Instant::now() + patience.min(LONGEST);
        loop {
            let left = self.deadline.cut(until.saturating_duration_since(Instant::now()));
            match self.from.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) => return Err(ProcessFault::Silent(patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.closed()),
                Ok(received) => {
                    self.check_memory()?;
                    return Ok(received);
                }
            }
            self.check_memory()?;
            let mut process = locked(&self.process);
            if process.has_ended() {
                // Another process that still holds the pipe was started by this one. Ending the group closes
                // the pipe after the last bytes. A process that left the group is not waited for.
                process.end();
                drop(process);
                let last = self.from.recv_timeout(LAST_WORDS);
                return last.map_err(|_| self.closed());
            }
        }
    }

    /// Fails if the process uses more memory than it may.
    fn check_memory(&self) -> Result<(), ProcessFault> {
        let exceeded = self.memory.filter(|limit| locked(&self.process).memory() > *limit);
        let Some(limit) = exceeded.map(size) else { return Ok(()) };
        Err(ProcessFault::ended(format!(
            "out of memory: it used more than the {limit} of --backend-memory; a larger size lets it run on"
        )))
    }

    /// The exit status of the process, if it ends within this time.
    fn status(&self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience.min(LONGEST);
        loop {
            let mut process = locked(&self.process);
            if process.has_ended() {
                // Processes that it left behind end with it, so that standard error closes, too.
                return process.end();
            }
            drop(process);
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(PACE);
        }
    }

    /// The fault of a process that ended with this status.
    fn ended(&self, how: &str, status: ExitStatus) -> ProcessFault {
        let how = self.with_last_words(&format!("{how} ({status})"));
        ProcessFault::Ended { how, is_killed: is_killed(status) }
    }

    /// A message, with the last output of the process on standard error.
    pub(super) fn with_last_words(&self, message: &str) -> String {
        let _ = self.spoken.recv_timeout(LAST_WORDS);
        let words = locked(&self.tail).last_words();
        if words.is_empty() { message.to_owned() } else { format!("{message}; it said: {words}") }
    }

    /// Lets the process end by itself within this time. Returns how it ended, and what it sent without a
    /// question.
    pub(super) fn dismiss(mut self, grace: Duration) -> (Shutdown, Option<String>) {
        self.to = None;
        let shutdown = match self.status(grace) {
            Some(status) if status.success() => Shutdown::Well,
            // The end of the whole program may have ended the process in the meantime.
            Some(status) if !locked(&self.process).was_cut_short => {
                Shutdown::Badly(self.with_last_words(&status.to_string()))
            }
            _ => Shutdown::Late(grace),
        };
        // The notes are complete when standard error closes.
        let _ = self.spoken.recv_timeout(LAST_WORDS);
        (shutdown, self.surplus())
    }

    /// What the process sent without a question, if anything.
    fn surplus(&self) -> Option<String> {
        match self.from.recv_timeout(LAST_WORDS) {
            Ok(Ok(Received { frame, .. })) => Some(format!("it sent another `{}`", frame.kind.name())),
            // An I/O error comes from the end of the process, not from something that it sent.
            Err(_) | Ok(Err(FrameError::Io(_))) => None,
            Ok(Err(error)) => Some(error.to_string()),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        locked(&ALIVE).retain(|child| !Arc::ptr_eq(child, &self.process));
        locked(&self.process).end();
    }
}

/// A number of bytes in the largest unit that makes it whole.
fn size(bytes: u64) -> String {
    let (unit, name) = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|(unit, _)| bytes.is_multiple_of(*unit))
        .unwrap_or((1, "bytes"));
    format!("{} {name}", bytes / unit)
}

/// Whether SIGKILL ended a process.
fn is_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status)
        == Some(rustix::process::Signal::KILL.as_raw());
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

fn write(mut stdin: ChildStdin, frames: &Receiver<Vec<u8>>) {
    for frame in frames {
        // If the process does not read a frame, it does not answer it, and the host detects the missing
        // answer.
        if stdin.write_all(&frame).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(stdout: ChildStdout, frames: &SyncSender<Result<Received, FrameError>>, permitted: &AtomicU64) {
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    // The first frame is the `hello`.
    let mut header = LONGEST_HELLO;
    loop {
        // The permitted size is set before a question is sent, and so before an answer can arrive. So it is
        // read after the wait.
        let wait = io::BufRead::fill_buf(&mut stdout).map(<[u8]>::is_empty);
        let bounds = Bounds { header, body: permitted.load(Ordering::Relaxed) };
        let frame = match wait {
            Ok(true) => return,
            _ => Frame::read(&mut stdout, bounds),
        };
        match frame {
            Ok(Some(frame)) => {
                header = LONGEST_HEADER;
                let is_followed = !stdout.buffer().is_empty();
                if frames.send(Ok(Received { frame, is_followed, at: Instant::now() })).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                let _ = frames.send(Err(error));
                // The rest of the output is useless, but it is read so that the process does not block.
                let _ = io::copy(&mut stdout, &mut io::sink());
                return;
            }
        }
    }
}

fn listen(mut stderr: impl Read, tail: &Mutex<Tail>, mut notes: Notes) {
    let mut piece = [0; 4096];
    loop {
        match stderr.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => {
                locked(tail).push(&piece[..length]);
                notes.push(&piece[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}
