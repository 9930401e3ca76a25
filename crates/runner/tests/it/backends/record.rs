//! A run's report of each case, and the continuation of an interrupted run.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate, Job};
use dmlcts_model::{ErrorCode, FeatureLevel, Outcome};
use dmlcts_runner::{
    Class, Configuration, Difference, Ending, Event, Partition, Rate, Run, Stop, Summary, Totals, Verdict,
    run,
};

use crate::fixture::*;

/// The index, line and verdict of each reported case, and the totals from which a run can continue.
fn recorded(run_: &Run) -> (Vec<(u64, String, Verdict)>, Vec<Totals>, Summary) {
    let (mut told, mut points) = (Vec::new(), Vec::new());
    let summary = run(run_, &mut |event| {
        if let Event::Cases { cases, totals, groups } = event {
            told.extend(cases.iter().map(|case| (case.index, case.line.to_owned(), case.verdict)));
            assert!(totals.is_none_or(|totals| totals.found.groups.len() == groups.len()));
            points.extend(totals.cloned());
        }
    });
    (told, points, summary.expect("the backend starts"))
}

fn recording(lines: &[&str], spoil: impl Fn(&mut Job, &mut [u8]) + Send + Sync + 'static) -> Run {
    let mut run = run_of(lines, spoiling(spoil));
    run.configuration.record = true;
    run
}

/// Changes every right output of rank 1 to zeros.
fn zero_rank_one(job: &mut Job, outputs: &mut [u8]) {
    if job.desc.output.as_ref().is_some_and(|output| output.dimension_count == 1) {
        job.runs.iter().for_each(|run| outputs[run.output.clone()].fill(0));
    }
}

#[test]
fn every_case_is_told_of_in_order_with_what_there_is_to_say() {
    let lines = [REVERSAL, BYTES, STRIDE_ZERO, EMPTY_WINDOW, HUGE];
    let run_ = recording(&lines, zero_rank_one);
    let mut seen = Vec::new();
    let summary = run(&run_, &mut |event| {
        let Event::Cases { cases, .. } = event else { return };
        for case in cases.iter() {
            let class = case.details.and_then(|details| details.class);
            let wrong = case.details.and_then(|details| details.differences.as_ref());
            let answers = case.details.map_or(0, |details| details.answers.len());
            let wrong = wrong.map_or(0, dmlcts_runner::Differences::wrong);
            seen.push((case.index, case.line.to_owned(), case.verdict, class, wrong, answers));
        }
    });
    let wrong = Some(Class::Output(Difference::WrongValue));
    let of = |index: usize, verdict, class, wrong, answers| {
        (index as u64, case(lines[index]).to_string(), verdict, class, wrong, answers)
    };
    assert_eq!(
        seen,
        [
            of(0, Verdict::Pass, None, 0, 0),
            of(1, Verdict::Fail, wrong, 3, 0),
            of(2, Verdict::Recorded, None, 0, 1),
            of(3, Verdict::Pass, None, 0, 0),
            of(4, Verdict::Pass, None, 0, 0),
        ]
    );
    assert_eq!(summary.expect("it ran").tally().total(), 5);
}

#[test]
fn cases_are_reported_only_on_request() {
    let (told, points, summary) = recorded(&run_of(&[BYTES], spoiling(|_, _| {})));
    assert_eq!((told.len(), points.len(), summary.tally().total()), (0, 0, 1));
}

/// A case that fails only once is reported as the flake that the summary counts.
#[test]
fn a_flake_is_told_of_as_one() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let run = recording(&[BYTES], move |job, _| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            refuse(job, ErrorCode::INVALID_ARGUMENT);
        }
    });
    let (told, points, summary) = recorded(&run);
    assert_eq!(told[0].2, Verdict::Flake);
    assert_eq!(summary.tally().of(Verdict::Flake), 1);
    assert_eq!(points[0].found.groups[0].0.verdict, Verdict::Flake);
    assert_eq!(points[0].found.groups[0].0.rate, Some(Rate { failed: 1, runs: 3 }));
}

