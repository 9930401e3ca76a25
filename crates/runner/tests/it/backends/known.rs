//! Known failures that do not fail each time. A result that changes from run to run is a flake, whichever
//! result came first.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dmlcts_backend::{Backend as _, Capabilities, Job};
use dmlcts_model::{ErrorCode, Outcome, Phase};
use dmlcts_runner::{
    Applies, BoundsForm, Class, Conclusion, Difference, Factory, KnownFailures, Rate, Run, Summary, Verdict,
};

use crate::fixture::{BYTES, HUGE, REVERSAL, behaving, correct, known, refuse, run_of, spoiling, summary};

fn reversal(applies: Applies) -> KnownFailures {
    let wrong = Class::Output(Difference::WrongValue);
    known("reversal", "operator == SLICE1 and any axis InputWindowStrides < 0", wrong, applies)
}

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
    run.configuration.known = reversal(Applies::default());
    run.configuration.jobs = 1;
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
    let [group] = flaky.groups.as_slice() else { panic!("{:?}", flaky.groups) };
    assert_eq!((group.first.index, group.first.rate), (1, Some(Rate { failed: 1, runs: 3 })));
    assert!(group.first.evidence.is_some(), "the run in which it failed is shown");
    assert_eq!(flaky.totals.known[0].conclude(true), Conclusion::Unknown);
    assert_eq!(flaky.totals.known[0].counts.first_passed, None);

    let mended = summary(&run(&lines, reversing(|_| Right)));
    assert_eq!(verdicts(&mended), [(Verdict::Pass, 1), (Verdict::UnexpectedPass, 1)]);
    assert_eq!((mended.groups.len(), mended.totals.known[0].conclude(true)), (0, Conclusion::Fixed));

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
    assert_eq!(counts.first_passed.as_ref().map(|first| first.index), Some(1));
}

/// Of a case that is only created, a failure of a run is not seen.
#[test]
fn a_case_that_is_only_created_does_not_pass_unexpectedly() {
    let failed = Outcome::Failed { phase: Phase::Execute, reason: "no".into() };
    for (outcome, class) in [(failed, Class::Failed), (Outcome::Unsupported("no".into()), Class::Undeclared)]
    {
        let failing = behaving(move |batch| {
            for job in batch.parts().0 {
                job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { outcome.clone() };
            }
        });
        let mut run = run(&[REVERSAL, HUGE], failing);
        run.configuration.known = known("fails", "operator == SLICE1", class, Applies::default());
        let summary = summary(&run);
        assert_eq!(summary.totals.work.too_large, 1);
        assert_eq!(verdicts(&summary), [(Verdict::Pass, 1), (Verdict::ExpectedFail, 1)], "{class}");
    }
}

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
        let filter = "operator == SLICE1 and rank == 2";
        run.configuration.known = known("refused", filter, Class::RefusedValid, Applies::default());
        let summary = summary(&run);
        assert_eq!((summary.totals.work.runs, summary.totals.work.too_large), (0, 1));
        summary.is_uncompared()
    };
    assert!(!is_uncompared(&[REVERSAL, HUGE]), "one is known to be refused");
    assert!(is_uncompared(&[HUGE]), "all of them are too large");
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
    let told = |applies: Applies| {
        let known = reversal(applies);
        let misfits = known.misfits(&here).into_iter().map(|(id, why)| format!("{id} {why}"));
        misfits.collect::<Vec<_>>().join("; ")
    };
    let bounds = |from: &str, below: &str| {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some(BoundsForm { from: some(from), below: some(below) })
    };
    let device = |name: &str| Some(name.to_owned());
    assert_eq!(told(Applies::default()), "");
    let fits = Applies { device: device("some"), version: bounds("1", ""), driver: None };
    assert_eq!(told(fits), "");
    let driver = "reversal is of a driver from 5 and below 6, and this one names no driver";
    assert_eq!(told(Applies { driver: bounds("5", "6"), ..Applies::default() }), driver);
    let version = "reversal is of a version below 0.9, and this one has 1.0";
    assert_eq!(told(Applies { version: bounds("", "0.9"), ..Applies::default() }), version);
    let other = "reversal is of a device with `other` in its name, and this one has Some GPU";
    assert_eq!(told(Applies { device: device("other"), ..Applies::default() }), other);
}
