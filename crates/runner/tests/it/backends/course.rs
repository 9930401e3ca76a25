//! The course of a run: threads, limits, deadlines, levels, budgets, and smaller failing cases.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dmlcts_backend::{
    Backend, Batch, Capabilities, Immediate, Job, OpenError, Pipelined, Purpose, Sequential,
};
use dmlcts_model::{Case, ErrorCode, FeatureLevel, Outcome};
use dmlcts_reference::Reference;
use dmlcts_runner::{CaseSource, Configuration, Cursor, Ending, Event, RunError, Stop, Verdict};
use dmlcts_spec::{Library, Operator, Predicate};

use crate::fixture::{
    BYTES, EMPTY_WINDOW, REVERSAL, behaving, case, correct, declared, declaring, refuse, run_of, spoiling,
    summary,
};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let lines: Vec<String> = (1..600)
        .map(|size| {
            let window = if size % 7 == 0 { 0 } else { size };
            format!(
                "SLICE1 UINT8 in={size} out=1 InputWindowOffsets=0 InputWindowSizes={window} \
                 InputWindowStrides=1 fill=iota"
            )
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    // Fails on sizes that are multiples of 5, valid or not, and crashes at every second of them.
    let backend = || {
        spoiling(|job, _| match job.desc.input.as_ref().unwrap().sizes.as_ref().unwrap()[0] % 10 {
            0 => job.outcome = Outcome::Crashed("an abort".into()),
            5 => refuse(job, ErrorCode::OUT_OF_MEMORY),
            _ => {}
        })
    };
    let of = |jobs: usize, limit: Option<u64>, [max_failures, max_crashes]: [Option<u64>; 2]| {
        let mut run = run_of(&lines, backend());
        run.configuration =
            Configuration { jobs, limit, max_failures, max_crashes, ..Configuration::default() };
        let mut events = Vec::new();
        let summary = dmlcts_runner::run(&run, &mut |event| {
            if let Event::Failed(failure) = event {
                events.push((failure.index, failure.class));
            }
        })
        .unwrap();
        (summary.totals.progress, summary.tally(), summary.ending, events)
    };
    let limits = [
        (None, [None, None], 599, Ending::Complete),
        (Some(100), [None, None], 100, Ending::Limit),
        (None, [Some(1), None], 5, Ending::MaxFailures),
        (None, [Some(20), None], 100, Ending::MaxFailures),
        (Some(101), [Some(20), None], 100, Ending::MaxFailures),
        (Some(99), [Some(20), None], 99, Ending::Limit),
        (None, [Some(200), None], 599, Ending::Complete),
        (None, [None, Some(20)], 200, Ending::MaxFailures),
        (None, [Some(20), Some(20)], 100, Ending::MaxFailures),
        (None, [Some(39), Some(19)], 190, Ending::MaxFailures),
        (None, [None, Some(60)], 599, Ending::Complete),
    ];
    for (limit, most, ran, ending) in limits {
        let alone = of(1, limit, most);
        assert_eq!(of(3, limit, most), alone);
        assert_eq!((alone.0.ran, alone.2), (ran, ending), "{limit:?} {most:?}");
    }
}

/// A run ends after the maximum number of hangs, unless the last cases of the run reach it.
#[test]
fn a_run_ends_at_so_many_hangs() {
    let lines: Vec<&str> = [REVERSAL, REVERSAL, BYTES, REVERSAL].into_iter().cycle().take(1000).collect();
    let ended = |max_hangs, lines: &[&str]| {
        let hang = |job: &mut dmlcts_backend::Job, _: &mut [u8]| {
            if job.desc.input.as_ref().is_some_and(|input| input.dimension_count == 1) {
                job.outcome = Outcome::TimedOut;
            }
        };
        let mut run = run_of(lines, spoiling(hang));
        run.configuration = Configuration { max_hangs, jobs: 1, ..run.configuration };
        let summary = summary(&run);
        assert_eq!(summary.tally().total(), summary.totals.progress.ran);
        assert_eq!(summary.totals.progress.ran, summary.totals.next, "and without a gap");
        assert!(summary.abandoned.is_empty());
        (summary.ending, summary.totals.progress.ran, summary.tally().unexpected())
    };
    assert_eq!(ended(None, &lines), (Ending::Complete, 1000, 250));
    let (ending, ran, hung) = ended(Some(20), &lines);
    assert_eq!(ending, Ending::Hangs);
    assert!((20..250).contains(&hung) && hung * 4 <= ran + 3, "{hung} of {ran}");
    assert_eq!(ended(Some(250), &lines[..999]).0, Ending::Complete, "they were the last");
    assert_eq!(ended(Some(251), &lines), (Ending::Complete, 1000, 250));
}

/// A correct backend that hangs at tensors of two dimensions; it records the purpose of each start.
struct Hanging {
    inner: Sequential<Reference>,
    purpose: Purpose,
    hangs: Arc<Mutex<Vec<Purpose>>>,
}

impl Backend for Hanging {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.inner.run(batch);
        let has_two_axes =
            |job: &&mut Job| job.desc.input.as_ref().is_some_and(|input| input.dimension_count == 2);
        for job in batch.parts().0.iter_mut().filter(has_two_axes) {
            self.hangs.lock().unwrap().push(self.purpose);
            job.outcome = Outcome::TimedOut;
        }
    }
}

