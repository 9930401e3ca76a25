//! What explaining may cost: cases and hangs for each finding, and the backend's time for the run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use dmlcts_backend::{Batch, Immediate, Purpose};
use dmlcts_diagnose::{Diagnosis, ExplainOptions, Finding, LeftOut, Limit};
use dmlcts_findings::Estimate;
use dmlcts_generate::Suite;
use dmlcts_model::Outcome;
use dmlcts_runner::{Configuration, Ending, Factory, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, Predicate};

use crate::{diagnosed, findings::has_long_stride, fixture::*};

const USUAL: usize = ExplainOptions::USUAL_CASES;

/// What retries cost, as the backend sees it.
#[derive(Default)]
struct Cost {
    jobs: AtomicU64,
    hangs: AtomicU64,
}

/// A backend that does this with SLICE where strides are long. After `most` jobs of retries, the run is
/// interrupted.
fn failing(outcome: &Outcome, cost: &Arc<Cost>, interrupt: Option<(u64, Stop)>) -> Arc<Factory> {
    let (outcome, cost) = (outcome.clone(), Arc::clone(cost));
    Arc::new(move |purpose| {
        let (outcome, cost, interrupt) = (outcome.clone(), Arc::clone(&cost), interrupt.clone());
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for job in jobs {
                if has_long_stride(job) && job.outcome == Outcome::Output {
                    job.outcome = outcome.clone();
                    job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
                }
                if purpose == Purpose::Retries {
                    let jobs = cost.jobs.fetch_add(1, Ordering::Relaxed) + 1;
                    cost.hangs.fetch_add(u64::from(job.outcome == Outcome::TimedOut), Ordering::Relaxed);
                    if let Some((_, stop)) = interrupt.as_ref().filter(|(most, _)| jobs >= *most) {
                        stop.request(Ending::Interrupted);
                    }
                }
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    })
}

fn smoke(backend: Arc<Factory>, cases: usize, stop: Stop) -> Diagnosis {
    smoke_with(backend, cases, Configuration::default(), stop)
}

fn smoke_with(backend: Arc<Factory>, cases: usize, configuration: Configuration, stop: Stop) -> Diagnosis {
    let configuration = Configuration { jobs: 2, ..configuration };
    let library = Library::embedded();
    let suite = Suite::load("smoke").and_then(|suite| suite.expand(library, 0)).expect("it expands");
    let source = Arc::new(SuiteSource::new(suite, &[]));
    diagnosed(&Run { library, source, backend, configuration, stop }, Some(cases))
}

/// The cost of explaining: what a run with a budget costs more than one without.
fn cost(outcome: &Outcome) -> ([u64; 2], Diagnosis) {
    let of = |cases: usize| {
        let cost = Arc::new(Cost::default());
        let run = smoke(failing(outcome, &cost, None), cases, Stop::default());
        ([cost.jobs.load(Ordering::Relaxed), cost.hangs.load(Ordering::Relaxed)], run)
    };
    let (without, _) = of(0);
    let (with, run) = of(USUAL);
    ([with[0] - without[0], with[1] - without[1]], run)
}

#[test]
fn a_finding_costs_at_most_two_thousand_cases_and_its_evidence() {
    let ([jobs, _], run) = cost(&Outcome::Output);
    // Evidence is asked again for the rule that follows on a refuted one.
    let evidence = 4 * 2 * Estimate::AMPLE as u64;
    assert!((100..=2_000 + evidence).contains(&jobs), "{jobs} for {} findings", run.findings.len());
}

#[test]
fn a_finding_costs_at_most_two_hangs() {
    let ([jobs, hangs], run) = cost(&Outcome::TimedOut);
    assert!(jobs > 0 && hangs <= 2, "{hangs} hangs in {jobs} cases");
    let LeftOut { experiments, shrinking, .. } = run.left_out;
    assert_eq!((experiments, shrinking), (1, 1), "{:#?}", run.findings);
    assert_eq!(run.left_out.limits, [Limit::Hangs].into());
}

#[test]
fn after_an_interrupt_only_smaller_cases_are_looked_for() {
    let (stop, cost) = (Stop::default(), Arc::new(Cost::default()));
    let backend = failing(&Outcome::Output, &cost, Some((60, stop.clone())));
    let run = smoke(backend, USUAL, stop);
    let jobs = cost.jobs.load(Ordering::Relaxed);
    assert!((62..300).contains(&jobs), "{jobs} cases ran");
    assert!(run.left_out.experiments == 1 && run.left_out.shrinking == 0, "{:?}", run.left_out);
    assert_eq!(run.left_out.limits, [Limit::Interrupted].into());
    let is_small = |finding: &Finding| finding.smallest.as_ref().is_some_and(|one| one.case.desc.rank() == 1);
    assert!(!run.findings.is_empty() && run.findings.iter().all(is_small), "{:#?}", run.findings);
}

#[test]
fn a_run_that_is_out_of_time_explains_in_the_time_that_it_kept() {
    let (stop, retries) = (Stop::default(), Arc::new(AtomicU64::new(0)));
    let (at, count) = (stop.clone(), Arc::clone(&retries));
    let backend: Arc<Factory> = Arc::new(move |purpose| {
        let (stop, count) = (at.clone(), Arc::clone(&count));
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for job in jobs {
                count.fetch_add(u64::from(purpose == Purpose::Retries), Ordering::Relaxed);
                if has_long_stride(job) && job.outcome == Outcome::Output {
                    job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
                    stop.request(Ending::Timeout);
                }
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    });
    let deadline = Some(Instant::now() + Duration::from_secs(24 * 60 * 60));
    let run = smoke_with(backend, USUAL, Configuration { deadline, ..Configuration::default() }, stop);
    assert_eq!(run.summary.ending, Ending::Timeout);
    let asked = retries.load(Ordering::Relaxed);
    assert!(asked > 100 && run.left_out.experiments == 0, "{asked}: {:?}", run.left_out);
}

#[test]
fn no_budget_is_too_large() {
    let cost = Arc::new(Cost::default());
    let backend = failing(&Outcome::Output, &cost, None);
    let run = smoke(backend, usize::MAX, Stop::default());
    assert!(cost.jobs.load(Ordering::Relaxed) > 100, "{:?}", run.left_out);
}

#[test]
fn an_empty_budget_says_what_is_left_out() {
    let backend = failing(&Outcome::Output, &Arc::default(), None);
    let run = smoke(backend, 0, Stop::default());
    let LeftOut { experiments, repeats, shrinking, .. } = run.left_out;
    let findings = run.findings.len() as u64;
    assert_eq!((experiments, repeats, shrinking), (1, findings, findings), "{:#?}", run.findings);
    assert_eq!(run.left_out.limits, [Limit::Cases].into());
}

#[test]
fn a_predicate_says_which_filter_it_is_within() {
    let text = "operator in [SLICE, PADDING1] and rank < 5";
    let filter = Predicate::parse(text, Library::embedded()).expect("it is a predicate");
    let configuration = Configuration { filter: Some(Arc::new(filter)), ..Configuration::default() };
    let backend = spoiling(|job, outputs| {
        if job.desc.signature.operator == "SLICE" && job.desc.rank() == 4 {
            job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
        }
    });
    let run = smoke_with(backend, 0, configuration, Stop::default());
    let rules: Vec<_> = run.findings.iter().filter_map(|finding| finding.rule.as_ref()).collect();
    assert!(!rules.is_empty(), "{:#?}", run.findings);
    assert!(rules.iter().all(|rule| rule.within.as_deref() == Some(text)), "{rules:?}");
}
