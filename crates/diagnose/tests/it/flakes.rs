//! Flakes: what fails in a run and passes alone is run again after the cases before it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dmlcts_backend::{Batch, Immediate, Purpose};
use dmlcts_diagnose::{Diagnosis, ExplainOptions, Finding, LeftOut, Limit};
use dmlcts_model::{ErrorCode, Outcome, Phase};
use dmlcts_runner::{Class, DataOf, Difference, Factory, Failure, Replayed, Tried, Verdict};

use crate::{diagnosed, fixture::*};

const BEFORE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=1 fill=iota";
const VICTIM: &str = "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1 fill=iota";

fn mutant(name: &str) -> Arc<Factory> {
    let mutant = dmlcts_mutants::find(name).expect("there is such a mutant");
    Arc::new(move |_| Ok(Box::new(dmlcts_mutants::backend(mutant))))
}

/// Cases that have nothing in common with others.
fn others(count: i64) -> Vec<String> {
    let line =
        |size: i64| format!("SLICE INT16 in={size} out={size} Offsets=0 Sizes={size} Strides=1 fill=iota");
    (10..10 + count).map(line).collect()
}

fn run_in_order(lines: &[String], backend: Arc<Factory>) -> Diagnosis {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut run = run_of(&lines, backend);
    run.configuration.jobs = 1;
    diagnosed(&run, None)
}

/// The only finding, which is a flake, and what was tried with it.
#[track_caller]
fn flake(run: &Diagnosis) -> (&Failure, &Tried) {
    let [Finding { first, .. }] = run.findings.as_slice() else { panic!("{:#?}", run.findings) };
    assert_eq!(first.verdict, Verdict::Flake);
    (first, first.tried.as_ref().unwrap_or_else(|| panic!("{first:?}")))
}

fn replayed(tried: &Tried) -> &Replayed {
    tried.replayed.as_ref().unwrap_or_else(|| panic!("{tried:?}"))
}

#[test]
fn a_case_that_fails_after_another_one_names_it() {
    let lines =
        [others(20), vec![BEFORE.to_owned()], others(37), vec![VICTIM.to_owned()], others(3)].concat();
    let run = run_in_order(&lines, mutant("cache-without-offsets"));
    let (failure, tried) = flake(&run);
    assert_eq!(failure.case.to_string(), VICTIM);
    assert_eq!((tried.alone.failed, tried.other_data.failed, tried.fresh.failed), (0, 0, 0));
    let Replayed { cases, after, needs, in_one_batch, .. } = replayed(tried);
    assert_eq!((*cases, after.is_always(), *in_one_batch), (58, true, false));
    assert_eq!(needs.iter().map(ToString::to_string).collect::<Vec<_>>(), [BEFORE]);
    let evidence = failure.evidence.as_ref().expect("the replay shows the wrong output");
    assert_eq!(evidence.differences.wrong(), 2);
    // Both lines alone show it again.
    let again = run_in_order(&[BEFORE.to_owned(), VICTIM.to_owned()], mutant("cache-without-offsets"));
    assert_eq!(replayed(flake(&again).1).needs, *needs);
}

