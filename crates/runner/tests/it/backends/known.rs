//! Known failures that do not fail each time. A result that changes from run to run is a flake, whichever
//! result came first.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dmlcts_backend::{Backend as _, Capabilities, Job};
use dmlcts_model::{ErrorCode, Outcome};
use dmlcts_runner::{
    BlessError, Blessing, Class, Conclusion, Difference, Factory, KnownFailures, Rate, Run, Summary, Verdict,
};
use dmlcts_spec::{Library, Source};

use super::fixture::{BYTES, HUGE, REVERSAL, behaving, correct, refuse, run_of, spoiling, summary};

const LIST: &str = "\
backend: closure
failures:
  - id: reversal
    suites: [listed]
    where: operator == SLICE1 and any axis InputWindowStrides < 0
    signature: wrong-value
    kind: bug
    reason: Walks a window from the wrong end.
";

/// A backend with a fault in reversals of two rows. A closure gives the fault, if any, for the n-th of them.
fn reversing(outcome: impl Fn(usize) -> Reversal + Send + Sync + 'static) -> Arc<Factory> {
    let times = AtomicUsize::new(0);
    behaving(move |batch| {
        correct(batch);
        let (jobs, _, outputs) = batch.parts();
        let is_one = |job: &&mut Job| job.desc.list("InputWindowSizes") == Some(&[2, 4]);
        for job in jobs.iter_mut().filter(is_one) {
            let output = job.runs[0].output.clone();
            match outcome(times.fetch_add(1, Ordering::Relaxed)) {
                Reversal::Right => {}
                Reversal::Wrong => outputs[output.start] ^= 1,
                Reversal::Unwritten => outputs[output].fill(dmlcts_runner::Poison::FIRST.0),
            }
        }
    })
}

enum Reversal {
    Right,
    Wrong,
    Unwritten,
}
use Reversal::{Right, Unwritten, Wrong};

fn run(lines: &[&str], backend: Arc<Factory>) -> Run {
    let mut run = run_of(lines, backend);
    let known = KnownFailures::load(&[Source::new("known.yaml", LIST)], Library::embedded());
    run.configuration.known = known.unwrap_or_else(|error| panic!("{error}"));
    (run.configuration.jobs, run.configuration.shrink) = (1, false);
    run
}

fn verdicts(summary: &Summary) -> Vec<(Verdict, u64)> {
    let tally = summary.tally();
    let all = Verdict::ALL.into_iter().map(|verdict| (verdict, tally.of(verdict)));
    all.filter(|(_, cases)| *cases > 0).collect()
}

/// The result of a passed case when it ran again.
#[test]
fn a_known_failure_that_passes_at_times_is_a_flake() {
    let lines = [BYTES, REVERSAL];
    let flaky = summary(&run(&lines, reversing(|times| if times == 2 { Wrong } else { Right })));
    assert_eq!(verdicts(&flaky), [(Verdict::Pass, 1), (Verdict::Flake, 1)]);
    assert!(flaky.findings.iter().all(|finding| finding.first.tried.is_none()), "{:?}", flaky.findings);
    let [group] = flaky.groups.as_slice() else { panic!("{:?}", flaky.groups) };
    assert_eq!((group.first.index, group.first.rate), (1, Some(Rate { failed: 1, runs: 3 })));
    assert!(group.first.evidence.is_some(), "the run in which it failed is shown");
    assert_eq!(flaky.totals.known[0].conclude(), Conclusion::Unknown);
    assert_eq!(flaky.totals.known[0].counts.first_passed, None);

    let mended = summary(&run(&lines, reversing(|_| Right)));
    assert_eq!(verdicts(&mended), [(Verdict::Pass, 1), (Verdict::UnexpectedPass, 1)]);
    assert_eq!((mended.groups.len(), mended.totals.known[0].conclude()), (0, Conclusion::Stale));

    let mut unasked = run(&lines, reversing(|times| if times == 2 { Wrong } else { Right }));
    unasked.configuration.retries = 0;
    assert_eq!(verdicts(&summary(&unasked)), [(Verdict::Pass, 1), (Verdict::UnexpectedPass, 1)]);
}

