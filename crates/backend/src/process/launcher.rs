//! Starts processes of one command, and knows what all of its hosts have in common: deadlines, what processes declared, how they fail.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use dmlcts_model::Desc;

use super::{
    Command, Deadline, Host, Incidents, StartError,
    child::{Child, Fault, Received},
    declared::Declared,
    health::Health,
    host,
    probe::Probes,
    shutdown::GRACE,
};
use crate::{
    Purpose,
    protocol::{CannotStart, Hello, HostHello, Kind, Manner, another_version, short},
};

/// How long a process may take to say hello: interpreters and drivers load slowly.
const START: Duration = Duration::from_secs(60);
/// How many batches a host has at a time: one that the process works on, and one that is ready for it.
const IN_FLIGHT: usize = 2;
/// How many jobs a process is asked for at a time that does not say how many it wants. Waking each other up costs both sides as much
/// as some hundred tiny cases take, and more of them would not stay in a core's cache.
const BUSY_JOBS: usize = 384;

/// The code of the system's error for a file that is no program of this machine: `ENOEXEC`, or `ERROR_BAD_EXE_FORMAT`.
const OTHER_FORMAT: i32 = if cfg!(windows) { 193 } else { 8 };

/// Starts processes of one command, and hosts for them.
pub struct Launcher {
    command: Command,
    case_timeout: Duration,
    end: Option<Instant>,
    deadline: Deadline,
    most_hangs: Option<u64>,
    /// How long a process that is told to end may take to end.
    grace: Duration,
    /// What the first process declared, and every other must.
    declared: OnceLock<Declared>,
    /// The first process, until a host needs one.
    spare: Mutex<Option<Child>>,
    health: Health,
    pub(super) probes: Probes,
}

impl Launcher {
    /// A process that has cases and sends no result for as long as `case_timeout` is ended.
    pub fn new(command: Command, case_timeout: Duration) -> Self {
        Self {
            command,
            case_timeout,
            end: None,
            deadline: Deadline::default(),
            most_hangs: None,
            grace: GRACE,
            declared: OnceLock::new(),
            spare: Mutex::new(None),
            health: Health::default(),
            probes: Probes::default(),
        }
    }

    /// Before any case has been answered, creates operators from these descs to see whether a process answers at all.
    #[must_use]
    pub fn with_probes(self, descs: Vec<Desc>) -> Self {
        Self { probes: Probes::given(descs), ..self }
    }

    /// Reports there what happens to processes, while it happens.
    #[must_use]
    pub fn with_incidents(self, incidents: Incidents) -> Self {
        Self { health: Health::with_incidents(incidents), ..self }
    }

    /// Waits for nothing longer than until then. Cases that a process has not answered by that time stay without an answer, and are
    /// not blamed.
    #[must_use]
    pub fn with_end(self, end: Option<Instant>) -> Self {
        Self { end, ..self }
    }

    /// The same, from a time on that any thread can set while processes are waited for.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline) -> Self {
        Self { deadline, ..self }
    }

    /// Asks for nothing more once this many cases hang, without those of hosts for [retries](Purpose::Retries).
    /// Unanswered cases stay unanswered.
    #[must_use]
    pub fn with_max_hangs(self, most_hangs: Option<u64>) -> Self {
        Self { most_hangs, ..self }
    }

    /// Gives processes that are told to end less time than usual: a process that is to end itself cannot wait as long for another.
    #[must_use]
    pub fn with_short_grace(self) -> Self {
        Self { grace: GRACE / 2, ..self }
    }

    /// How long a process may be silent while it has cases.
    pub(super) fn case_timeout(&self) -> Duration {
        self.case_timeout
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

    /// Takes note that a process failed.
    pub(super) fn note_failure(&self, fault: &Fault) {
        self.health.failed(fault);
    }

    /// Counts a case that hangs.
    pub(super) fn note_hang(&self) {
        self.health.hung(self.case_timeout, self.most_hangs.is_some());
    }

    /// Takes note that this many cases took too long together, and none alone.
    pub(super) fn note_slow(&self, cases: usize) {
        self.health.slow(cases, self.case_timeout);
    }

    /// A host. The first one starts a process, to learn what it declares; others start theirs when they have a batch for it.
    pub fn host(self: &Arc<Self>, purpose: Purpose) -> Result<Host, StartError> {
        if self.declared.get().is_none() {
            let child = self.start()?;
            *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        }
        let declared = self.declared.get().cloned();
        let declared = declared.ok_or_else(|| self.protocol("declares nothing"))?;
        Ok(Host::new(Arc::clone(self), declared, purpose))
    }

    /// The first process, if no host has it.
    pub(super) fn spare(&self) -> Option<Child> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A process that has said hello.
    pub(super) fn process(&self) -> Result<Child, StartError> {
        self.spare().map_or_else(|| self.start(), Ok)
    }

    /// Ends a process that was told to end, once it has had the time for it, and takes note of how it ended.
    pub(super) fn dismiss(&self, child: Child) {
        let (shutdown, surplus) = child.dismiss(self.grace);
        self.health.ended(shutdown, surplus);
    }

    fn protocol(&self, what: impl Into<String>) -> StartError {
        StartError::Protocol { command: self.command.to_string(), what: what.into() }
    }

    /// Starts a process that says hello, and declares what the first one did.
    fn start(&self) -> Result<Child, StartError> {
        let command = || self.command.to_string();
        let child =
            Child::spawn(&self.command, self.health.incidents(), self.deadline.clone()).map_err(|error| {
                StartError::Spawn {
                    command: command(),
                    cause: error.to_string(),
                    is_other_format: error.raw_os_error() == Some(OTHER_FORMAT),
                }
            })?;
        child.send(host::message(Kind::Hello, &HostHello::default()));
        let received = child.receive(self.until_the_end(START));
        let Received { frame, .. } = received.map_err(|fault| match fault {
            Fault::Ended(how) => StartError::Ended { command: command(), how },
            Fault::Silent(time) => {
                StartError::Silent { command: command(), time, last_words: child.with_last_words("") }
            }
            Fault::Version(version) => StartError::Version { command: command(), version },
            Fault::LongHello(what) => StartError::Hello { command: command(), what },
            Fault::Wrong(what) => self.protocol(format!("does not speak the protocol: {what}")),
        })?;
        if frame.kind != Kind::Hello {
            return Err(self.protocol(format!("sent `{}` where `hello` is due", frame.kind.name())));
        }
        if let Some(version) = another_version(&frame.header) {
            return Err(StartError::Version { command: command(), version });
        }
        if serde_json::from_slice::<HostHello>(&frame.header).is_ok() {
            return Err(self.protocol("is no backend: it answers with what it was sent"));
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

/// What a process declares.
fn read_hello(header: &[u8]) -> Result<Declared, String> {
    let hello = Hello::read(header)?;
    let manner = Manner { is_packed: hello.packed, is_ahead: hello.ahead };
    let mut capabilities = hello.capabilities()?;
    let limits = &mut capabilities.limits;
    limits.in_flight = IN_FLIGHT;
    limits.busy_jobs = hello.limits.busy_cases.map_or(BUSY_JOBS, |_| limits.busy_jobs).min(limits.batch_jobs);
    capabilities.is_apart = true;
    Ok(Declared { hello, capabilities, manner })
}