/// A backend that answers a case with the output of the last case, if that has a desc of this kind.
fn leaking(leaks: fn(&str) -> bool) -> Arc<Factory> {
    Arc::new(move |_| {
        let mut last: Vec<u8> = Vec::new();
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for job in jobs {
                let offset = job.desc.list("Offsets").and_then(|offsets| offsets.first().copied());
                let name = if offset == Some(2) { "victim" } else { "other" };
                for run in &job.runs {
                    let output = &mut outputs[run.output.clone()];
                    let own = output.to_vec();
                    if leaks(name) && last.len() == own.len() {
                        output.copy_from_slice(&last);
                    }
                    last = if name == "victim" { Vec::new() } else { own };
                }
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    })
}

#[test]
fn a_wrong_element_that_is_data_of_an_earlier_case_says_so() {
    let lines = [BEFORE, VICTIM].map(str::to_owned);
    let run = run_in_order(&lines, leaking(|name| name == "victim"));
    let (_, tried) = flake(&run);
    assert_eq!(replayed(tried).data, Some(DataOf::Output), "{tried:?}");
    // The cached operator reads its own input, so the wrong elements are its own data.
    let run = run_in_order(&lines, mutant("cache-without-offsets"));
    assert_eq!(replayed(flake(&run).1).data, None);
}

#[test]
fn a_case_that_fails_in_a_fresh_backend_blames_no_other() {
    let run = run_in_order(&[BEFORE.to_owned(), VICTIM.to_owned()], mutant("first-run-is-cold"));
    let (_, tried) = flake(&run);
    assert!(tried.fresh.is_always() && tried.replayed.is_none(), "{tried:?}");
}

#[test]
fn a_case_beside_others_needs_them_in_one_batch() {
    let run = run_in_order(&others(400), mutant("sixteen-slots"));
    let tried = run.findings.iter().find_map(|finding| finding.first.tried.as_ref());
    let replayed = replayed(tried.unwrap_or_else(|| panic!("{:#?}", run.findings)));
    assert!(replayed.after.failed == 0 && replayed.beside.is_always(), "{replayed:?}");
    assert!(replayed.in_one_batch && (16..40).contains(&replayed.needs.len()), "{replayed:?}");
}

/// Each case fails the first time that it runs: some with a wrong element, others with a refusal.
#[test]
fn failures_that_come_and_go_are_one_finding_of_an_operator() {
    let backend: Arc<Factory> = Arc::new(|_| {
        let mut seen = BTreeSet::new();
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for job in jobs.iter_mut().filter(|job| seen.insert(format!("{:?}", job.desc))) {
                match job.desc.list("Sizes").and_then(|sizes| sizes.first()) {
                    Some(12) => {
                        let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
                        job.outcome = Outcome::Rejected { phase, code, reason: "".into() };
                    }
                    _ => job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1),
                }
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    });
    let run = run_in_order(&others(5), backend);
    let (failure, _) = flake(&run);
    assert_eq!(failure.case.to_string(), others(1)[0]);
    assert_eq!((run.findings[0].cases, run.findings[0].class), (5, Class::Output(Difference::WrongValue)));
}

/// A library with a cache in its process: the backend for repeats is as spoiled as that of the run, and only
/// a fresh one shows that the case is right alone.
#[test]
fn a_failure_that_passes_in_a_fresh_backend_names_what_spoils_it() {
    let victim =
        "SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=1 InputWindowSizes=2 InputWindowStrides=1 fill=iota";
    let backend: Arc<Factory> = Arc::new(|_| {
        let mut is_spoiled = false;
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for job in jobs {
                let offsets = job.desc.list("Offsets").and_then(|offsets| offsets.first().copied());
                is_spoiled |= offsets == Some(1);
                let fails = offsets == Some(1) || offsets.is_none() && is_spoiled;
                job.runs.iter().filter(|_| fails).for_each(|run| outputs[run.output.start] ^= 1);
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    });
    let spoiler = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1 fill=iota";
    let lines = [vec![spoiler.to_owned()], others(5), vec![victim.to_owned()]].concat();
    let run = run_in_order(&lines, backend);
    let [one, other] = run.findings.as_slice() else { panic!("{:#?}", run.findings) };
    let (cause, failure) =
        if one.first.case.to_string() == victim { (other, &one.first) } else { (one, &other.first) };
    assert_eq!((failure.verdict, cause.first.verdict), (Verdict::Fail, Verdict::Fail));
    assert!(cause.first.tried.is_none(), "it fails in a fresh backend: {cause:?}");
    let tried = failure.tried.as_ref().unwrap_or_else(|| panic!("{failure:?}"));
    assert!(tried.alone.is_always() && tried.fresh.failed == 0, "{tried:?}");
    let needs: Vec<String> = replayed(tried).needs.iter().map(ToString::to_string).collect();
    assert_eq!(needs, [spoiler]);
}

#[test]
fn chance_is_no_other_case() {
    // The sixth run of an operator in all backends is wrong, and so are some later ones.
    let runs = Arc::new(AtomicU64::new(0));
    let backend = spoiling(move |job, outputs| {
        for run in &job.runs {
            if [5, 31, 32].contains(&runs.fetch_add(1, Ordering::Relaxed)) {
                outputs[run.output.start] ^= 1;
            }
        }
    });
    let mut lines = others(5);
    lines.push(VICTIM.to_owned());
    let run = run_in_order(&lines, backend);
    let (_, tried) = flake(&run);
    assert!(replayed(tried).needs.is_empty(), "{tried:?}");
}

#[test]
fn an_empty_budget_tries_nothing_and_says_so() {
    let mut run = run_of(&[BEFORE, VICTIM], mutant("cache-without-offsets"));
    run.configuration.jobs = 1;
    let run = diagnosed(&run, Some(0));
    let [finding] = run.findings.as_slice() else { panic!("{:#?}", run.findings) };
    assert!(finding.first.tried.is_none());
    let limits = [Limit::Cases].into();
    assert_eq!(run.left_out, LeftOut { flakes: 1, limits, ..LeftOut::default() });
}

/// Cases that fail only in the run are no part of the finding of a case that fails each time.
#[test]
fn failures_that_come_and_go_are_split_off() {
    let backend: Arc<Factory> = Arc::new(|purpose| {
        let behave = move |batch: &mut Batch| {
            correct(batch);
            let (jobs, inputs, outputs) = batch.parts();
            for run in jobs.iter().flat_map(|job| &job.runs) {
                // No predicate is about data.
                let data = &inputs[run.input.clone()];
                if data.starts_with(&[7, 8, 9]) || data.len() > 40 && purpose == Purpose::Cases {
                    outputs[run.output.start] ^= 1;
                }
            }
        };
        Ok(Box::new(Immediate(Closure { capabilities: declared(), behave })))
    });
    let mut lines = others(40);
    lines[0] = lines[0].replace("fill=iota", "fill=explicit:07080901");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = diagnosed(&run_of(&lines, backend), Some(ExplainOptions::USUAL_CASES));
    let of = |finding: &Finding| (finding.first.verdict, finding.cases, finding.passed_again);
    let found: Vec<_> = run.findings.iter().map(of).collect();
    assert_eq!(found, [(Verdict::Fail, 1, 0), (Verdict::Flake, 29, 4)], "{:#?}", run.findings);
    let ids: Vec<&str> = run.findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_ne!(ids[0], ids[1]);
}
