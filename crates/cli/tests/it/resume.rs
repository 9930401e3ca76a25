//! `dmlcts run --resume` after a run with a slow backend was killed. The recorded cases stay and do not run
//! again, and the whole has the result of an undisturbed run. The backend logs its cases. A run is killed
//! when its file shows enough cases, so never too early or too late.

use std::{fs, path::Path, process::Command};

use dmlcts_tests::{at_once, wait_until};

use crate::common::{Findings, Scratch, dmlcts, faulty, finding, stdout, text};

/// The number of cases of a run.
const CASES: usize = 150;
/// The maximum number of cases in a batch of a slow backend with one job: an eighth of all.
const BATCH: usize = CASES.div_ceil(8);
/// The variable that names the backend's log of cases.
const LOG: &str = "DMLCTS_TEST_LOG";
/// The variable that names the file of the cases at which the backend hangs, one line each.
const STUCK: &str = "DMLCTS_TEST_STUCK";
/// The variable that makes the backend quick and faulty: at edges, which the list has, and at slices of
/// INT16, which no list has.
const WRONG: &str = "DMLCTS_TEST_WRONG";
/// The case at an index; all cases differ.
fn case(place: usize) -> String {
    let size = place + 1;
    format!("SLICE UINT8 in={size} out={size} Offsets=0 Sizes={size} Strides=1 fill=iota")
}

/// A results file that may be unfinished.
#[derive(Default, Debug, PartialEq)]
struct Recorded {
    /// The lines of its cases.
    cases: Vec<String>,
    /// The number of cases that a checkpoint counts, which need not run again.
    counted: usize,
    /// The summary without its duration.
    summary: String,
}

fn recorded(file: &Scratch) -> Recorded {
    let mut recorded = Recorded::default();
    // A torn line is left out.
    let text = fs::read_to_string(file.path()).unwrap_or_default();
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        if line.starts_with("{\"case\"") {
            recorded.cases.push(line.to_owned());
        } else if line.starts_with("{\"checkpoint\"") {
            recorded.counted = recorded.cases.len();
        } else if let Some((before, after)) = line.split_once("\"milliseconds\":") {
            let after = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
            recorded.summary = format!("{before}{after}");
        }
    }
    recorded
}

/// A command that runs all cases with these options, on a backend that hangs at one of them.
fn run(options: &[&str], log: &Scratch, stuck: Option<&str>) -> Command {
    let mut command = run_suite(options, log, stuck);
    command.args((0..CASES).map(case));
    command
}

/// The same with the cases of the suite that the options name.
fn run_suite(options: &[&str], log: &Scratch, stuck: Option<&str>) -> Command {
    let mut command = dmlcts();
    command.args(["run", "--quiet", "--backend", &faulty("logging")]);
    command.args(options).env(LOG, log.path());
    stuck.map(|stuck| command.env(STUCK, stuck));
    command
}

/// The record of a run that is killed when its file has these cases.
fn killed(mut run: Command, file: &Scratch, is_so_far: impl Fn(&Recorded) -> bool) -> Recorded {
    let mut child = run.spawn().expect("it starts");
    wait_until(|| is_so_far(&recorded(file)));
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let killed = recorded(file);
    assert!(killed.summary.is_empty() && is_so_far(&killed), "{killed:?}");
    killed
}

/// Kills a run when its file has these cases, continues it, and compares the result with an undisturbed run.
fn kill_and_go_on(options: &[&str], stuck: usize, is_so_far: impl Fn(&Recorded) -> bool) {
    let name = |what: &str| format!("resume-{}-{stuck}-{what}", options.join("").replace('/', "-"));
    let [whole, file] = ["whole", "killed"].map(|what| Scratch::nothing(&name(what)));
    let [log, again, other] = ["log", "again", "other"].map(|what| Scratch::nothing(&name(what)));
    let with = |option, file: &Scratch, log, stuck| {
        run(&[options, &["--case-timeout", "1h", option, file.path()]].concat(), log, stuck)
    };
    assert!(with("--results", &whole, &other, None).status().expect("it starts").success());

    let stuck = case(stuck);
    let killed = killed(with("--results", &file, &log, Some(&stuck)), &file, is_so_far);

    assert!(with("--resume", &file, &again, None).status().expect("it starts").success());
    let (ended, undisturbed) = (recorded(&file), recorded(&whole));
    assert_eq!(ended.cases[..killed.cases.len()], killed.cases, "no line is lost");
    assert_eq!(ended, undisturbed);
    let asked = fs::read_to_string(AsRef::<Path>::as_ref(&again)).expect("somebody was asked");
    for case in &killed.cases[..killed.counted] {
        assert!(!asked.lines().any(|line| case.contains(&format!("\"{line}\""))), "asked again: {case}");
    }
    assert_eq!(asked.lines().count(), ended.cases.len() - killed.counted, "and each other one once");
}

