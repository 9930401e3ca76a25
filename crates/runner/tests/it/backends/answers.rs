//! Backends that give wrong answers, panic, or give no answer, and the results of their runs.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use dmlcts_backend::{Capabilities, Job, Lack};
use dmlcts_model::{DataType, ErrorCode, Outcome, Phase};
use dmlcts_runner::{Class, Event, Rate, Undeclared, Verdict};
use dmlcts_spec::{Library, Operator, Predicate};

use crate::fixture::{
    BYTES, EMPTY_WINDOW, REVERSAL, STRIDE_ZERO, behaving, case, correct, declared, declaring, failure,
    refuse, run_of, spoiling, summary,
};

#[test]
fn a_backend_that_refuses_everything_fails_on_what_is_valid() {
    let backend = spoiling(|job, _| refuse(job, ErrorCode::INVALID_ARGUMENT));
    let summary = summary(&run_of(&[REVERSAL, EMPTY_WINDOW], backend));
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Fail)), (1, 1));
    assert_eq!(summary.groups[0].first.class, Class::RefusedValid);
}

#[test]
fn a_backend_that_accepts_everything_fails_on_what_is_invalid() {
    let backend = spoiling(|job, _| {
        job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { Outcome::Output };
    });
    let summary = summary(&run_of(&[REVERSAL, EMPTY_WINDOW], backend));
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Fail)), (1, 1));
    assert_eq!(summary.groups[0].first.class, Class::AcceptedInvalid);
    let operator = Library::embedded().operator("SLICE1").unwrap();
    let violated: Vec<&str> = summary.groups[0]
        .first
        .judgement
        .violated
        .iter()
        .map(|place| operator.clauses()[place].id.as_str())
        .collect();
    assert_eq!(violated, ["slice1.window-not-empty"]);
}

#[test]
fn running_out_of_memory_is_no_refusal_as_invalid() {
    let backend = || spoiling(|job, _| refuse(job, ErrorCode::OUT_OF_MEMORY));
    assert_eq!(failure(EMPTY_WINDOW, backend()).1, Class::RefusedOtherwise);
    assert_eq!(failure(REVERSAL, backend()).1, Class::RefusedOtherwise);
}

#[test]
fn what_is_declared_cannot_be_called_unsupported() {
    let unsupported = |job: &mut Job, _: &mut [u8]| job.outcome = Outcome::Unsupported("no".into());
    assert_eq!(failure(REVERSAL, spoiling(unsupported)).1, Class::Undeclared);

    let few = Capabilities { data_types: vec![DataType::UINT8], ..declared() };
    let ran =
        summary(&run_of(&[REVERSAL, STRIDE_ZERO, REVERSAL], declaring(few, |_| unreachable!("nobody asks"))));
    assert_eq!(ran.tally().of(Verdict::Skip), 3);
    let skipped = &ran.totals.skipped;
    assert_eq!(
        skipped.iter().collect::<Vec<_>>(),
        [(0, Undeclared::DataType, 1), (1, Undeclared::DataType, 2)]
    );

    let skipped_without = |operator: &str| {
        let lack = Lack {
            operator: operator.to_owned(),
            condition: "InputTensor.DataType == FLOAT32".to_owned(),
            reason: "no floats".to_owned(),
        };
        let backend = declaring(Capabilities { lacks: vec![lack], ..declared() }, |batch| {
            let (jobs, _, _) = batch.parts();
            for job in jobs {
                job.outcome = Outcome::Unsupported("no floats".into());
            }
        });
        summary(&run_of(&[REVERSAL], backend)).tally().of(Verdict::Skip)
    };
    assert_eq!((skipped_without("SLICE1"), skipped_without("SLICE")), (1, 0), "what one operator lacks");
}

/// A valid desc runs only if the backend declares what it needs. An invalid desc must be refused by every
/// backend that has its operator; the answer `unsupported` is allowed, too.
#[test]
fn what_is_not_declared_is_asked_only_where_everybody_is_to_refuse_it() {
    let slice = "SLICE FLOAT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota";
    let invalid_slice = "SLICE FLOAT32 in=4 out=4 Offsets=9 Sizes=4 Strides=1 fill=iota";
    let capabilities = Capabilities {
        operators: Some(vec!["SLICE1".to_owned()]),
        data_types: vec![DataType::FLOAT32],
        ranks: 2..=8,
        ..declared()
    };
    let asked = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&asked);
    let backend = declaring(capabilities, move |batch| {
        correct(batch);
        let asked_now = batch.jobs().iter().map(|job| {
            let types = job.desc.input.as_ref().map(|input| (input.data_type, input.dimension_count));
            (job.desc.signature.operator.clone(), types)
        });
        own.lock().expect("nobody panics").extend(asked_now);
    });
    let lines = [slice, REVERSAL, BYTES, invalid_slice, EMPTY_WINDOW, STRIDE_ZERO, REVERSAL];
    let mut run = run_of(&lines, backend);
    run.configuration.jobs = 1;
    run.configuration.record = true;
    let mut verdicts = Vec::new();
    let ran = dmlcts_runner::run(&run, &mut |event| {
        if let Event::Cases { cases, .. } = event {
            verdicts.extend(cases.iter().map(|case| (case.line.to_owned(), case.verdict)));
        }
    });
    let ran = ran.expect("the backend starts");
    let (pass, skip) = (Verdict::Pass, Verdict::Skip);
    let expected = [skip, pass, skip, skip, pass, skip, pass];
    let lines = lines.map(|line| case(line).to_string());
    assert_eq!(verdicts, lines.into_iter().zip(expected).collect::<Vec<_>>());
    let one = |rank| ("SLICE1".to_owned(), Some((DataType::FLOAT32, rank)));
    assert_eq!(*asked.lock().expect("nobody panics"), [one(2), one(1), one(2)]);
    assert_eq!(ran.totals.progress.ran, 7, "and each is counted");
}

