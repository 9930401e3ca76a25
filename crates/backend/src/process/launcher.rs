//! Starts the processes of one command. Holds the state that all hosts share: deadlines, the declaration,
//! probes, and failures.

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, Instant},
};

use dmlcts_model::{Desc, Signatures};

use super::{
    Command, Deadline, Host, Incidents, StartError,
    child::{Child, ProcessFault, Received},
    declared::Declared,
    health::Health,
    locked,
    probe::Probes,
    shutdown::GRACE,
};
use crate::{
    Purpose,
    protocol::{
        CannotStart, FrameKind, Hello, HostHello, Manner, OperatorForm, another_version, forms, message,
        short,
    },
};

/// The maximum time until a process sends `hello`: interpreters and drivers load slowly.
const START: Duration = Duration::from_secs(60);
/// The number of batches that a host has in flight: one that the process works on, and one that is ready.
const IN_FLIGHT: usize = 2;
/// The number of jobs in a batch, for a process that does not declare one. Waking each other costs both sides
/// as much as about a hundred tiny cases. The memory of more jobs would not stay in a core's cache.
const BUSY_JOBS: usize = 384;

/// The system's error code for a file that is not a program for this machine: `ENOEXEC` or
/// `ERROR_BAD_EXE_FORMAT`.
const OTHER_FORMAT: i32 = if cfg!(windows) { 193 } else { 8 };

/// Starts the processes of one command, and makes hosts for them.
pub struct Launcher {
    command: Command,
    case_timeout: Duration,
    end: Option<Instant>,
    deadline: Deadline,
    pub(super) most_hangs: Option<u64>,
    /// The maximum memory of a process in bytes.
    memory: Option<u64>,
    /// The operators that the processes are asked for.
    operators: Vec<OperatorForm>,
    /// The maximum time from `bye` to the end of a process.
    grace: Duration,
    /// The declaration of the first process. All later processes must declare the same.
    declared: OnceLock<Declared>,
    /// The first process, until a host needs one.
    spare: Mutex<Option<Child>>,
    pub(super) health: Health,
    pub(super) probes: Probes,
}

impl Launcher {
    /// A process that has cases and sends no result for `case_timeout` is ended.
    pub fn new(command: Command, case_timeout: Duration) -> Self {
        Self {
            command,
            case_timeout,
            end: None,
            deadline: Deadline::default(),
            most_hangs: None,
            memory: None,
            operators: Vec::new(),
            grace: GRACE,
            declared: OnceLock::new(),
            spare: Mutex::new(None),
            health: Health::default(),
            probes: Probes::default(),
        }
    }

    /// Tells the processes that these are the operators for which they are asked.
    #[must_use]
    pub fn with_operators(self, operators: &Signatures) -> Self {
        Self { operators: forms(operators), ..self }
    }

    /// Before any case is answered, these descs serve as probes: a process must create operators from them.
    #[must_use]
    pub fn with_probes(self, descs: Vec<Desc>) -> Self {
        Self { probes: Probes::given(descs), ..self }
    }

    /// Reports incidents of processes to `incidents`.
    #[must_use]
    pub fn with_incidents(self, incidents: Incidents) -> Self {
        Self { health: Health::with_incidents(incidents), ..self }
    }

    /// Waits for processes only until this time. Cases that are unanswered by then stay unanswered, and are
    /// not blamed.
    #[must_use]
    pub fn with_end(self, end: Option<Instant>) -> Self {
        Self { end, ..self }
    }

