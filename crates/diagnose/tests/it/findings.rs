//! Findings of whole suites: one for each cause, with the predicate that separates it.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU64, Ordering},
};

use dmlcts_backend::Job;
use dmlcts_diagnose::{Diagnosis, ExplainOptions, Finding, Pattern, Rule, Severity};
use dmlcts_findings::Estimate;
use dmlcts_generate::Suite;
use dmlcts_model::{ErrorCode, Expectation};
use dmlcts_mutants::Several;
use dmlcts_runner::{Class, Configuration, Difference, Factory, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, program::Values};

use crate::{diagnosed, fixture::*};

const WRONG: Class = Class::Output(Difference::WrongValue);

/// The suite `smoke` on a backend, with this time for experiments.
fn smoke(backend: Arc<Factory>, explain: usize) -> Diagnosis {
    diagnosed(&run_of_smoke(backend), Some(explain))
}

fn run_of_smoke(backend: Arc<Factory>) -> Run {
    let library = Library::embedded();
    let cases = Suite::load("smoke").and_then(|suite| suite.expand(library, 0)).expect("it expands");
    let source = Arc::new(SuiteSource::new(cases, &[]));
    let configuration = Configuration::default();
    Run { library, source, backend, configuration, stop: Stop::default() }
}

/// Whether some axis of a SLICE has a stride of five and more, and more than one element.
pub(crate) fn has_long_stride(job: &Job) -> bool {
    let lists = (job.desc.list("Strides"), job.desc.list("Sizes"));
    let (Some(strides), Some(sizes)) = lists else { return false };
    job.desc.signature.operator == "SLICE"
        && strides.iter().zip(sizes).any(|(stride, size)| *stride >= 5 && *size > 1)
}

/// SLICE of rank 7 is refused, and long strides are wrong.
fn two_bugs() -> Arc<Factory> {
    spoiling(|job, outputs| {
        if job.desc.signature.operator == "SLICE" && job.desc.rank() == 7 {
            refuse(job, ErrorCode::INVALID_ARGUMENT);
        } else if has_long_stride(job) {
            for run in &job.runs {
                outputs[run.output.start] ^= 1;
            }
        }
    })
}

/// A run of them, with experiments.
static TWO_BUGS: LazyLock<Diagnosis> = LazyLock::new(|| smoke(two_bugs(), ExplainOptions::USUAL_CASES));

fn rule(finding: &Finding) -> &Rule {
    finding.rule.as_ref().unwrap_or_else(|| panic!("{finding:?}"))
}

fn of_class(run: &Diagnosis, class: Class) -> Vec<&Finding> {
    run.findings.iter().filter(|finding| finding.class == class).collect()
}

/// Only the first failure of a group runs again, and the other cause has none.
#[test]
fn a_failure_that_does_not_run_again_has_the_expectation_of_its_desc() {
    let backend = spoiling(|job, outputs| {
        if job.desc.signature.operator == "SLICE" && job.desc.rank() == 7 || has_long_stride(job) {
            job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
        }
    });
    let mut run = run_of_smoke(backend);
    run.configuration.retries = 0;
    let findings = diagnosed(&run, Some(0)).findings;
    assert!(findings.len() > 1, "{findings:#?}");
    for finding in &findings {
        assert_eq!(finding.first.expectation, Expectation::Output, "{finding:#?}");
    }
}

#[test]
fn two_bugs_are_two_findings() {
    let run = &*TWO_BUGS;
    let [wrong] = of_class(run, WRONG)[..] else { panic!("{:#?}", run.findings) };
    let [refused] = of_class(run, Class::RefusedValid)[..] else { panic!("{:#?}", run.findings) };
    assert_eq!(rule(refused).predicate.text(), "operator == SLICE and rank == 7");
    for finding in [refused, wrong] {
        let estimate = rule(finding).estimate;
        assert!(
            estimate.is_some_and(Estimate::is_ample),
            "experiments give each side its evidence: {estimate:?}"
        );
    }
    assert!(rule(refused).is_exact && refused.cases > 10, "{refused:?}");
    assert!(rule(wrong).is_exact && rule(wrong).predicate.text().contains("Strides >= 5"), "{wrong:?}");
    assert!(rule(wrong).estimate.is_some_and(|fresh| fresh.cases() > 100 && fresh.wrong() == 0), "{wrong:?}");
    let smallest = wrong.smallest.as_ref().expect("there is a smaller case");
    assert_eq!(smallest.case.desc.rank(), 1, "{}", smallest.case);
    assert!(wrong.again > 1, "more than the first case ran again");
    let severity = |finding: &Finding| Severity::of(finding.first.verdict, finding.class);
    assert!(run.findings.is_sorted_by_key(severity), "{:?}", run.findings);
    let all: u64 = run.findings.iter().map(|finding| finding.cases).sum();
    assert_eq!(all, run.summary.tally().unexpected(), "each failure is in one finding");
}