#[test]
fn a_hang_is_run_again_on_a_backend_for_retries() {
    let hangs = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&hangs);
    let hanging = move |purpose| -> Result<Box<dyn Pipelined>, OpenError> {
        let hangs = Arc::clone(&kept);
        Ok(Box::new(Immediate(Hanging { inner: Reference::backend(), purpose, hangs })))
    };
    let run = run_of(&[BYTES, REVERSAL, BYTES], Arc::new(hanging));
    assert_eq!(summary(&run).tally().of(Verdict::Timeout), 1);
    assert_eq!(*hangs.lock().unwrap(), [Purpose::Cases, Purpose::Retries, Purpose::Retries]);
}

#[test]
fn a_limit_counts_the_cases_that_the_filter_lets_through() {
    let lines: Vec<&str> = [REVERSAL, BYTES].into_iter().cycle().take(1000).collect();
    let mut run = run_of(&lines, behaving(correct));
    let scopes = Library::embedded().operators().iter().map(Operator::scope);
    let filter = Predicate::compile("InputTensor.DataType == UINT8", scopes).unwrap();
    run.configuration.filter = Some(Arc::new(filter));
    run.configuration.limit = Some(37);
    let summary = summary(&run);
    assert_eq!((summary.totals.progress.ran, summary.ending), (37, Ending::Limit));
    assert_eq!(summary.totals.progress.read, 74);
}

/// A backend that is lost after its first batch.
struct LostAfterFirstBatch(Sequential<Reference>, bool);

impl Backend for LostAfterFirstBatch {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.0.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        if !self.1 {
            self.0.run(batch);
        }
        self.1 = true;
    }

    fn lost(&self) -> Option<&str> {
        self.1.then_some("out of paper")
    }
}

#[test]
fn a_backend_that_is_lost_ends_the_run_and_its_last_cases_count() {
    let lines = vec![REVERSAL; 5000];
    let run = run_of(
        &lines,
        Arc::new(|_| Ok(Box::new(Immediate(LostAfterFirstBatch(Reference::backend(), false))))),
    );
    let summary = summary(&run);
    assert_eq!((summary.ending, summary.lost.as_deref()), (Ending::BackendLost, Some("out of paper")));
    assert!((1..5000).contains(&summary.totals.progress.ran), "{}", summary.totals.progress.ran);
    assert_eq!(summary.tally().total(), summary.totals.progress.ran);
    assert!(summary.groups.is_empty(), "what is lost with the backend is no failure of its own");
}

/// Cases of which one cannot be read: a bug of dmlcts itself.
struct Unreadable(Vec<Case>);

impl CaseSource for Unreadable {
    fn count(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }

    fn strategies(&self) -> Vec<String> {
        vec!["unreadable".to_owned()]
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(ReaderOf(&self.0))
    }
}

struct ReaderOf<'a>(&'a [Case]);

impl Cursor for ReaderOf<'_> {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        assert_ne!(index, 20, "case 20 cannot be read");
        *case = self.0[index as usize].clone();
        0
    }
}