/// Whether a run has recorded everything before the batch with the case at this index. The first batch has 8
/// cases.
fn is_close(file: &Recorded, place: usize) -> bool {
    (place.saturating_sub(BATCH).max(8)..=place).contains(&file.counted)
}

/// No case hangs before the run is killed.
#[test]
fn a_slow_run_goes_on_where_it_was_killed() {
    at_once(["1", "2"], |jobs| kill_and_go_on(&["--jobs", jobs], CASES - 1, |file| file.counted >= 20));
}

/// The first batch has 8 cases, and no later one has more than an eighth of all. The batches before the
/// hanging one are recorded.
#[test]
fn a_hang_in_the_middle_of_a_batch() {
    at_once([8, 9, 47], |stuck| {
        kill_and_go_on(&["--jobs", "1"], stuck, |file| is_close(file, stuck));
    });
}

/// Only the batches after the hanging one wait for it.
#[test]
fn a_hang_while_other_threads_go_on() {
    kill_and_go_on(&["--jobs", "3"], 40, |file| is_close(file, 40));
}

#[test]
fn a_hang_in_a_part_of_a_suite() {
    let options = ["--jobs", "2", "--retries", "1", "--partition", "1/2"];
    let other = Scratch::nothing("resume-part");
    let file = Scratch::nothing("resume-part-log");
    let all = run(&[&options[..], &["--results", other.path()]].concat(), &file, None).status();
    assert!(all.expect("it starts").success());
    // The middle case of those in this part.
    let before = recorded(&other).cases.len() / 2;
    let of_part =
        (0..CASES).filter(|place| recorded(&other).cases.iter().any(|line| line.contains(&case(*place))));
    let stuck = of_part.into_iter().nth(before).expect("the part has some");
    kill_and_go_on(&options, stuck, |file| is_close(file, before));
}