    /// Like [`Self::with_end`], with a deadline that any thread can set during a run.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline) -> Self {
        Self { deadline, ..self }
    }

    /// Stops sending cases after this many hangs, not counting those of hosts for
    /// [retries](Purpose::Retries). Unanswered cases stay unanswered.
    #[must_use]
    pub fn with_max_hangs(self, most_hangs: Option<u64>) -> Self {
        Self { most_hangs, ..self }
    }

    /// Ends a process that uses more memory than this, in bytes: resident, without what it shares. Its case
    /// is found as for a crash. Only Linux tells how much a process uses.
    #[must_use]
    pub fn with_memory(self, memory: Option<u64>) -> Self {
        Self { memory, ..self }
    }

    /// Halves the time for processes to shut down: a process that must itself end cannot wait the full time
    /// for another.
    #[must_use]
    pub fn with_short_grace(self) -> Self {
        Self { grace: GRACE / 2, ..self }
    }

    /// How long a process with cases may be silent. Unless it runs an operator, it may be creating one.
    pub(super) fn case_timeout(&self, is_running: bool) -> Duration {
        let declared = self.declared.get().filter(|_| !is_running);
        let create_time = declared.map(|declared| declared.capabilities.limits.create_time);
        self.case_timeout + create_time.unwrap_or_default()
    }

    /// The part of this time that is left until the end.
    pub(super) fn until_the_end(&self, time: Duration) -> Duration {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(time, |left| left.min(time))
    }

    /// Whether the time is up, or too many cases hang.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.is_over()
            || self.end.is_some_and(|end| Instant::now() >= end)
            || self.most_hangs.is_some_and(|most| self.health.hangs() >= most)
    }

    /// Makes a host. The first one starts a process to learn what it declares. Later ones start theirs with
    /// their first batch.
    pub fn host(self: &Arc<Self>, purpose: Purpose) -> Result<Host, StartError> {
        // Held during the start, so that several threads that need the first host start one process.
        let mut spare = locked(&self.spare);
        if self.declared.get().is_none() {
            *spare = Some(self.start()?);
        }
        drop(spare);
        let declared = self.declared.get().cloned();
        let declared = declared.ok_or_else(|| self.protocol("declares nothing"))?;
        Ok(Host::new(Arc::clone(self), declared, purpose))
    }

    /// The first process, if no host has taken it.
    pub(super) fn spare(&self) -> Option<Child> {
        locked(&self.spare).take()
    }

    /// A process that has sent `hello`.
    pub(super) fn process(&self) -> Result<Child, StartError> {
        self.spare().map_or_else(|| self.start(), Ok)
    }

    /// Ends a process that was sent `bye`, after its time to shut down, and records how it ended.
    pub(super) fn dismiss(&self, child: Child) {
        let (shutdown, surplus) = child.dismiss(self.grace);
        self.health.incidents.ended(shutdown, surplus);
    }

    fn protocol(&self, what: impl Into<String>) -> StartError {
        StartError::Protocol { command: self.command.to_string(), what: what.into() }
    }

    /// Starts a process, and checks that it declares the same as the first one.
    fn start(&self) -> Result<Child, StartError> {
        let command = || self.command.to_string();
        let child =
            Child::spawn(&self.command, self.health.incidents.clone(), self.deadline.clone(), self.memory)
                .map_err(|error| StartError::Spawn {
                    command: command(),
                    cause: error.to_string(),
                    is_other_format: error.raw_os_error() == Some(OTHER_FORMAT),
                })?;
        let hello = &HostHello { operators: self.operators.clone(), ..HostHello::default() };
        child.send(message(FrameKind::Hello, hello));
        let received = child.receive(self.until_the_end(START));
        let Received { frame, .. } = received.map_err(|fault| match fault {
            ProcessFault::Ended { how, .. } => StartError::Ended { command: command(), how },
            ProcessFault::Silent(time) => {
                StartError::Silent { command: command(), time, last_words: child.with_last_words("") }
            }
            ProcessFault::Version(version) => StartError::Version { command: command(), version },
            ProcessFault::LongHello(what) => StartError::Hello { command: command(), what },
            ProcessFault::Wrong(what) => self.protocol(format!("does not speak the protocol: {what}")),
        })?;
        if frame.kind != FrameKind::Hello {
            return Err(self.protocol(format!("sent `{}` where `hello` is due", frame.kind.name())));
        }
        if let Some(version) = another_version(&frame.header) {
            return Err(StartError::Version { command: command(), version });
        }
        if serde_json::from_slice::<HostHello>(&frame.header).is_ok() {
            return Err(self.protocol("is not a backend: it answers with what it was sent"));
        }
        if let Ok(refusal) = serde_json::from_slice::<CannotStart>(&frame.header) {
            return Err(StartError::Refused(short(&refusal.error)));
        }
        let declared =
            read_hello(&frame.header).map_err(|what| StartError::Hello { command: command(), what })?;
        match self.declared.get_or_init(|| declared.clone()).disagreement(&declared) {
            None => Ok(child),
            Some(how) => Err(StartError::Changed { command: command(), how }),
        }
    }
}

/// Reads the declaration of a process.
fn read_hello(header: &[u8]) -> Result<Declared, String> {
    let hello = Hello::read(header)?;
    let manner = Manner { is_packed: hello.packed, is_ahead: hello.ahead };
    let mut capabilities = hello.capabilities()?;
    let limits = &mut capabilities.limits;
    limits.in_flight = IN_FLIGHT;
    limits.busy_jobs = hello.limits.busy_cases.map_or(BUSY_JOBS, |_| limits.busy_jobs).min(limits.batch_jobs);
    capabilities.is_isolated = true;
    Ok(Declared { hello, capabilities, manner })
}