#[test]
fn a_panic_outside_of_the_backend_ends_the_run_and_names_the_unfinished_cases() {
    for jobs in [1, 3] {
        let mut run = run_of(&[], behaving(correct));
        run.source = Arc::new(Unreadable(vec![case(REVERSAL); 400]));
        run.configuration.jobs = jobs;
        let summary = summary(&run);
        let lost = summary.lost.as_deref().unwrap_or_default();
        assert_eq!(summary.ending, Ending::BackendLost, "{summary:?}");
        assert!(lost.contains("case 20 cannot be read") && lost.contains("please report"), "{lost}");
        assert!(summary.abandoned.iter().any(|cases| cases.contains(&20)), "{:?}", summary.abandoned);
        let ran = summary.totals.progress.ran;
        assert_eq!((summary.tally().of(Verdict::Pass), ran < 400), (ran, true));
        assert!(summary.totals.next <= 20, "a resumed run begins before the unfinished cases");
    }
}

#[test]
fn a_job_that_is_left_without_an_outcome_is_lost_and_shown() {
    let summary = summary(&run_of(&[REVERSAL], behaving(|_| ())));
    assert_eq!((summary.tally().of(Verdict::Lost), summary.ending), (1, Ending::Complete));
    assert_eq!(summary.groups.len(), 1);
}

#[test]
fn what_happens_to_the_backend_is_told_in_its_order() {
    let run = run_of(&[REVERSAL], behaving(correct));
    run.configuration.incidents.add("it stumbled".to_owned());
    run.configuration.incidents.add("it went on".to_owned());
    let mut told = Vec::new();
    let tell = &mut |event: Event<'_>| {
        if let Event::Incident(sentence) = event {
            told.push(sentence.to_owned());
        }
    };
    dmlcts_runner::run(&run, tell).expect("it starts");
    assert_eq!(told, ["it stumbled", "it went on"]);
}

#[test]
fn a_refusal_of_an_operator_that_was_never_declared_is_no_failure() {
    let only = |operator: &str| Capabilities { operators: Some(vec![operator.to_owned()]), ..declared() };
    let refusing = |batch: &mut Batch| {
        for job in batch.parts().0 {
            job.outcome = Outcome::Unsupported("not there yet".into());
        }
    };
    for (declared, verdict) in [("SLICE", Verdict::Skip), ("SLICE1", Verdict::Fail)] {
        let summary = summary(&run_of(&[REVERSAL], declaring(only(declared), refusing)));
        assert_eq!(summary.tally().of(verdict), 1, "{declared}");
    }
}

/// A run waits for the batches in flight. A slow backend has small ones, so that its answers come in time.
/// Each case that was read is counted or listed as unanswered, never both.
#[test]
fn a_slow_backend_loses_no_answers_when_the_time_is_up() {
    let lines = vec![REVERSAL; 4000];
    let (asked, stop) = (AtomicUsize::new(0), Stop::default());
    let ends = stop.clone();
    let slow = behaving(move |batch| {
        correct(batch);
        let cases = batch.parts().0.len();
        std::thread::sleep(Duration::from_millis(10) * cases as u32);
        if asked.fetch_add(cases, Ordering::Relaxed) > 150 {
            ends.request(Ending::Timeout);
        }
    });
    let mut run = run_of(&lines, slow);
    run.stop = stop;
    run.configuration.grace = Duration::from_secs(600);
    let found = summary(&run);
    assert_eq!((found.ending, &found.abandoned[..]), (Ending::Timeout, &[][..]));
    assert!(found.totals.progress.ran >= 100, "{:?}", found.totals.progress);
    assert_eq!(found.tally().total(), found.totals.progress.ran);
}