/// The run ends with the earlier cases, gives the reason, and continues after them.
#[test]
fn a_run_that_hangs_too_often() {
    let (file, log) = (Scratch::nothing("resume-hangs"), Scratch::nothing("resume-hangs-log"));
    // Enough time for a process to start on a busy machine.
    let options = ["--max-hangs", "1", "--retries", "0", "--jobs", "1", "--case-timeout", "3s"];
    let stuck = case(40);
    let mut command = run(&[&options[..], &["--results", file.path()]].concat(), &log, Some(&stuck));
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let (ended, said) = (recorded(&file), String::from_utf8_lossy(&output.stderr));
    assert_eq!(ended.cases.len(), 41, "nothing is asked behind it: {said}\n{}", ended.summary);
    assert!(ended.cases[40].contains(r#""kind":"timed-out""#), "{}", ended.cases[40]);
    assert!(ended.summary.contains(r#""ending":"hangs","exit_code":3,"#), "{}", ended.summary);
    let mut command = run(&[&options[..], &["--resume", file.path()]].concat(), &log, None);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(recorded(&file).cases.len(), CASES);
}

/// If the time is too short to see that a backend answers nothing, each run still records some of its first
/// hangs, and the next run continues after them.
#[test]
fn a_run_that_begins_with_hangs_only() {
    const HANGS: usize = 8;
    let (file, log) = (Scratch::nothing("resume-block"), Scratch::nothing("resume-block-log"));
    let stuck = (0..HANGS).map(case).collect::<Vec<_>>().join("\n");
    let options = ["--retries", "0", "--jobs", "2", "--case-timeout", "500ms", "--timeout", "3s"];
    let with = |option| run(&[&options[..], &[option, file.path()]].concat(), &log, Some(&stuck));
    let mut output = with("--results").output().expect("it starts");
    // On a busy machine, a run may end before its first case.
    for _ in 0..40 {
        if recorded(&file).cases.len() == CASES {
            break;
        }
        output = with("--resume").output().expect("it starts");
    }
    let (ended, said) = (recorded(&file), String::from_utf8_lossy(&output.stderr));
    assert!(ended.summary.contains(r#""ending":"complete""#), "{} cases; {said}", ended.cases.len());
    let hung = ended.cases.iter().take_while(|case| case.contains(r#""kind":"timed-out""#)).count();
    assert!(ended.cases.len() == CASES && hung == HANGS, "{hung} of {} cases", ended.cases.len());
}

/// Failures, known failures and answers to open questions, in parts that were killed between them, and in the
/// joined run.
#[test]
fn failures_before_resuming_count() {
    let smallest = "PADDING1 UINT8 in=2 out=3 PaddingMode=EDGE StartPadding=1 EndPadding=0 fill=iota";
    let known = finding("edges", Some("PaddingMode == EDGE and not invalid"), "wrong-value", smallest);
    let list = Findings::new("reference", &[("edges", known)]);
    let parts = at_once(["1/2", "2/2"], |part| {
        let listed = stdout(&["list", "--suite", "smoke", "--partition", part]);
        let listed: Vec<&str> = listed.lines().filter(|line| line.ends_with(" fill=iota")).collect();
        // It reaches about two thirds of its cases, or is killed before: most of these are negative.
        let stuck = listed[listed.len() * 9 / 10];
        let name = |what: &str| Scratch::nothing(&format!("resume-failed-{}-{what}", &part[..1]));
        let [whole, file, log] = ["whole", "file", "log"].map(name);
        let with = |option, file: &Scratch, stuck| {
            let options = ["--suite", "smoke", "--partition", part, "--findings", list.path()];
            let more = ["--explain", "200", "--case-timeout", "1h", option, file.path()];
            let options = [&options[..], &more].concat();
            let mut command = run_suite(&options, &log, stuck);
            command.env(WRONG, "");
            command
        };
        let ended = |mut command: Command| {
            let output = command.output().expect("it starts");
            (output.status.code(), String::from_utf8(output.stdout).expect("it is text"))
        };
        let undisturbed = ended(with("--results", &whole, None));
        assert_eq!(undisturbed.0, Some(1), "{}", undisturbed.1);
        let killed = killed(with("--results", &file, Some(stuck)), &file, |file| {
            has_all_kinds(&file.cases[..file.counted])
        });
        assert_eq!(ended(with("--resume", &file, None)), undisturbed);
        let resumed = recorded(&file);
        assert!(has_all_kinds(&resumed.cases[killed.cases.len()..]), "there is something of each to come");
        assert!(resumed == recorded(&whole), "{}\n{}", resumed.summary, recorded(&whole).summary);
        (whole, file)
    });
    let joined = |files: [&Scratch; 2]| {
        let results = Scratch::nothing("resume-joined-results");
        let [one, two] = files.map(Scratch::path);
        let said = text(&["merge", one, two, "--results", results.path()]);
        let lines = said.lines().filter(|line| !line.starts_with("speed "));
        let said: Vec<String> = lines.map(|line| line.replace(results.path(), "JOINED")).collect();
        (said, recorded(&results))
    };
    let [(one, one_resumed), (two, two_resumed)] = &parts[..] else { unreachable!("they are two") };
    let (undisturbed, resumed) = (joined([one, two]), joined([one_resumed, two_resumed]));
    assert_eq!(resumed.0, undisturbed.0);
    assert!(
        resumed.0[0] == "exit 1" && resumed.0.iter().any(|line| line.starts_with("FAIL 2: ")),
        "{:?}",
        resumed.0
    );
    assert!(resumed.1 == undisturbed.1, "{}\n{}", resumed.1.summary, undisturbed.1.summary);
}

/// Whether some of these cases failed, some failed as known, and some answered an open question.
fn has_all_kinds(cases: &[String]) -> bool {
    let is_there =
        |verdict: &str| cases.iter().any(|case| case.contains(&format!(r#""verdict":"{verdict}""#)));
    ["fail", "expected-fail", "recorded"].into_iter().all(is_there)
}