/// From every possible point, a run continues to the same end.
#[test]
fn a_run_goes_on_to_the_same_end_from_wherever_it_was_cut() {
    let lines: Vec<&str> = [REVERSAL, BYTES, STRIDE_ZERO, STRIDED, EMPTY_WINDOW, HUGE].repeat(20);
    let (all, points, whole) = recorded(&recording(&lines, zero_rank_one));
    assert_eq!(all.len(), lines.len());
    let refused: u64 = whole.totals.refusals.iter().map(|(_, cases)| cases).sum();
    assert_eq!(refused, 20, "EMPTY_WINDOW");
    assert!(points.len() > 10, "{}", points.len());
    for point in points {
        let next = point.next;
        let mut again = recording(&lines, zero_rank_one);
        again.configuration.resume = Some(point);
        let (rest, _, summary) = recorded(&again);
        assert_eq!(rest, all[next as usize..]);
        assert_eq!(summary.tally(), whole.tally());
        assert_eq!(summary.strategies, whole.strategies);
        assert_eq!(summary.totals.progress, whole.totals.progress);
        assert_eq!(summary.totals.coverage, whole.totals.coverage);
        assert_eq!(summary.totals.work, whole.totals.work);
        assert_eq!(summary.totals.refusals, whole.totals.refusals);
        assert_eq!(format!("{:?}", summary.recorded), format!("{:?}", whole.recorded));
        let groups = |summary: &Summary| -> Vec<_> {
            summary.groups.iter().map(|group| (group.cases, group.first.index, group.first.verdict)).collect()
        };
        assert_eq!(groups(&summary), groups(&whole));
        assert!(summary.groups.iter().all(|group| group.first.evidence.is_some()));
        assert_eq!(summary.ending, Ending::Complete);
    }
}

/// A limit counts the cases of the whole run, not only those after the interruption.
#[test]
fn a_limit_holds_for_the_whole_run() {
    let lines: Vec<&str> = [REVERSAL, BYTES].repeat(40);
    let limited = |resume| {
        let mut run = recording(&lines, |_, _| {});
        run.configuration = Configuration { limit: Some(50), resume, ..run.configuration };
        recorded(&run)
    };
    let (all, points, whole) = limited(None);
    assert_eq!((all.len(), whole.ending), (50, Ending::Limit));
    let middle = points[points.len() / 2].clone();
    let next = middle.next;
    let (rest, _, summary) = limited(Some(middle));
    assert_eq!(next + rest.len() as u64, 50);
    assert_eq!((summary.totals.progress.ran, summary.ending), (50, Ending::Limit));
    let (none, _, summary) = limited(points.last().cloned());
    assert_eq!((none.len(), summary.totals.progress.ran, summary.ending), (0, 50, Ending::Limit));
}

#[test]
fn the_parts_of_a_run_are_together_the_whole() {
    let (mut found, mut sum) = (Vec::new(), 0);
    let lines = [REVERSAL, BYTES, STRIDE_ZERO, STRIDED, EMPTY_WINDOW, HUGE, SPECIAL];
    for part in 1..=3 {
        let mut run = recording(&lines, zero_rank_one);
        run.configuration.partition = Partition::new(part, 3);
        let (told, _, summary) = recorded(&run);
        // A failed case runs again and is shrunk, whichever part its smaller cases would belong to.
        assert!(summary.groups.iter().all(|group| group.first.evidence.is_some()));
        sum += summary.tally().total();
        found.extend(told);
    }
    found.sort_by_key(|case| case.0);
    assert_eq!(found, recorded(&recording(&lines, zero_rank_one)).0);
    assert_eq!(sum, lines.len() as u64);
}

/// In an interrupted run, one worker may be ahead of another. Cases after a gap are reported, but the run
/// cannot continue there.
#[test]
fn nobody_goes_on_from_behind_a_gap() {
    let lines: Vec<&str> = [REVERSAL, BYTES].repeat(500);
    let stop = Stop::default();
    let (own, count) = (stop.clone(), std::sync::atomic::AtomicUsize::new(0));
    let mut run = recording(&lines, move |_, _| {
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 300 {
            own.request(Ending::Interrupted);
        }
    });
    run.stop = stop;
    let (told, points, summary) = recorded(&run);
    assert_eq!(summary.ending, Ending::Interrupted);
    assert_eq!(told.len() as u64, summary.tally().total());
    let last = points.last().expect("some chunk is done");
    let before = told.iter().filter(|case| case.0 < last.next).count() as u64;
    assert_eq!(before, last.next, "every case before it was told of");
}

/// A backend that answers only its first batch.
struct LostAfterFirstBatch(Capabilities, u32);

impl Backend for LostAfterFirstBatch {
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        self.1 += 1;
        if self.1 == 1 {
            correct(batch);
        }
    }

    fn lost(&self) -> Option<&str> {
        (self.1 > 1).then_some("out of paper")
    }
}

