//! Processes of a backend are killed at random moments while a long run goes on, as a machine that is short of memory does
//! it: every case has its verdict all the same, in the results file, too, and what the kills cost is said.

#![cfg(target_os = "linux")]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use common::{Scratch, dmlcts, run};
use dmlcts_results::{Item, Reader, SummaryForm};
use dmlcts_runner::{Ending, Verdict};

/// Valid descs and such that must be refused, so that an answer in the wrong place does not pass.
const SUITE: &str = "
suite: mixed
purpose: Many small cases, valid and not.
parts:
  - {id: random, strategy: random, elements: 64}
  - {id: negative, strategy: negative}
";
const CASES: u64 = 100_000;
/// There are as many kills at least, in as many runs as that takes on this machine.
const KILLS: u64 = 8;

/// The processes that another one started.
fn children(parent: &Child) -> Vec<String> {
    // None where it has just ended.
    let tasks = fs::read_dir(format!("/proc/{}/task", parent.id())).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Kills processes that a run started, now and then, from its first recorded case until it ends: a backend that does not start is
/// another matter. How many, and the exit code.
fn kill_until_it_ends(child: &mut Child, file: &Scratch, state: &mut u64) -> (u64, Option<i32>) {
    let mut kills = 0;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return (kills, status.code());
        }
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis(10 + (*state >> 33) % 60));
        // More than the header.
        if fs::metadata(file.path()).is_ok_and(|about| about.len() < 4096) {
            continue;
        }
        let children = children(child);
        let Some(victim) = children.get((*state >> 40) as usize % children.len().max(1)) else { continue };
        let killed = Command::new("kill").args(["-KILL", victim]).stderr(Stdio::null()).status();
        kills += u64::from(killed.is_ok_and(|status| status.success()));
    }
}

/// How many cases of a results file came to which verdict, and its summary. They stand in their order, none is missing, and the summary
/// counts as many.
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
fn killed_processes_cost_no_case_its_verdict() {
    let (suite, file) = (Scratch::new("kills.yaml", SUITE), Scratch::new("kills.jsonl", ""));
    let backend = format!("exec:'{}' serve", env!("CARGO_BIN_EXE_dmlcts"));
    let limit = CASES.to_string();
    let (mut kills, mut noticed, mut state) = (0, 0, 0x9E37_79B9_u64);
    while kills < KILLS {
        let mut command = dmlcts();
        command.args(["run", "--quiet", "--suite", suite.path(), "--seed", "7", "--limit", &limit]);
        command.args(["--backend", &backend, "--case-timeout", "60s", "--jobs", "3"]);
        command.args(["--results", file.path(), "--overwrite"]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        let (killed, code) = kill_until_it_ends(&mut child, &file, &mut state);
        // Nothing is wrong with any case; a kill costs one its good name at most, and is never passed over in silence.
        let (verdicts, summary) = verdicts(&file);
        let of = |verdict| verdicts.get(&verdict).copied().unwrap_or_default();
        let own = of(Verdict::Crash) + of(Verdict::Flake);
        assert_eq!(of(Verdict::Pass) + of(Verdict::Recorded) + own, CASES, "{verdicts:?}");
        assert!(own <= killed, "{own} cases after {killed} kills");
        // One that is killed when it was told to end has ended badly, which is noticed, too.
        let is_noticed = own > 0 || summary.bad_end.is_some();
        assert_eq!((code, code != Some(0)), (Some(i32::from(summary.exit_code)), is_noticed), "{own}");
        // Whoever reads the file finds it to add up, and to come to the same.
        assert_eq!(run(&["merge", "--quiet", file.path()]).status.code(), code);
        (kills, noticed) = (kills + killed, noticed + u64::from(is_noticed));
    }
    assert!(noticed > 0, "none of {kills} kills was noticed");
}