#[test]
fn accepting_without_running_is_not_enough() {
    let backend = spoiling(|job, _| job.outcome = Outcome::Accepted);
    assert_eq!(failure(REVERSAL, backend).1, Class::NotRun);
}

#[test]
fn a_backend_that_answers_nothing_is_lost() {
    assert_eq!(failure(REVERSAL, behaving(|_| {})).1, Class::Lost);
}

#[test]
fn a_case_that_fails_only_behind_another_one_is_a_flake() {
    let backend = behaving(|batch| {
        correct(batch);
        let (jobs, _, outputs) = batch.parts();
        if let [_, second, ..] = jobs {
            outputs[second.runs[0].output.start] ^= 1;
        }
    });
    let mut run = run_of(&[REVERSAL; 16], backend);
    run.configuration.jobs = 1;
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Flake), 7, "one in each batch of two: {:?}", summary.tally());
    assert_eq!(summary.groups[0].first.verdict, Verdict::Flake);
    assert_eq!(summary.groups[0].first.rate, Some(Rate { failed: 1, runs: 3 }));
    assert_eq!((summary.groups[0].cases, summary.groups[0].again), (7, 7));
    run.configuration.retries = 0;
    let summary = dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts");
    assert_eq!(summary.tally().of(Verdict::Fail), 7, "nobody asked for flakes: {:?}", summary.tally());
    assert_eq!((summary.groups[0].cases, summary.groups[0].again), (7, 0));
}

/// A flake is shown with the outcome of its failure, and not of a later pass.
#[test]
fn what_failed_once_is_shown_as_it_failed() {
    let failed = Outcome::Failed { phase: Phase::Execute, reason: "a frame of noise".into() };
    let (once, as_found) = (AtomicBool::new(true), failed.clone());
    let backend = behaving(move |batch| {
        correct(batch);
        if once.swap(false, Ordering::Relaxed) {
            batch.parts().0[0].outcome = as_found.clone();
        }
    });
    let summary = summary(&run_of(&[REVERSAL], backend));
    let [group] = summary.groups.as_slice() else { panic!("{:?}", summary.groups) };
    assert_eq!((group.first.verdict, &group.first.outcome), (Verdict::Flake, &failed));
}

/// The first of several similar failures is a flake, and the others are not: the next one runs again.
#[test]
fn a_flake_does_not_hide_what_fails_each_time() {
    let times = std::sync::atomic::AtomicUsize::new(0);
    let backend = behaving(move |batch| {
        correct(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            // The second run of the case is right, and the third is wrong.
            let is_right =
                job.desc.output.as_ref().is_some_and(|output| output.sizes.as_deref() == Some(&[2, 4]))
                    && times.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1;
            if !is_right {
                outputs[job.runs[0].output.start] ^= 1;
            }
        }
    });
    let other =
        "SLICE1 FLOAT32 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=-1 fill=iota";
    let mut run = run_of(&[REVERSAL, other, other, other], backend);
    run.configuration.jobs = 1;
    let summary = summary(&run);
    let tally = summary.tally();
    assert_eq!((tally.of(Verdict::Flake), tally.of(Verdict::Fail)), (1, 3), "{tally:?}");
    let seen = |group: &dmlcts_runner::Group| (group.first.rate, group.cases, group.again);
    let groups: Vec<_> = summary.groups.iter().map(seen).collect();
    assert_eq!(groups, [(Some(Rate { failed: 2, runs: 3 }), 1, 1), (None, 3, 1)]);
    assert_eq!(summary.groups[1].first.index, 1);
}