/// Cases that were lost with the backend are reported as lost, and run when the run continues.
#[test]
fn what_was_lost_with_the_backend_is_run_again() {
    let mut run = run_of(&vec![REVERSAL; 5000], spoiling(|_, _| {}));
    run.configuration.record = true;
    run.backend = Arc::new(|_| Ok(Box::new(Immediate(LostAfterFirstBatch(declared(), 0)))));
    let (told, points, summary) = recorded(&run);
    assert_eq!((summary.ending, told.len() as u64), (Ending::BackendLost, summary.tally().total()));
    let lost = told.iter().position(|case| case.2 == Verdict::Lost).expect("some are");
    assert!(points.iter().all(|point| point.next <= lost as u64), "{lost}");
}

/// The first cases of a chunk are reported while the rest takes its time: one case is slow, and a later one
/// is answered only after the first was reported. Both are in one chunk on a machine of any speed, and never
/// in one batch.
#[test]
fn a_slow_case_is_told_of_before_the_rest_of_its_chunk_is_done() {
    const SLOW: u64 = 2100;
    const STUCK: u64 = 3100;
    let (told, hears) = mpsc::channel();
    let (hears, asked, is_told) = (Mutex::new(hears), AtomicU64::new(0), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&is_told);
    let mut capabilities = declared();
    (capabilities.limits.busy_jobs, capabilities.limits.batch_jobs) = (480, 480);
    let backend = declaring(capabilities, move |batch| {
        correct(batch);
        let cases = batch.jobs().len() as u64;
        let first = asked.fetch_add(cases, Ordering::Relaxed);
        let has = |case| (first..first + cases).contains(&case);
        if has(SLOW) {
            thread::sleep(Duration::from_millis(600));
        }
        if has(STUCK) {
            let heard = hears.lock().expect("one thread asks").recv_timeout(Duration::from_secs(600));
            seen.store(heard.is_ok(), Ordering::Relaxed);
        }
    });
    let mut run_ = run_of(&vec![REVERSAL; 20_000], backend);
    (run_.configuration.record, run_.configuration.jobs) = (true, 1);
    let mut all = 0;
    let summary = run(&run_, &mut |event| {
        let Event::Cases { cases, .. } = event else { return };
        all += cases.len() as u64;
        if cases.iter().any(|case| case.index == SLOW) {
            told.send(()).expect("the backend is there");
        }
    });
    assert!(is_told.load(Ordering::Relaxed), "the slow case was told of with the one behind it only");
    assert_eq!((summary.expect("it starts").tally().total(), all), (20_000, 20_000));
}

/// While a case takes its time, the recorder learns that the run can continue after all earlier cases.
#[test]
fn a_run_that_waits_says_so() {
    let (told, hears) = mpsc::channel();
    let (hears, asked, is_told) = (Mutex::new(hears), AtomicU64::new(0), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&is_told);
    let backend = behaving(move |batch| {
        correct(batch);
        if asked.fetch_add(1, Ordering::Relaxed) == 1 {
            let heard = hears.lock().expect("one thread asks").recv_timeout(Duration::from_secs(600));
            seen.store(heard.is_ok(), Ordering::Relaxed);
        }
    });
    let mut run_ = run_of(&[REVERSAL; 40], backend);
    (run_.configuration.record, run_.configuration.jobs) = (true, 1);
    let mut recorded = 0;
    let summary = run(&run_, &mut |event| match event {
        Event::Cases { cases, .. } => recorded += cases.len() as u64,
        Event::Pause { totals, .. } => {
            assert_eq!((totals.next, totals.progress.ran), (recorded, recorded));
            if recorded > 0 {
                // The receiver has stopped after it heard this.
                let _ = told.send(());
            }
        }
        _ => {}
    });
    assert!(is_told.load(Ordering::Relaxed), "nobody was told while the backend was waited for");
    assert_eq!(summary.expect("it starts").tally().total(), 40);
}

/// Cases before the first missing case can be continued from, which is reported after it.
#[test]
fn a_run_that_is_cut_off_says_from_where_to_go_on() {
    let asked = AtomicU64::new(0);
    let capabilities = Capabilities { is_isolated: true, ..declared() };
    let backend = declaring(capabilities, move |batch| {
        correct(batch);
        for job in batch.parts().0 {
            if asked.fetch_add(1, Ordering::Relaxed) >= 3 {
                job.outcome = Outcome::Lost;
            }
        }
    });
    let mut run_ = run_of(&[REVERSAL; 8], backend);
    (run_.configuration.record, run_.configuration.jobs, run_.configuration.max_hangs) = (true, 1, Some(9));
    let mut point = None;
    let summary = run(&run_, &mut |event| match event {
        Event::Cases { .. } => point = None,
        Event::Pause { totals, .. } => point = Some(totals.next),
        _ => {}
    });
    assert_eq!((summary.expect("it starts").ending, point), (Ending::Hangs, Some(3)));
}