/// A backend that hangs in the middle of a run that ends leaves only its own cases unanswered. If the run is
/// interrupted, they are no failure.
#[test]
fn a_backend_that_hangs_when_the_run_is_stopped_loses_its_own_cases() {
    for ending in [Ending::MaxFailures, Ending::Interrupted] {
        let lines = vec![REVERSAL; 4000];
        let (times, stop) = (AtomicUsize::new(0), Stop::default());
        let asked = stop.clone();
        let mut run = run_of(
            &lines,
            behaving(move |batch| {
                correct(batch);
                if times.fetch_add(1, Ordering::Relaxed) == 20 {
                    asked.request(ending);
                    thread::sleep(Duration::from_secs(1000));
                }
            }),
        );
        run.stop = stop;
        // An interrupted run waits a shorter time than others.
        run.configuration.grace =
            Duration::from_millis(if ending == Ending::Interrupted { 500_000 } else { 300 });
        let found = summary(&run);
        let never: u64 = found.abandoned.iter().map(|cases| cases.end - cases.start).sum();
        assert_eq!((found.ending, never > 0), (ending, ending != Ending::Interrupted), "{found:?}");
        let known = found.totals.progress.ran + never;
        assert!(found.totals.progress.ran > 0, "{found:?}");
        assert_eq!(found.tally().total(), found.totals.progress.ran);
        assert!(known < 4000, "nobody goes on: {found:?}");
    }
}

#[test]
fn a_backend_that_hangs_is_left_behind_when_the_time_is_up() {
    let backend = behaving(|_| thread::sleep(Duration::from_secs(3600)));
    let mut run = run_of(&[REVERSAL; 4], backend);
    run.configuration.deadline = Some(Instant::now() + Duration::from_millis(100));
    run.configuration.grace = Duration::from_millis(100);
    let summary = summary(&run);
    assert_eq!((summary.ending, &summary.abandoned[..]), (Ending::Timeout, &[][..]));
    assert_eq!(summary.totals.progress.ran, 0, "what had no answer in time was not run");
}

/// A correct backend whose run reaches the deadline in the middle of a batch: unanswered cases count as not
/// run.
#[test]
fn what_has_no_answer_when_the_time_is_up_was_not_run() {
    let deadline = Instant::now() + Duration::from_millis(300);
    let backend = behaving(move |batch| {
        correct(batch);
        let (jobs, _, _) = batch.parts();
        if jobs.len() > 32 || Instant::now() >= deadline {
            thread::sleep(deadline.saturating_duration_since(Instant::now()));
            let half = jobs.len() / 2;
            jobs[half..].iter_mut().for_each(|job| job.outcome = Outcome::Lost);
        }
    });
    let mut run = run_of(&vec![REVERSAL; 20_000], backend);
    run.configuration.deadline = Some(deadline);
    // A run that continues begins with the first case that was not run.
    run.configuration.jobs = 1;
    let summary = summary(&run);
    let (ran, read) = (summary.totals.progress.ran, summary.totals.progress.read);
    assert_eq!((summary.ending, &summary.abandoned[..], &summary.lost), (Ending::Timeout, &[][..], &None));
    assert_eq!((summary.tally().of(Verdict::Pass), read, summary.totals.next), (ran, ran, ran));
    assert!(ran < 20_000 && summary.groups.is_empty(), "{ran}");
}

/// The same for an interrupted run that was already ending for another reason.
#[test]
fn what_has_no_answer_when_a_run_is_interrupted_was_not_run() {
    for first in [None, Some(Ending::MaxFailures)] {
        let stop = Stop::default();
        let asked = stop.clone();
        let backend = behaving(move |batch| {
            correct(batch);
            let (jobs, _, _) = batch.parts();
            if jobs.len() < 2 {
                return;
            }
            first.into_iter().chain([Ending::Interrupted]).for_each(|ending| asked.request(ending));
            let half = jobs.len() / 2;
            jobs[half..].iter_mut().for_each(|job| job.outcome = Outcome::Lost);
        });
        let mut run = run_of(&vec![REVERSAL; 20_000], backend);
        run.configuration.jobs = 1;
        run.stop = stop;
        let summary = summary(&run);
        let (ran, read) = (summary.totals.progress.ran, summary.totals.progress.read);
        assert_eq!((summary.ending, &summary.lost), (first.unwrap_or(Ending::Interrupted), &None));
        assert_eq!((summary.tally().of(Verdict::Pass), read, summary.totals.next), (ran, ran, ran));
        assert!(0 < ran && ran < 20_000 && summary.groups.is_empty(), "{ran}");
    }
}