/// Long strides are refused for some sizes and wrong for others.
#[test]
fn a_bug_that_shows_in_two_ways_is_one_finding_with_both_counts() {
    let is_refused = |job: &Job| job.desc.list("Sizes").is_some_and(|it| it.iter().sum::<i64>() % 3 == 0);
    let backend = spoiling(move |job, outputs| match has_long_stride(job) {
        true if is_refused(job) => refuse(job, ErrorCode::INVALID_ARGUMENT),
        true => job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1),
        false => {}
    });
    let run = smoke(backend, ExplainOptions::USUAL_CASES);
    let [finding] = run.findings.as_slice() else { panic!("{:#?}", run.findings) };
    assert_eq!(finding.class, WRONG);
    let [other] = finding.others.as_slice() else { panic!("{finding:#?}") };
    assert_eq!(other.class, Class::RefusedValid);
    assert!(rule(finding).is_exact, "{finding:#?}");
    assert_eq!(rule(finding).predicate.text(), "operator == SLICE and any axis (Sizes > 1 and Strides >= 5)");
    assert!((1..finding.cases).contains(&other.cases), "{finding:#?}");
    assert_eq!(finding.cases, run.summary.tally().unexpected(), "each failure is in it");
}

/// Faults of different operators, which do not mask each other.
#[test]
fn three_mutants_in_one_backend_are_three_findings() {
    let names = ["rank-one-refused", "padding-mirror-of-two-clamps", "slice1-reach-rounded-down"];
    let mutants = names.map(|name| dmlcts_mutants::find(name).expect("there is such a mutant"));
    let backend: Arc<Factory> = Arc::new(move |_| Ok(Box::new(Several::new(&mutants))));
    let run = smoke(backend, 0);
    let found: Vec<&Rule> = run.findings.iter().map(rule).collect();
    assert_eq!(found.len(), names.len(), "{found:#?}");
    for mutant in mutants {
        let is_of = |finding: &&Finding| finding.operators.as_slice() == mutant.operators;
        assert!(run.findings.iter().any(|one| is_of(&one)), "{}: {:#?}", mutant.name, run.findings);
    }
    let all: u64 = run.findings.iter().map(|finding| finding.cases).sum();
    assert_eq!(all, run.summary.tally().unexpected(), "each failure is in one finding");
}

#[test]
fn a_repeat_gives_the_same_findings() {
    let of = |run: &Diagnosis| -> Vec<(String, Option<Rule>, u64)> {
        let findings = run.findings.iter();
        findings.map(|finding| (finding.id.clone(), finding.rule.clone(), finding.cases)).collect()
    };
    assert_eq!(of(&TWO_BUGS), of(&smoke(two_bugs(), ExplainOptions::USUAL_CASES)));
}

#[test]
fn without_a_budget_no_further_case_runs() {
    let runs = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&runs);
    let backend = spoiling(move |job, outputs| {
        counter.fetch_add(1, Ordering::Relaxed);
        if has_long_stride(job) {
            job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
        }
    });
    let alone = smoke(Arc::clone(&backend), 0);
    let before = runs.swap(0, Ordering::Relaxed);
    let [finding] = of_class(&alone, WRONG)[..] else { panic!("{:#?}", alone.findings) };
    assert_eq!((rule(finding).asked, rule(finding).estimate), (0, None));
    let experiments = smoke(backend, ExplainOptions::USUAL_CASES);
    let asked = rule(of_class(&experiments, WRONG)[0]).asked;
    assert!(asked > 100, "{asked}");
    assert!(runs.load(Ordering::Relaxed) > before + asked / 2, "the experiments ran");
}

#[test]
fn a_class_that_always_fails_is_one_finding() {
    let run = smoke(spoiling(|job, _| refuse(job, ErrorCode::NOT_IMPLEMENTED)), 0);
    let refused: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.first.judgement.violated.is_empty()).collect();
    assert!(refused.len() <= 3, "{:#?}", run.findings);
}

/// The pattern of a backend's wrong elements, whose output bytes come from these places of the input.
fn pattern(line: &str, place: impl Fn(usize) -> usize + Send + Sync + 'static) -> Option<Pattern> {
    let backend = behaving(move |batch| {
        correct(batch);
        let (jobs, inputs, outputs) = batch.parts();
        for run in jobs.iter().flat_map(|job| &job.runs) {
            let (input, output) = (&inputs[run.input.clone()], &mut outputs[run.output.clone()]);
            for (at, byte) in output.iter_mut().enumerate() {
                *byte = input.get(place(at)).copied().unwrap_or(0);
            }
        }
    });
    diagnosed(&run_of(&[line], backend), None).findings.first().and_then(|finding| finding.pattern)
}

