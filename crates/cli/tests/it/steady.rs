//! The machine decides nothing. Reports and snapshots are the same with any number of threads, and beside
//! other programs that compute.

use std::{
    fs,
    hint::spin_loop,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{
    common::run,
    findings::{MIRROR, REACH, smoke},
    snapshot::{Snapshots, WRONG, backend},
};

/// Does something while four threads compute.
fn on_a_busy_machine<T>(does: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        let result = does();
        is_done.store(true, Ordering::Relaxed);
        result
    })
}

/// The report of a run of `smoke`, without how fast it was and how many threads it had.
fn report(backend: &str, jobs: &str, more: &[&str]) -> String {
    let usual = if more.contains(&"--explain") { &[][..] } else { &["--explain", "2000"] };
    let shown = smoke(backend, &[&["--jobs", jobs], usual, more].concat()).0;
    let options = format!(" --jobs {jobs}");
    let lines = shown.lines().filter(|line| !line.starts_with("speed "));
    lines.map(|line| line.replace(&options, "") + "\n").collect()
}

#[test]
fn no_report_depends_on_the_number_of_threads() {
    for (backend, more) in [(REACH, "7"), (MIRROR, "2")] {
        let of = |jobs| report(backend, jobs, &["--strategy", "boundary,documented", "--explain", "500"]);
        let one = of("1");
        assert!(one.contains("fresh cases"), "experiments ran: {one}");
        assert_eq!(of(more), one);
    }
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn no_report_depends_on_how_busy_the_machine_is() {
    let listed = run(&["mutants", "--list"]);
    let listed = String::from_utf8(listed.stdout).expect("names are text");
    let is_name = |line: &&str| !line.is_empty() && !line.contains([' ', ':']);
    let names: Vec<&str> = listed.lines().filter(is_name).collect();
    assert!(names.len() > 400, "{listed}");
    for name in names.iter().skip(7).step_by(names.len() / 20).take(20) {
        let backend = format!("mutant:{name}");
        let quiet = report(&backend, "1", &[]);
        let busy = on_a_busy_machine(|| report(&backend, "7", &[]));
        assert_eq!(busy, quiet, "{name}");
    }
}

const SMOKE: [&str; 2] = ["--suite", "smoke"];

/// The faults in a run. Those by chance come in other cases of each run.
fn chance(faults: &str, run: usize) -> String {
    if faults.contains("-once-") { format!("{faults}:{run}") } else { faults.to_owned() }
}

/// Runs of `smoke` on one backend: with these numbers of threads, and joined from parts.
const JOBS: [&str; 4] = ["1", "2", "7", "2"];

/// A clean backend, faults, faults by chance, a fault that depends on the case before, and a slow backend.
const EIGHT: [&str; 8] = [
    "none",
    WRONG,
    "wrong-at-2,wrong-at-3,other-answer",
    "garbage-at-2",
    "wrong-once-in-20",
    "wrong-once-in-200",
    "wrong-after-rank-4",
    "wrong-at-2,slow",
];

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn no_snapshot_depends_on_how_busy_the_machine_is() {
    for (place, faults) in EIGHT.iter().enumerate() {
        let all = Snapshots::accepted_of(&format!("busy-{place}"), ("1.0", &chance(faults, 0)), &SMOKE);
        let before = all.files();
        let make =
            |turn, jobs| all.make("1.0", &chance(faults, turn), &[&SMOKE[..], &["--jobs", jobs]].concat());
        let mut said: Vec<String> = JOBS.iter().enumerate().map(|(turn, jobs)| make(turn, jobs)).collect();
        said.extend(on_a_busy_machine(|| {
            JOBS.iter().enumerate().map(|(turn, jobs)| make(10 + turn, jobs)).collect::<Vec<_>>()
        }));
        let file = |name: &str| all.path().to_owned() + "/" + name;
        let part = |part: &str| {
            let path = file(&part[..1]);
            let backend = backend("1.0", &chance(faults, 20));
            run(&["run", "--partition", part, "--backend", &backend, "--results", &path, "--overwrite"]);
            path
        };
        for whole in ["whole", "busy"].map(file) {
            let parts = ["1/3", "2/3", "3/3"].map(part);
            let [one, two, three] = &parts;
            run(&["merge", two, three, one, "--results", &whole]);
            said.push(all.does(&["--from", &whole]));
            parts.iter().chain([&whole]).for_each(|path| fs::remove_file(path).expect("it was written"));
        }
        for said in said {
            let is_same = said.contains("mine/smoke: as accepted\n");
            assert!(is_same, "{}: {said}{}", EIGHT[place], all.does(&["diff"]));
        }
        assert_eq!(all.files(), before, "{}", EIGHT[place]);
    }
}