/// Failures run again on a backend of their own. If there is no time for it, the earlier result stands.
#[test]
fn a_failure_that_nobody_had_time_to_run_again_stands() {
    let deadline = Instant::now() + Duration::from_millis(200);
    let backend = spoiling(move |job, outputs| {
        if Instant::now() >= deadline {
            job.outcome = Outcome::Lost;
        } else {
            thread::sleep(deadline.saturating_duration_since(Instant::now()));
            outputs[job.runs[0].output.start] ^= 1;
        }
    });
    let mut run = run_of(&[REVERSAL], backend);
    run.configuration.deadline = Some(deadline);
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Lost), summary.tally().of(Verdict::Flake)), (0, 0));
    assert_eq!(summary.tally().of(Verdict::Fail), summary.totals.progress.ran);
}

#[test]
fn a_backend_that_has_no_time_to_start_is_not_lost() {
    let (started, deadline) = (AtomicUsize::new(0), Instant::now() + Duration::from_millis(200));
    let mut run = run_of(&vec![REVERSAL; 100], behaving(correct));
    run.backend = Arc::new(move |_| {
        if started.fetch_add(1, Ordering::Relaxed) == 0 {
            return Ok(Box::new(Reference::backend()));
        }
        thread::sleep(deadline.saturating_duration_since(Instant::now()));
        Err("it did not say hello".to_owned().into())
    });
    run.configuration.deadline = Some(deadline);
    let summary = summary(&run);
    assert_eq!((summary.ending, summary.lost), (Ending::Timeout, None));
}

#[test]
fn a_run_ends_with_the_summary_of_what_ran_when_it_is_stopped() {
    let stop = Stop::default();
    let (asked, counter) = (stop.clone(), AtomicUsize::new(0));
    let backend = behaving(move |batch| {
        correct(batch);
        if counter.fetch_add(1, Ordering::Relaxed) == 3 {
            asked.request(Ending::Interrupted);
        }
    });
    let mut run = run_of(&vec![REVERSAL; 4000], backend);
    run.stop = stop;
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::Interrupted);
    assert!((1..4000).contains(&summary.totals.progress.ran), "{:?}", summary.totals.progress);
    assert_eq!(summary.tally().of(Verdict::Pass), summary.totals.progress.ran);
}

#[test]
fn a_backend_that_cannot_start_is_an_error_and_one_that_cannot_start_again_ends_the_run() {
    let mut run = run_of(&[REVERSAL], Arc::new(|_| Err("no device".to_owned().into())));
    assert_eq!(
        dmlcts_runner::run(&run, &mut |_| {}).unwrap_err(),
        RunError::Backend("no device".to_owned().into())
    );

    let started = AtomicUsize::new(0);
    run.backend = Arc::new(move |_| {
        if started.fetch_add(1, Ordering::Relaxed) == 0 {
            return Ok(Box::new(Reference::backend()));
        }
        Err("no second device".to_owned().into())
    });
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::BackendLost);
    assert_eq!(summary.lost.as_deref(), Some("no second device"));
}

#[test]
fn a_level_selects_cases_and_cannot_exceed_the_backends_own() {
    // Valid from level 3.0 on, since it has two dimensions.
    let mut run = run_of(&[REVERSAL, EMPTY_WINDOW], behaving(correct));
    run.configuration.level = Some("2.1".parse().unwrap());
    let selected = summary(&run);
    assert_eq!(
        (selected.totals.progress.read, selected.totals.progress.ran),
        (2, 1),
        "one is valid only at a higher level"
    );

    run.backend = Arc::new(|_| Ok(Box::new(Reference::backend())));
    let set = summary(&run);
    assert_eq!(
        set.tally().of(Verdict::Pass),
        2,
        "the reference can be set to the level, and refuses it there"
    );

    let old = Capabilities { feature_level: "2.0".parse().unwrap(), ..declared() };
    run.backend = declaring(old, correct);
    assert!(matches!(dmlcts_runner::run(&run, &mut |_| {}), Err(RunError::Level { .. })));
}

#[test]
fn a_case_above_the_memory_budget_is_created_and_not_run() {
    let mut run = run_of(&[REVERSAL], behaving(correct));
    run.configuration.memory = 100;
    let summary = summary(&run);
    assert_eq!(
        (summary.tally().of(Verdict::Pass), summary.totals.work.runs, summary.totals.work.too_large),
        (1, 0, 1)
    );
}