#[test]
fn a_panic_is_pinned_to_its_case_and_the_run_goes_on() {
    let backend = behaving(|batch| {
        assert!(!batch.jobs().iter().any(|job| job.desc.list("InputWindowSizes") == Some(&[0])), "window");
        correct(batch);
    });
    let lines = [REVERSAL, REVERSAL, EMPTY_WINDOW, REVERSAL];
    let summary = summary(&run_of(&lines, backend));
    assert_eq!((summary.tally().of(Verdict::Crash), summary.tally().of(Verdict::Pass)), (1, 3));
    let first = &summary.groups[0].first;
    assert_eq!((first.index, first.class), (2, Class::Crashed));
    assert_eq!(first.outcome, Outcome::Crashed("it panicked: window".into()));
}

/// A panic that no case causes alone is reported as a flake of the first case of its batch.
#[test]
fn a_panic_over_a_whole_batch_and_over_no_case_alone_is_a_flake() {
    let panicked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&panicked);
    let backend = behaving(move |batch| {
        let is_too_large = batch.jobs().len() > 1;
        count.fetch_add(u64::from(is_too_large), Ordering::Relaxed);
        assert!(!is_too_large, "too many");
        correct(batch);
    });
    let mut run = run_of(&[REVERSAL; 40], backend);
    run.configuration.jobs = 1;
    // Without a budget, flakes do not run again in batches.
    let summary = summary(&run);
    let flakes = panicked.load(Ordering::Relaxed);
    let tally = summary.tally();
    assert!((1..20).contains(&flakes), "{flakes}");
    assert_eq!((tally.of(Verdict::Flake), tally.of(Verdict::Pass)), (flakes, 40 - flakes), "{tally:?}");
    assert_eq!(summary.groups[0].first.outcome, Outcome::Crashed("it panicked: too many".into()));
}

/// The first case of each batch is not sent to the backend.
#[test]
fn a_panic_over_a_batch_counts_for_a_case_that_was_sent() {
    let capabilities = Capabilities { data_types: vec![DataType::FLOAT32], ..declared() };
    let backend = declaring(capabilities, |batch| {
        assert!(batch.jobs().len() < 2, "too many");
        correct(batch);
    });
    let mut run = run_of(&[BYTES, REVERSAL, REVERSAL].repeat(16), backend);
    run.configuration.jobs = 1;
    let summary = summary(&run);
    assert!(summary.tally().of(Verdict::Flake) > 0, "{:?}", summary.tally());
    assert_eq!(summary.tally().of(Verdict::Skip), 16);
}

/// A panic over a large case, beside other large cases and a collector that runs it again.
#[test]
fn a_panic_over_a_large_case_lets_others_have_theirs() {
    let large = |first: u32| {
        format!(
            "SLICE1 UINT8 in=9000000 out=8999990 InputWindowOffsets={first} InputWindowSizes=8999990 \
             InputWindowStrides=1 fill=iota"
        )
    };
    let backend = behaving(|batch| {
        let panics = |job: &Job| job.desc.list("InputWindowOffsets") == Some(&[1]);
        assert!(!batch.jobs().iter().any(panics), "a large one");
        correct(batch);
    });
    let lines: Vec<String> = (0..6).map(large).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.extend([REVERSAL; 10]);
    let mut run = run_of(&lines, backend);
    run.configuration.jobs = 3;
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Crash), summary.tally().of(Verdict::Pass)), (1, 15));
}

/// The cases of the batch in which the limit lies run again, up to the limit.
#[test]
fn a_panic_before_a_limit_is_pinned_to_its_case() {
    let backend = behaving(|batch| {
        assert!(!batch.jobs().iter().any(|job| job.desc.list("InputWindowSizes") == Some(&[0])), "window");
        correct(batch);
    });
    let mut lines = vec![REVERSAL; 200];
    lines[120] = EMPTY_WINDOW;
    let mut run = run_of(&lines, backend);
    (run.configuration.jobs, run.configuration.limit) = (1, Some(125));
    let scopes = Library::embedded().operators().iter().map(Operator::scope);
    run.configuration.filter = Some(Arc::new(Predicate::compile("rank > 0", scopes).expect("it compiles")));
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Crash), summary.tally().of(Verdict::Pass)), (1, 124));
}

#[test]
fn open_questions_allow_their_answers_and_nothing_else() {
    let refusing = spoiling(|job, _| refuse(job, ErrorCode::INVALID_ARGUMENT));
    assert_eq!(summary(&run_of(&[STRIDE_ZERO], refusing)).tally().of(Verdict::Recorded), 1);
    // Repeats the element at the offset, which is 2.
    let repeating = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Output;
            for run in &job.runs {
                outputs[run.output.clone()].copy_from_slice(&[2.0_f32, 2.0].map(f32::to_le_bytes).concat());
            }
        }
    });
    assert_eq!(summary(&run_of(&[STRIDE_ZERO], repeating)).tally().of(Verdict::Recorded), 1);
    let inventing = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Output;
            job.runs.iter().for_each(|run| outputs[run.output.clone()].fill(0));
        }
    });
    assert_eq!(failure(STRIDE_ZERO, inventing).1, Class::OutsideQuestion);
}
