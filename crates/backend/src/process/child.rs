//! A process and its three pipes. A thread serves each pipe, so that nobody waits for a process that neither reads nor
//! writes, and a process that is ended takes everything that it started with it.

use std::{
    fmt,
    io::{self, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Command, Deadline, Incidents, group::Group, notes::Notes, shutdown::Shutdown, tail::Tail};
use crate::protocol::{Bounds, Frame, FrameError, LONGEST_HEADER, LONGEST_HELLO, speaks};

/// Nothing is waited for longer: clocks end somewhere.
const LONGEST: Duration = Duration::from_secs(1 << 32);
/// Frames that wait for the host. A process that sends more has to wait itself.
const WAITING_FRAMES: usize = 4;
/// Bytes in a pipe: a batch of tiny cases as a whole, so that neither side has to be woken up in the middle of it.
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;
/// How long a process that closed its standard output may take to end: most often it is ending, and it is of no use any more
/// either way.
const CLOSED: Duration = Duration::from_millis(200);
/// How long what a process wrote last to standard error may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How often a process is looked at that is about to end.
const PACE: Duration = Duration::from_millis(2);
/// How often a silent process is looked at: the end of its pipe says that it has ended, unless somebody else holds the pipe.
const LOOK: Duration = Duration::from_millis(20);

/// Every process that runs.
static ALIVE: Mutex<Vec<Arc<Mutex<Group>>>> = Mutex::new(Vec::new());

/// Ends every backend process of this program at once, and everything that they started. For the end of a program that
/// leaves a thread with a hanging backend behind.
pub fn end_all() {
    for child in locked(&ALIVE).drain(..) {
        locked(&child).end();
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
    /// It speaks this version of the protocol, which is another one.
    Version(u32),
    /// Its `hello` is longer than the host reads, as this says.
    LongHello(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(what) | Self::Wrong(what) | Self::LongHello(what) => f.write_str(what),
            Self::Version(version) => f.write_str(&speaks("it", *version)),
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
    process: Arc<Mutex<Group>>,
    /// To the thread that writes to it.
    to: Option<Sender<Vec<u8>>>,
    /// From the thread that reads from it; ends with the pipe.
    from: Receiver<Result<Received, FrameError>>,
    /// The most bytes of tensors that it can rightly send.
    permitted: Arc<AtomicU64>,
    tail: Arc<Mutex<Tail>>,
    /// Ends with its standard error.
    spoken: Receiver<()>,
    /// When nobody waits for it any more.
    deadline: Deadline,
}

impl Child {
    /// Starts it. What it notes is told as incidents, and after the deadline, no frame of it is waited for.
    pub(super) fn spawn(command: &Command, incidents: Incidents, deadline: Deadline) -> io::Result<Self> {
        let mut command = command.to_process();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Group::spawn(&mut command)?;
        let leader = process.leader();
        let pipes = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
        #[cfg(target_os = "linux")]
        if let (Some(stdin), Some(stdout), _) = &pipes {
            // Where it may not be as much, it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE);
            let _ = rustix::pipe::fcntl_setpipe_size(stdout, PIPE);
        }
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
            deadline,
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

    /// Permits answers of this many bytes of tensors.
    pub(super) fn permit(&self, bytes: u64) {
        self.permitted.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Has bytes written. Where the process is gone, the next [`Child::receive`] tells.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        if let Some(to) = &self.to {
            let _ = to.send(bytes);
        }
    }

    /// The next frame, or what came instead of it.
    pub(super) fn receive(&self, patience: Duration) -> Result<Received, Fault> {
        match self.wait_for_frame(patience) {
            Ok(Ok(received)) => Ok(received),
            Ok(Err(FrameError::Version(version))) => Err(Fault::Version(version)),
            Ok(Err(error @ FrameError::Long { kind: "hello", .. })) => {
                Err(Fault::LongHello(error.to_string()))
            }
            Ok(Err(error)) => {
                // A process that dies inside of a frame has died, first of all.
                let ended = matches!(error, FrameError::Short { .. } | FrameError::Io(_))
                    .then(|| self.status(CLOSED));
                match ended.flatten() {
                    Some(status) => Err(Fault::Ended(
                        self.with_last_words(&format!("it ended inside of a frame ({status})")),
                    )),
                    None => Err(Fault::Wrong(self.with_last_words(&error.to_string()))),
                }
            }
            Err(RecvTimeoutError::Timeout) => Err(Fault::Silent(patience)),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Ended(match self.status(CLOSED) {
                Some(status) => self.with_last_words(&format!("it ended ({status})")),
                None => "it closed its standard output and went on running".to_owned(),
            })),
        }
    }

    /// What comes through the pipe, until it ends or the process has ended.
    fn wait_for_frame(&self, patience: Duration) -> Result<Result<Received, FrameError>, RecvTimeoutError> {
        let until = Instant::now() + patience.min(LONGEST);
        loop {
            let left = self.deadline.cut(until.saturating_duration_since(Instant::now()));
            match self.from.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                other => return other,
            }
            let mut process = locked(&self.process);
            if process.has_ended() {
                // Whoever still holds the pipe, it started; without them, what is in the pipe has an end. One that left the
                // group is not waited for.
                process.end();
                drop(process);
                let last = self.from.recv_timeout(LAST_WORDS);
                return last.map_err(|_| RecvTimeoutError::Disconnected);
            }
        }
    }

    /// How the process ended, once it has.
    fn status(&self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience.min(LONGEST);
        loop {
            let mut process = locked(&self.process);
            if process.has_ended() {
                // What it left behind ends with it, and standard error has an end, too.
                return process.end();
            }
            drop(process);
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(PACE);
        }
    }

    /// A message with what the process said last on standard error.
    pub(super) fn with_last_words(&self, message: &str) -> String {
        let _ = self.spoken.recv_timeout(LAST_WORDS);
        let words = locked(&self.tail).last_words();
        if words.is_empty() { message.to_owned() } else { format!("{message}; it said: {words}") }
    }

    /// Lets it end by itself, which may take this long, and says how it did, and what it sent though nothing was asked.
    pub(super) fn dismiss(mut self, grace: Duration) -> (Shutdown, Option<String>) {
        self.to = None;
        let shutdown = match self.status(grace) {
            Some(status) if status.success() => Shutdown::Well,
            // The end of the whole program may have ended it meanwhile.
            Some(status) if !locked(&self.process).was_cut_short() => {
                Shutdown::Badly(self.with_last_words(&status.to_string()))
            }
            _ => Shutdown::Late(grace),
        };
        // Its notes are counted when its standard error ends.
        let _ = self.spoken.recv_timeout(LAST_WORDS);
        (shutdown, self.surplus())
    }

    /// What came that nobody waited for.
    fn surplus(&self) -> Option<String> {
        match self.from.recv_timeout(LAST_WORDS) {
            Ok(Ok(Received { frame, .. })) => Some(format!("it sent another `{}`", frame.kind.name())),
            // How its end breaks the pipe is no word of its.
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
    // The first frame is the `hello`.
    let mut header = LONGEST_HELLO;
    loop {
        // What is permitted is said before anything is asked, and so before anything can come.
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
    notes.finish();
}