#[test]
fn wrong_elements_with_one_cause_have_a_pattern() {
    let of_one_axis = "SLICE UINT8 in=8 out=4 Offsets=2 Sizes=4 Strides=1 fill=iota";
    assert_eq!(pattern(of_one_axis, |at| at + 3), Some(Pattern::Shifted { axis: 0, by: 1 }));
    assert_eq!(pattern(of_one_axis, |at| at), Some(Pattern::Shifted { axis: 0, by: -2 }));
    assert_eq!(pattern(of_one_axis, |at| 5 - at), Some(Pattern::Mirrored { axis: 0 }));
    let of_two_axes = "SLICE UINT8 in=3,3 out=3,3 Offsets=0,0 Sizes=3,3 Strides=1,1 fill=iota";
    let transposed = |at: usize| at % 3 * 3 + at / 3 % 3;
    assert_eq!(pattern(of_two_axes, transposed), Some(Pattern::Exchanged { axes: (0, 1) }));
    assert_eq!(pattern(of_two_axes, |at| at * at % 9), None, "no two elements agree");
    let padding = "PADDING1 UINT8 in=3 out=5 PaddingMode=CONSTANT PaddingValue=200 StartPadding=1 EndPadding=1 fill=iota";
    assert_eq!(pattern(padding, |_| 2), None, "one element is right by chance");
}

/// A shrunk case has at least two distinct elements, and stays on its side of the predicate.
#[test]
fn a_shrunk_case_still_tells_where_elements_come_from() {
    let line = "SLICE1 UINT8 in=3,6 out=2,4 InputWindowOffsets=0,1 InputWindowSizes=2,4 InputWindowStrides=1,1 fill=random:3";
    let smallest = |backend: Arc<Factory>| {
        let run = diagnosed(&run_of(&[line], backend), None);
        run.findings[0].smallest.as_ref().map(|smallest| smallest.case.to_string())
    };
    let spoilt = smallest(spoiling(|job, outputs| {
        job.runs.iter().for_each(|run| outputs[run.output.start] ^= 0x80);
    }));
    let of_two =
        "SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=1 fill=iota";
    assert_eq!(spoilt.as_deref(), Some(of_two));
    // A refusal shows no elements.
    let refused = smallest(spoiling(|job, _| refuse(job, ErrorCode::INVALID_ARGUMENT)));
    assert_eq!(refused.as_deref(), Some(of_two.replace("in=2", "in=1").as_str()));
    let run = &*TWO_BUGS;
    for finding in &run.findings {
        let Some(smallest) = &finding.smallest else { continue };
        let predicate = &rule(finding).predicate;
        assert!(predicate.holds(&smallest.case, smallest.level, &mut Values::default()), "{smallest:?}");
        assert_eq!(smallest.class, finding.class);
    }
}

/// Most SLICE of rank 2 and more. No predicate tells the others.
fn is_in_most(job: &Job) -> bool {
    let digits = format!("{:?}{:?}", job.desc.list("Offsets"), job.desc.list("Sizes"));
    let hash =
        digits.bytes().fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    job.desc.signature.operator == "SLICE" && job.desc.rank() >= 2 && (hash >> 20) % 16 != 0
}

/// A reader learns from it what a predicate lacks, so it must be as it is said to be.
#[test]
fn a_counterexample_contradicts_its_predicate() {
    let backend = spoiling(|job, outputs| {
        if is_in_most(job) {
            job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
        }
    });
    let found = smoke(Arc::clone(&backend), ExplainOptions::USUAL_CASES);
    let mut shown = 0;
    for (finding, counterexample) in found
        .findings
        .iter()
        .filter_map(|finding| Some((finding, finding.rule.as_ref()?.counterexample.as_ref()?)))
    {
        let Rule { predicate, is_exact, .. } = rule(finding);
        assert!(!is_exact, "{finding:#?}");
        let line = counterexample.case.to_string();
        let alone = diagnosed(&run_of(&[&line], Arc::clone(&backend)), None);
        let has_failed = alone.findings.iter().any(|alone| alone.class == finding.class);
        let holds = predicate.holds(&counterexample.case, finding.first.level, &mut Values::default());
        assert_eq!((has_failed, holds), (counterexample.fails, !counterexample.fails), "{predicate}: {line}");
        shown += 1;
    }
    assert!(shown > 0, "{:#?}", found.findings);
}
