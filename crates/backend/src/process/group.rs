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
    /// The process that was started directly.
    pub(super) leader: Child,
    /// The exit status of the leader, after the group was ended.
    status: Option<ExitStatus>,
    /// Whether the leader was still running when the group was ended.
    pub(super) was_cut_short: bool,
}

impl Group {
    /// Starts a process in a group of its own: the host handles Ctrl-C, and the group can be ended as a
    /// whole.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { leader: command.spawn()?, status: None, was_cut_short: false })
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

    /// The resident memory of the leader and its descendants in bytes, without what they share with others:
    /// files and shared memory. 0 where the system does not tell.
    pub(super) fn memory(&self) -> u64 {
        memory_of(self.leader.id())
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
}

/// The memory of a process and its descendants, from `RssAnon` in `/proc/PID/status`.
#[cfg(target_os = "linux")]
fn memory_of(process: u32) -> u64 {
    use std::fs::{read_dir, read_to_string};
    let status = read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = kibibytes.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    // None if the process has just ended.
    let threads = read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| read_to_string(thread.path().join("children")).ok());
    let of_children: u64 = children
        .flat_map(|list| list.split_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<u32>>())
        .map(memory_of)
        .sum();
    of_children.saturating_add(kibibytes.unwrap_or(0).saturating_mul(1024))
}

#[cfg(not(target_os = "linux"))]
fn memory_of(_process: u32) -> u64 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn who_ended_by_itself_is_told_from_who_was_ended() {
        let mut runs = Group::spawn(Command::new("sleep").arg("100")).expect("it starts");
        runs.end();
        assert!(runs.was_cut_short);
        let mut ended = Group::spawn(&mut Command::new("false")).expect("it starts");
        while !ended.has_ended() {
            std::thread::yield_now();
        }
        assert_eq!(ended.end().and_then(|status| status.code()), Some(1));
        assert!(!ended.was_cut_short);
    }
}
