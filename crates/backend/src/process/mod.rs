//! The host of backends in other processes, which speak the [protocol](crate::protocol).
//!
//! A process is not trusted. Every frame is checked before anything is done with it; what a process sends, prints or
//! leaves out is its own failure, written down as the outcome of a case, and a fresh process goes on with the next one. The
//! host itself never waits longer than the deadline of a case, takes no memory on a process's word, and gives every job of
//! every batch an outcome.

mod answers;
mod canary;
mod child;
mod command;
mod curfew;
mod declared;
mod goodbye;
mod group;
mod health;
mod host;
mod incidents;
mod notes;
mod poison;
mod settle;
mod tail;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

pub use child::end_all;
pub use command::{Command, CommandError};
pub use curfew::Curfew;
pub use goodbye::Goodbyes;
pub use host::Host;
pub use incidents::Incidents;

use dmlcts_model::Desc;

use crate::protocol::{Hello, HostHello, Kind, Manner, another_version, speaks};
use canary::Canaries;
use child::{Child, Fault, Received};
use declared::Declared;
use goodbye::GRACE;
use health::Health;

/// How long a process may take to say hello: interpreters and drivers load slowly.
const START: Duration = Duration::from_secs(60);
/// How often a process is started that ends before it says hello, where another one did say it.
const STARTS: usize = 3;
/// How many batches a host has at a time: one that the process works on, and one that is ready for it.
const IN_FLIGHT: usize = 2;
/// How many jobs a process is asked for at a time that does not say how many it wants: waking each other up costs both sides as much as some hundred tiny cases
/// take, and more of them would not stay in a core's cache.
const BUSY_JOBS: usize = 384;

/// Starts processes of one command, and hosts for them.
#[derive(Debug)]
pub struct Launcher {
    command: Command,
    case_timeout: Duration,
    deadline: Option<Instant>,
    curfew: Curfew,
    most_hangs: Option<u64>,
    /// How long a process that is told to end may take to end.
    grace: Duration,
    /// What the first process declared, and every other must.
    declared: OnceLock<Declared>,
    health: Health,
    canaries: Canaries,
}

/// Whether a process that did not start may start another time.
struct CanTryAgain(bool);

impl Launcher {
    /// A process that has cases and sends no result for as long as `case_timeout` is ended.
    pub fn new(command: Command, case_timeout: Duration) -> Self {
        Self {
            command,
            case_timeout,
            deadline: None,
            curfew: Curfew::default(),
            most_hangs: None,
            grace: GRACE,
            declared: OnceLock::new(),
            health: Health::default(),
            canaries: Canaries::default(),
        }
    }

    /// Where one process after the other fails before any has answered a case, creates operators from these descs: a backend that
    /// answers to one of them is not given up, since it fails at what it was asked.
    #[must_use]
    pub fn knowing(self, descs: Vec<Desc>) -> Self {
        Self { canaries: Canaries::given(descs), ..self }
    }

    /// Says there what happens to processes, while it happens.
    #[must_use]
    pub fn telling(self, incidents: Incidents) -> Self {
        Self { health: Health::telling(incidents), ..self }
    }

    /// Waits for nothing longer than until then. What a process has not answered by that time stays without an answer, and is
    /// blamed on nobody: whatever it was doing, the time is up.
    #[must_use]
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// The same from a time on that somebody may set while processes are waited for.
    #[must_use]
    pub fn minding(self, curfew: Curfew) -> Self {
        Self { curfew, ..self }
    }

    /// Asks for nothing any more once so many cases hang, without those that are only [looked at again](crate::Backend::look_again). As where the time is up, what has no answer then stays without.
    #[must_use]
    pub fn up_to(self, most_hangs: Option<u64>) -> Self {
        Self { most_hangs, ..self }
    }

    /// Gives processes that are told to end less time for it than usual: who is to end itself cannot wait as long for another.
    #[must_use]
    pub fn in_haste(self) -> Self {
        Self { grace: GRACE / 2, ..self }
    }

    pub(crate) fn case_timeout(&self) -> Duration {
        self.case_timeout
    }

    /// As much of this time as there is left.
    fn until_the_end(&self, time: Duration) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(time, |left| left.min(time))
    }

    /// Whether the time is up, or as many cases hang as may.
    fn is_over(&self) -> bool {
        self.curfew.is_over()
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.most_hangs.is_some_and(|most| self.health.hangs() >= most)
    }

    /// Starts a process, and a host for it; the reason for not being able to.
    pub fn host(self: &Arc<Self>) -> Result<Host, String> {
        let (child, declared) = self.start()?;
        if let Some(how) = self.disagreement(&declared) {
            return Err(format!("`{}` {how}", self.command));
        }
        Ok(Host::new(Arc::clone(self), child, declared))
    }

    /// In what this is not what the first process declared, where it is not; the first one agrees with itself.
    fn disagreement(&self, declared: &Declared) -> Option<String> {
        self.declared.get_or_init(|| declared.clone()).disagreement(declared)
    }

    /// Starts a process that says hello. Where one did before, chance has more than one try: a machine that is short of
    /// memory ends processes while they start, too.
    fn start(&self) -> Result<(Child, Declared), String> {
        let tries = if self.declared.get().is_some() { STARTS } else { 1 };
        let mut started = self.try_start();
        for _ in 1..tries {
            if matches!(started, Err((_, CanTryAgain(true)))) {
                started = self.try_start();
            }
        }
        started.map_err(|(reason, _)| reason)
    }

    fn try_start(&self) -> Result<(Child, Declared), (String, CanTryAgain)> {
        let command = &self.command;
        let no = |reason| (reason, CanTryAgain(false));
        let child = Child::spawn(command, self.health.incidents(), self.curfew.clone()).map_err(|error| {
            no(format!("`{command}`: {error}; name a program by its path, or one that PATH finds"))
        })?;
        child.send(host::message(Kind::Hello, &HostHello::default()));
        let Received { frame, .. } =
            child.receive(self.until_the_end(START)).map_err(|fault| match fault {
                Fault::Ended(how) => (format!("`{command}` did not say hello: {how}"), CanTryAgain(true)),
                Fault::Silent(time) => no(child.with_last_words(&format!(
                    "`{command}` did not say hello within {:.1} s",
                    time.as_secs_f64()
                ))),
                Fault::Version(version) => no(speaks(&format!("`{command}`"), version)),
                Fault::Wrong(what) => no(format!("`{command}` does not speak the protocol: {what}")),
            })?;
        if frame.kind != Kind::Hello {
            return Err(no(format!("`{command}` sent `{}` where `hello` is due", frame.kind.name())));
        }
        if let Some(version) = another_version(&frame.header) {
            return Err(no(speaks(&format!("`{command}`"), version)));
        }
        if serde_json::from_slice::<HostHello>(&frame.header).is_ok() {
            return Err(no(format!("`{command}` is no backend: it answers with what it was sent")));
        }
        let said = Hello::read(&frame.header).and_then(|hello| {
            let manner = Manner { is_packed: hello.packed, is_ahead: hello.ahead };
            Ok(Declared { capabilities: hello.capabilities()?, manner, hello })
        });
        let mut declared =
            said.map_err(|what| no(format!("the `hello` of `{command}` makes no sense: {what}")))?;
        let limits = &mut declared.capabilities.limits;
        limits.in_flight = IN_FLIGHT;
        let busy = declared.hello.limits.busy_cases;
        limits.busy_jobs = busy.map_or(BUSY_JOBS, |_| limits.busy_jobs).min(limits.batch_jobs);
        Ok((child, declared))
    }
}
