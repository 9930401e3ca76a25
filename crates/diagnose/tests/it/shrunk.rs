//! Smaller cases of findings.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_runner::{Class, Difference, Ending, Verdict};

use crate::{diagnosed, fixture::*};

#[test]
fn of_the_time_some_is_left_for_smaller_failing_cases() {
    let mut capabilities = declared();
    capabilities.limits.batch_jobs = 16;
    let within = |time: Duration| {
        // All 1,250 batches take longer than the run may.
        let backend = declaring(capabilities.clone(), move |batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for run in jobs.iter().flat_map(|job| &job.runs) {
                outputs[run.output.start] ^= 1;
            }
            thread::sleep(time / 200);
        });
        let mut run = run_of(&vec![REVERSAL; 20_000], backend);
        run.configuration.deadline = Some(Instant::now() + time);
        let run = diagnosed(&run, None);
        assert_eq!(run.summary.ending, Ending::Timeout);
        run
    };
    // A slow machine needs more time for a smaller case.
    let is_smaller = |run: &Diagnosis| run.findings.iter().any(|finding| finding.smallest.is_some());
    let found = (0..20).map(|power| within(Duration::from_secs(1 << power))).find(is_smaller);
    assert!(found.is_some());
}

#[test]
fn a_large_failing_case_is_shrunk_to_a_small_one_that_fails_alike() {
    let large = "SLICE1 INT16 in=3,5,7,9 out=2,4,3,9 OutputTensor.Strides=200,40,10,1 InputWindowOffsets=0,1,2,0 \
                 InputWindowSizes=3,4,5,9 InputWindowStrides=2,1,2,-1 fill=random:7";
    // Only negative strides are wrong.
    let backend = spoiling(|job, outputs| {
        let strides = job.desc.list("InputWindowStrides").unwrap_or_default();
        if strides.iter().any(|&stride| stride < 0) {
            for run in &job.runs {
                outputs[run.output.start] ^= 1;
            }
        }
    });
    let run = diagnosed(&run_of(&[large], backend), None);
    let finding = &run.findings[0];
    assert_eq!(finding.first.case, case(large));
    let smallest = finding.smallest.as_ref().expect("a smaller case");
    assert_eq!((smallest.verdict, smallest.class), (finding.first.verdict, finding.first.class));
    assert!(smallest.evidence.is_some());
    assert_eq!(smallest.case.desc.rank(), 1, "{}", smallest.case);
    assert!(smallest.case.desc.list("InputWindowStrides").unwrap()[0] < 0, "{}", smallest.case);
    assert!(smallest.case.to_string().len() < finding.first.case.to_string().len());
}

/// The case fails while a smaller one is sought, and passes when the smaller one runs again. The finding
/// keeps the case that fails each time.
#[test]
fn a_smaller_case_that_does_not_fail_again_is_not_shown() {
    let times = AtomicUsize::new(0);
    let backend = spoiling(move |job, outputs| {
        if job.desc.rank() > 1 || times.fetch_add(1, Ordering::Relaxed) == 0 {
            for run in &job.runs {
                outputs[run.output.start] ^= 1;
            }
        }
    });
    let run = diagnosed(&run_of(&[REVERSAL], backend), None);
    let finding = &run.findings[0];
    assert!(finding.smallest.is_none(), "{:?}", finding.smallest);
    assert_eq!(
        (finding.first.verdict, finding.first.class),
        (Verdict::Fail, Class::Output(Difference::WrongValue))
    );
}
