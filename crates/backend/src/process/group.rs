//! A process with everything that it started. On Unix this is a process group. Its number stays reserved
//! until the leader is waited for, so the leader is not waited for before the group is ended. So the number
//! cannot belong to another group by then.

use std::{
    io,
    process::{Child, Command, ExitStatus},
};

/// A process and everything that it started.
#[derive(Debug)]
pub(super) struct Group {
    leader: Child,
    /// The exit status of the leader, after the group was ended.
    status: Option<ExitStatus>,
    /// Whether the leader was still running when the group was ended.
    was_cut_short: bool,
}

impl Group {
    /// Starts a process in a group of its own: the host handles Ctrl-C, and the group can be ended as a
    /// whole.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { leader: command.spawn()?, status: None, was_cut_short: false })
    }

    /// The process that was started directly.
    pub(super) fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Whether the leader has ended. The processes that it started may still run.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.status.is_some() {
            return true;
        }
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            matches!(waitid(WaitId::Pid(Pid::from_child(&self.leader)), options), Ok(Some(_)))
        }
        #[cfg(not(unix))]
        matches!(self.leader.try_wait(), Ok(Some(_)))
    }

    /// Ends the whole group. Returns the exit status of the leader, if it is known.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return self.status;
        }
        self.was_cut_short = !self.has_ended();
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.leader),
            rustix::process::Signal::KILL,
        );
        // Windows has no groups that can be ended. `taskkill /T` follows the processes from parent to child
        // while the parent runs.
        #[cfg(windows)]
        if self.was_cut_short {
            let _ = Command::new("taskkill")
                .args(["/T", "/F", "/PID", &self.leader.id().to_string()])
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .status();
        }
        let _ = self.leader.kill();
        self.status = self.leader.wait().ok();
        self.status
    }

    /// Whether the leader was killed instead of ending by itself.
    pub(super) fn was_cut_short(&self) -> bool {
        self.was_cut_short
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn who_ended_by_itself_is_told_from_who_was_ended() {
        let mut runs = Group::spawn(Command::new("sleep").arg("100")).expect("it starts");
        runs.end();
        assert!(runs.was_cut_short());
        let mut ended = Group::spawn(&mut Command::new("false")).expect("it starts");
        while !ended.has_ended() {
            std::thread::yield_now();
        }
        assert_eq!(ended.end().and_then(|status| status.code()), Some(1));
        assert!(!ended.was_cut_short());
    }
}
