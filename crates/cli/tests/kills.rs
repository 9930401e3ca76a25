//! Processes of a backend are killed at random moments while a long run goes on, as a machine that is short of memory does
//! it: every case has its verdict all the same, and what the kills cost is said.

#![cfg(target_os = "linux")]

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use dmlcts_backend::process::{Command, Launcher};
use dmlcts_generate::Suite;
use dmlcts_runner::{Configuration, Ending, Factory, Parts, Run, Stop, Summary, Verdict};
use dmlcts_spec::{Library, Source};

/// Valid descs and such that must be refused, so that an answer in the wrong place does not pass.
const SUITE: &str = "
suite: mixed
purpose: Many small cases, valid and not.
parts:
  - {id: random, strategy: random, elements: 64}
  - {id: negative, strategy: negative}
";
const CASES: u64 = 100_000;

fn run(limit: u64) -> Summary {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("mixed.yaml", SUITE)).expect("the suite is one");
    let parts = Parts::new(suite.expand(library, 7).expect("the suite expands"), &[]);
    let command = Command::parse(&format!("'{}' serve", env!("CARGO_BIN_EXE_dmlcts"))).expect("a command");
    let launcher = Arc::new(Launcher::new(command, Duration::from_secs(60)));
    let backend: Arc<Factory> = Arc::new(move || Ok(Box::new(launcher.host()?)));
    let configuration =
        Configuration { jobs: 3, limit: Some(limit), shrink: false, ..Configuration::default() };
    let run = Run { library, source: Arc::new(parts), backend, configuration, stop: Stop::default() };
    dmlcts_runner::run(&run, &mut |_| {}).expect("it starts")
}

/// The processes that this one started.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this process has threads").flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn killed_processes_cost_no_case_its_verdict() {
    let is_over = Arc::new(AtomicBool::new(false));
    let killer = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            let (mut kills, mut state) = (0_u64, 0x9E37_79B9_u64);
            while !is_over.load(Ordering::Relaxed) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                thread::sleep(Duration::from_millis(10 + (state >> 33) % 60));
                let children = children();
                let Some(victim) = children.get((state >> 40) as usize % children.len().max(1)) else {
                    continue;
                };
                let killed = std::process::Command::new("kill").args(["-KILL", victim]).status();
                kills += u64::from(killed.is_ok_and(|status| status.success()));
            }
            kills
        }
    });
    let summary = run(CASES);
    is_over.store(true, Ordering::Relaxed);
    let kills = killer.join().expect("it does not panic");
    let tally = summary.tally();
    assert_eq!(
        (summary.ending, summary.totals.progress.ran, tally.total()),
        (Ending::Limit, CASES, CASES),
        "{:?}",
        summary.lost
    );
    // Nothing is wrong with any case; a kill costs one its good name at most, and is never passed over in silence.
    let marred = tally.of(Verdict::Crash) + tally.of(Verdict::Flake);
    assert_eq!(tally.of(Verdict::Pass) + tally.of(Verdict::Recorded) + marred, CASES, "{tally:?}");
    assert!(marred <= kills, "{marred} cases after {kills} kills");
    assert!(marred > 0 || kills < 8, "none of {kills} kills was noticed");
}
