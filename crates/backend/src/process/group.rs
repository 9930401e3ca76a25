//! A process with all that it started. On Unix they are a process group, which keeps its number as long as its leader has not
//! been waited for: the leader is left unwaited for until the group is ended, so that the number cannot be another's by then.

use std::{
    io,
    process::{Child, Command, ExitStatus},
};

/// A process, and what it started.
#[derive(Debug)]
pub(super) struct Group {
    leader: Child,
    /// How the leader ended, once all of them are ended.
    status: Option<ExitStatus>,
    /// Whether the leader still ran when all of them were ended.
    was_cut_short: bool,
}

impl Group {
    /// Starts a process with a group of its own: Ctrl-C is for the host to handle, and the group can be ended as a whole.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { leader: command.spawn()?, status: None, was_cut_short: false })
    }

    /// The process that was started.
    pub(super) fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Whether the process that was started has ended, whatever became of those that it started itself.
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

    /// Ends all of them; how the process that was started ended, where that can be told.
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
        // Windows knows no groups that can be ended; this tool of its own goes from parent to child, where the parent runs.
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

    /// Whether the process that was started did not end by itself.
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