/// The first is a flake. The second passes each time, and so do the others, which do not run again.
#[test]
fn a_flake_does_not_hide_what_passes_each_time() {
    let other = "SLICE1 FLOAT32 in=3,4 out=3,4 InputWindowOffsets=0,0 InputWindowSizes=3,4 InputWindowStrides=1,-1 fill=iota";
    let backend = reversing(|times| if times == 2 { Wrong } else { Right });
    // Sixteen cases run in chunks of two.
    let lines: Vec<&str> = [REVERSAL].into_iter().chain([other; 15]).collect();
    let mut run = run(&lines, backend);
    run.configuration.record = true;
    let mut told = Vec::new();
    let summary = dmlcts_runner::run(&run, &mut |event| {
        if let dmlcts_runner::Event::Cases { cases, .. } = event {
            told.extend(cases.iter().map(|case| (case.index, case.verdict)));
        }
    });
    let summary = summary.expect("the backend starts");
    let passed = (1..16).map(|index| (index, Verdict::UnexpectedPass));
    assert_eq!(told, [(0, Verdict::Flake)].into_iter().chain(passed).collect::<Vec<_>>());
    assert_eq!(verdicts(&summary), [(Verdict::UnexpectedPass, 15), (Verdict::Flake, 1)]);
    let counts = &summary.totals.known[0].counts;
    assert_eq!((counts.passed, counts.unknown), (15, 1));
    assert_eq!(counts.first_passed.as_ref().map(|first| first.0), Some(1));
}

/// A crash that does not recur is a flake, and does not enter a list.
#[test]
fn nothing_is_blessed_after_a_crash_that_came_once() {
    let once = AtomicUsize::new(0);
    let crashed = behaving(move |batch| {
        correct(batch);
        if once.fetch_add(1, Ordering::Relaxed) == 0 {
            batch.parts().0[0].outcome = Outcome::Crashed("it ended by signal 11".into());
        }
    });
    let run = run_of(&[REVERSAL], crashed);
    let summary = summary(&run);
    assert_eq!(verdicts(&summary), [(Verdict::Flake, 1)]);
    let blessed = Blessing::default().entries((run.library, &*run.source), (&summary, "smoke"), &[]);
    assert_eq!(blessed.err(), Some(BlessError::Unreliable { verdict: Verdict::Crash, cases: 1 }));
}

const REFUSED: &str = "\
backend: closure
failures:
  - id: refused
    suites: [listed]
    where: operator == SLICE1 and rank == 2
    signature: refused-valid
    kind: bug
    reason: Refuses whatever it is asked.
";

/// If an expected failure is the only case, the size of other cases is not why no output was compared.
#[test]
fn what_is_known_to_be_refused_is_not_called_too_large() {
    let is_uncompared = |lines: &[&str]| {
        let refusing = behaving(|batch| {
            for job in batch.parts().0 {
                if job.runs.is_empty() {
                    job.outcome = Outcome::Accepted;
                } else {
                    refuse(job, ErrorCode::INVALID_ARGUMENT);
                }
            }
        });
        let mut run = run(lines, refusing);
        let known = KnownFailures::load(&[Source::new("known.yaml", REFUSED)], Library::embedded());
        run.configuration.known = known.unwrap_or_else(|error| panic!("{error}"));
        let summary = summary(&run);
        assert_eq!((summary.totals.work.runs, summary.totals.work.too_large), (0, 1));
        summary.is_uncompared()
    };
    assert!(!is_uncompared(&[REVERSAL, HUGE]), "one is known to be refused");
    assert!(is_uncompared(&[HUGE]), "all of them are too large");
}

