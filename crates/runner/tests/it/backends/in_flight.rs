//! Backends with two batches in flight.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dmlcts_backend::{Backend, Batch, Capabilities, Limits, Pipelined};
use dmlcts_model::{Case, Desc, FeatureLevel};
use dmlcts_runner::{Ending, Examination, Factory, Run, Verdict, run_then};

use crate::fixture::{case, correct, declared, run_of, summary};

/// A backend that takes two batches of four jobs at a time and works as late as possible. It panics at the
/// start of a batch that a closure selects.
struct TwoInFlight<F> {
    capabilities: Capabilities,
    /// The number of jobs and the first desc of each batch that is started and not finished.
    started: VecDeque<(usize, Desc)>,
    seen: Arc<Seen>,
    panics: Arc<F>,
}

/// Statistics of a backend's use.
#[derive(Default)]
struct Seen {
    /// The maximum number of batches in flight.
    most: AtomicUsize,
    /// The number of batches that it finished without having the next one.
    alone: AtomicUsize,
}

impl<F: Fn(&Batch) -> bool + Send + Sync> Backend for TwoInFlight<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, _: &mut Batch) {
        panic!("nobody runs a batch at once");
    }
}

impl<F: Fn(&Batch) -> bool + Send + Sync> Pipelined for TwoInFlight<F> {
    fn start(&mut self, batch: &mut Batch) {
        assert!(!(self.panics)(batch), "no such batch");
        self.started.push_back((batch.jobs().len(), batch.jobs()[0].desc.as_ref().clone()));
        self.seen.most.fetch_max(self.started.len(), Ordering::Relaxed);
    }

    fn finish(&mut self, batch: &mut Batch) {
        self.seen.alone.fetch_add(usize::from(self.started.len() == 1), Ordering::Relaxed);
        let (jobs, first) = self.started.pop_front().expect("it was started");
        assert_eq!((jobs, &first), (batch.jobs().len(), &*batch.jobs()[0].desc));
        correct(batch);
    }
}

/// A single-threaded run over this number of cases on such a backend, and its statistics.
fn two_in_flight(cases: usize, panics: impl Fn(&Batch) -> bool + Send + Sync + 'static) -> (Run, Arc<Seen>) {
    let lines: Vec<String> = (1..=cases)
        .map(|n| format!("SLICE UINT8 in={n} out={n} Offsets=0 Sizes={n} Strides=1 fill=iota"))
        .collect();
    let (seen, panics) = (Arc::new(Seen::default()), Arc::new(panics));
    let mut capabilities = declared();
    capabilities.limits = Limits { busy_jobs: 4, in_flight: 2, ..capabilities.limits };
    let own = Arc::clone(&seen);
    let backend: Arc<Factory> = Arc::new(move |_| {
        let (capabilities, seen, panics) = (capabilities.clone(), Arc::clone(&own), Arc::clone(&panics));
        Ok(Box::new(TwoInFlight { capabilities, started: VecDeque::new(), seen, panics }))
    });
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut run = run_of(&lines, backend);
    run.configuration.jobs = 1;
    (run, seen)
}

#[test]
fn a_backend_that_takes_two_batches_has_the_next_one_while_it_works_on_the_first() {
    let (run, seen) = two_in_flight(150, |_| false);
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Pass), 150, "{:?}", summary.groups);
    assert_eq!(seen.most.load(Ordering::Relaxed), 2);
    assert_eq!(seen.alone.load(Ordering::Relaxed), 1, "but for the last of all");
}

#[test]
fn a_panic_over_one_of_two_batches_is_pinned_on_its_case_and_loses_no_other() {
    let is_77 = |batch: &Batch| batch.jobs().iter().any(|job| job.desc.list("Sizes") == Some(&[77]));
    let (run, _) = two_in_flight(150, is_77);
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Crash), 1);
    assert_eq!(summary.tally().of(Verdict::Pass), 149);
    assert_eq!(summary.groups[0].first.case.desc.list("Sizes"), Some(&[77][..]));
}

#[test]
fn the_first_failure_ends_a_run_with_two_batches_under_way() {
    let (mut run, _) =
        two_in_flight(150, |batch| batch.jobs().iter().any(|job| job.desc.list("Sizes") == Some(&[10])));
    run.configuration.max_failures = Some(1);
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Crash)), (9, 1));
    assert_eq!(summary.ending, Ending::MaxFailures);
}

#[test]
fn cases_that_run_together_have_the_results_that_each_has_alone() {
    let (run, _) =
        two_in_flight(1, |batch| batch.jobs().iter().any(|job| job.desc.list("Sizes") == Some(&[77])));
    let of_size =
        |n: usize| case(&format!("SLICE UINT8 in={n} out={n} Offsets=0 Sizes={n} Strides=1 fill=iota"));
    // Among others, one panics, one is invalid, and one is too large for a batch.
    let mut cases: Vec<Case> = (1..=100).map(of_size).collect();
    cases.insert(90, case("SLICE UINT8 in=4 out=4 Offsets=1 Sizes=4 Strides=1 fill=iota"));
    cases.insert(40, of_size(9_000_000));
    let result = |one: Option<Examination>| one.map(|one| (one.verdict, one.class, one.outcome, one.bytes));
    let (_, calls) = run_then(&run, &mut |_| {}, |ended| {
        let (mut together, mut calls) = (Vec::new(), 0);
        while together.len() < cases.len() {
            together.extend(ended.trials.examine_first(&cases[together.len()..]));
            calls += 1;
        }
        for (case, together) in cases.iter().zip(together) {
            assert_eq!(result(together), result(ended.trials.examine(case)), "{case}");
        }
        calls
    })
    .expect("the backend starts");
    assert!(calls < 40, "{calls} calls for {} cases", cases.len());
}
