//! Backends that answer what they should not, panic, or say nothing, and what a run makes of it.

use dmlcts_backend::{Capabilities, Job};
use dmlcts_model::{DataType, ErrorCode, Outcome};
use dmlcts_runner::{Class, Verdict};
use dmlcts_spec::Library;

use crate::fixture::{
    EMPTY_WINDOW, REVERSAL, STRIDE_ZERO, behaving, declared, declaring, failure, honest, refuse, run_of,
    spoiling, summary,
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
    let backend = declaring(few, |batch| {
        let (jobs, _, _) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Unsupported("no floats".into());
        }
    });
    let summary = summary(&run_of(&[REVERSAL], backend));
    assert_eq!(summary.tally().of(Verdict::Skip), 1);
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
        honest(batch);
        let (jobs, _, outputs) = batch.parts();
        if let [_, second, ..] = jobs {
            outputs[second.runs[0].output.start] ^= 1;
        }
    });
    let mut run = run_of(&[REVERSAL; 16], backend);
    run.configuration.jobs = 1;
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Flake), 1, "{:?}", summary.tally());
    assert_eq!(summary.groups[0].first.verdict, Verdict::Flake);
}

#[test]
fn a_panic_is_pinned_to_its_case_and_the_run_goes_on() {
    let backend = behaving(|batch| {
        assert!(!batch.jobs().iter().any(|job| job.desc.list("InputWindowSizes") == Some(&[0])), "window");
        honest(batch);
    });
    let lines = [REVERSAL, REVERSAL, EMPTY_WINDOW, REVERSAL];
    let summary = summary(&run_of(&lines, backend));
    assert_eq!((summary.tally().of(Verdict::Crash), summary.tally().of(Verdict::Pass)), (1, 3));
    let first = &summary.groups[0].first;
    assert_eq!((first.index, first.class), (2, Class::Crashed));
    assert_eq!(first.outcome, Outcome::Crashed("it panicked: window".into()));
}

#[test]
fn a_backend_that_panics_over_a_whole_batch_but_over_no_case_alone_passes_one_by_one() {
    let backend = behaving(|batch| {
        assert!(batch.jobs().len() < 2, "too many");
        honest(batch);
    });
    let mut run = run_of(&[REVERSAL; 40], backend);
    run.configuration.jobs = 1;
    assert_eq!(summary(&run).tally().of(Verdict::Pass), 40);
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