/// The first of them fails each time and stands for its group. The others that failed by chance do not enter
/// a list.
#[test]
fn what_fails_once_is_not_blessed() {
    let once = AtomicUsize::new(0);
    let row = |size: u32| {
        format!(
            "SLICE1 UINT8 in={size} out={size} InputWindowOffsets=0 InputWindowSizes={size} InputWindowStrides=1 fill=iota"
        )
    };
    let lines = [8, 2, 3, 4, 5].map(row);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let unlucky = behaving(move |batch| {
        correct(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            let size = job.desc.list("InputWindowSizes").unwrap()[0];
            if size == 8 || size == 3 && once.fetch_add(1, Ordering::Relaxed) == 0 {
                outputs[job.runs[0].output.start] ^= 1;
            }
        }
    });
    let mut run = run_of(&lines, unlucky);
    (run.configuration.jobs, run.configuration.record, run.configuration.record_sensitivity) =
        (1, true, true);
    run.configuration.shrink = false;
    let mut blessing = Blessing::default();
    let summary = dmlcts_runner::run(&run, &mut |event| {
        if let dmlcts_runner::Event::Cases { cases, .. } = event {
            blessing.hear(cases);
        }
    });
    let summary = summary.expect("the backend starts");
    assert_eq!(verdicts(&summary), [(Verdict::Pass, 3), (Verdict::Fail, 2)], "one of a group is run again");
    assert_eq!(blessing.run_again(&run, (&summary, "smoke"), 2), Ok(1));
    let blessed =
        blessing.entries((run.library, &*run.source), (&summary, "smoke"), &[]).expect("it is whole");
    let [entry] = blessed.entries.as_slice() else { panic!("{:?}", blessed.entries) };
    assert_eq!(entry.reason, "Not examined yet: wrong values in 1 case of smoke.");
    // A list of failures that did not run again cannot be trusted.
    run.stop.request(dmlcts_runner::Ending::Interrupted);
    let stopped = blessing.run_again(&run, (&summary, "smoke"), 2);
    assert_eq!(stopped, Err(BlessError::NotRunAgain("it was interrupted".to_owned())));
}

/// A case that fails in an unknown way, and passes when it runs again, is a flake like any other.
#[test]
fn a_known_failure_that_fails_otherwise_at_times_is_a_flake() {
    let flaky = summary(&run(&[REVERSAL], reversing(|times| if times == 0 { Unwritten } else { Right })));
    assert_eq!(verdicts(&flaky), [(Verdict::Flake, 1)]);
    assert_eq!(flaky.groups[0].first.rate, Some(Rate { failed: 1, runs: 3 }));
}

/// A value that looked unwritten is a wrong value over another fill, as listed: both runs fail.
#[test]
fn what_fails_alone_as_it_is_known_to_is_no_flake() {
    const ONE: &str =
        "SLICE1 UINT8 in=1 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota";
    let backend = spoiling(|job, outputs| {
        job.runs.iter().for_each(|run| outputs[run.output.start] = dmlcts_runner::Poison::FIRST.0);
    });
    let summary = summary(&run(&[ONE], backend));
    assert_eq!(verdicts(&summary), [(Verdict::Fail, 1)]);
    assert_eq!(summary.groups[0].first.class, Class::Output(Difference::WrongValue));
}

/// Bounds that no version meets would hide an entry forever: it could neither hold nor be found untrue.
#[test]
fn bounds_that_no_version_keeps_are_a_mistake() {
    for (from, below, is_wrong) in [("5", "1", true), ("5.0", "5", true), ("5", "5.0.1", false)] {
        let text = format!("{LIST}    driver: {{from: {from:?}, below: {below:?}}}\n");
        let loaded = KnownFailures::load(&[Source::new("known.yaml", text)], Library::embedded());
        let Err(error) = loaded else {
            assert!(!is_wrong, "{from} to {below}");
            continue;
        };
        let said = error.to_string();
        let expected = format!("no driver is from {from} and below {below}, so that the entry never counts");
        assert!(is_wrong && said.contains("known.yaml:9:") && said.contains(&expected), "{said}");
    }
}

/// If no entry of a list applies, the message gives the bounds of the entries and the backend's values.
#[test]
fn what_an_entry_asks_for_and_does_not_find_is_told() {
    let here = Capabilities {
        name: "closure".to_owned(),
        version: "1.0".to_owned(),
        device: "Some GPU".to_owned(),
        driver: String::new(),
        ..dmlcts_reference::Reference::backend().capabilities().clone()
    };
    let told = |conditions: &str| {
        let known = Source::new("known.yaml", format!("{LIST}{conditions}"));
        let known = KnownFailures::load(&[known], Library::embedded()).expect("it is right");
        let misfits = known.misfits(&here).into_iter().map(|(id, why)| format!("{id} {why}"));
        misfits.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(told(""), "");
    assert_eq!(told("    device: some\n    version: {from: \"1\"}\n"), "");
    let driver = "reversal is of a driver from 5 and below 6, and this one names no driver";
    assert_eq!(told("    driver: {from: \"5\", below: \"6\"}\n"), driver);
    let version = "reversal is of a version below 0.9, and this one has 1.0";
    assert_eq!(told("    version: {below: \"0.9\"}\n"), version);
    let device = "reversal is of a device with `other` in its name, and this one has Some GPU";
    assert_eq!(told("    device: other\n"), device);
}
