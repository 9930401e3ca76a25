//! Kills backend processes at random moments during a long run, as a machine without free memory does. Every
//! case still has its verdict, also in the results file, and none is blamed for a kill, which an incident
//! reports.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::common::{Scratch, dmlcts, run};
use dmlcts_results::{Item, Reader, SummaryForm};
use dmlcts_runner::{Ending, Verdict};

/// Valid and invalid descs, so that an answer in the wrong place does not pass.
const SUITE: &str = "
suite: mixed
purpose: Many small cases, valid and not.
parts:
  - {id: random, strategy: random, elements: 64}
  - {id: negative, strategy: negative}
";
const CASES: u64 = 100_000;
/// The minimum number of kills, in as many runs as that takes on this machine.
const KILLS: u64 = 8;

/// The child processes of a process.
fn children(parent: &Child) -> Vec<String> {
    // None if it has just ended.
    let tasks = fs::read_dir(format!("/proc/{}/task", parent.id())).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Kills processes of a run from its first recorded case until it ends; a backend that does not start is
/// another matter. Returns the number of kills and the exit code.
fn kill_until_it_ends(child: &mut Child, file: &Scratch, state: &mut u64) -> (u64, Option<i32>) {
    let mut kills = 0;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return (kills, status.code());
        }
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis(10 + (*state >> 33) % 60));
        // The file has more than the header.
        if fs::metadata(file.path()).is_ok_and(|about| about.len() < 4096) {
            continue;
        }
        let children = children(child);
        let Some(victim) = children.get((*state >> 40) as usize % children.len().max(1)) else { continue };
        let killed = Command::new("kill").args(["-KILL", victim]).stderr(Stdio::null()).status();
        kills += u64::from(killed.is_ok_and(|status| status.success()));
    }
}

/// The number of cases of each verdict in a results file, and its summary. The cases are in order, none is
/// missing, and the summary has the same counts.
fn verdicts(file: &Scratch) -> (BTreeMap<Verdict, u64>, SummaryForm) {
    let mut reader = Reader::open(file.path()).expect("it is a results file");
    let (mut verdicts, mut next, mut summary) = (BTreeMap::new(), 0, None);
    while let Some(item) = reader.next().expect("each line is one of a results file") {
        match item {
            Item::Case(case) => {
                assert_eq!(case.index, next, "{}", case.line);
                *verdicts.entry(case.verdict).or_default() += 1;
                next += 1;
            }
            Item::Checkpoint(_) => {}
            Item::Summary(last) => summary = Some(last),
        }
    }
    let summary = summary.expect("the run came to its end");
    assert_eq!((summary.ending, summary.totals.ran, next), (Ending::Limit, CASES, CASES));
    (verdicts, *summary)
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn killed_processes_cost_no_case_its_verdict() {
    let (suite, file) = (Scratch::new("kills.yaml", SUITE), Scratch::new("kills.jsonl", ""));
    let messages = Scratch::new("kills.txt", "");
    let backend = format!("exec:'{}' serve", env!("CARGO_BIN_EXE_dmlcts"));
    let limit = CASES.to_string();
    let (mut kills, mut noticed, mut state) = (0, 0, 0x9E37_79B9_u64);
    while kills < KILLS {
        let mut command = dmlcts();
        command.args(["run", "--suite", suite.path(), "--seed", "7", "--limit", &limit]);
        command.args(["--backend", &backend, "--case-timeout", "60s", "--jobs", "3"]);
        command.args(["--results", file.path(), "--overwrite"]);
        let stderr = fs::File::create(messages.path()).expect("a file for the messages");
        let mut child = command.stdout(Stdio::null()).stderr(stderr).spawn().expect("the program starts");
        let (killed, code) = kill_until_it_ends(&mut child, &file, &mut state);
        // No case is wrong, and no kill makes a case a crash or a flake.
        let (verdicts, summary) = verdicts(&file);
        let of = |verdict| verdicts.get(&verdict).copied().unwrap_or_default();
        assert_eq!(of(Verdict::Pass) + of(Verdict::Recorded), CASES, "{verdicts:?} after {killed} kills");
        // A process that is killed after `bye` has ended badly, which decides the exit code.
        let is_bad_end = summary.bad_end.is_some();
        assert_eq!((code, code != Some(0)), (Some(i32::from(summary.exit_code)), is_bad_end));
        let told = fs::read_to_string(messages.path()).expect("the messages can be read");
        let is_noticed = is_bad_end || told.contains("killed from outside (SIGKILL)");
        // The results file is consistent and gives the same summary.
        assert_eq!(run(&["merge", "--quiet", file.path()]).status.code(), code);
        (kills, noticed) = (kills + killed, noticed + u64::from(is_noticed));
    }
    assert!(noticed > 0, "none of {kills} kills was noticed");
}
