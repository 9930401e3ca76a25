//! The limits of a run: memory, second runs, and the number of cases.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dmlcts_backend::Backend;
use dmlcts_model::line;
use dmlcts_reference::Reference;
use dmlcts_runner::{
    AnswerCount, Configuration, Ending, Factory, FirstCase, Listed, Run, Stop, Summary, Verdict,
};
use dmlcts_spec::{Answer, Library};

use crate::fixture::behaving;

const STRIDED: &str = "SLICE1 UINT16 in=4 out=2 OutputTensor.Strides=3 InputWindowOffsets=0 InputWindowSizes=4 \
                       InputWindowStrides=3 fill=iota";
const LARGE: &str = "SLICE1 UINT8 in=8388608 out=8388608 InputWindowOffsets=0 InputWindowSizes=8388608 \
                     InputWindowStrides=1 fill=iota";
const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

fn run(lines: &[&str], backend: Arc<Factory>, configuration: Configuration) -> Summary {
    let signatures = Library::embedded().signatures();
    let cases = lines.iter().map(|text| line::parse(text, signatures).expect("a case")).collect();
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(cases, "listed")),
        backend,
        configuration,
        stop: Stop::default(),
    };
    dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts")
}

fn correct() -> Arc<Factory> {
    behaving(|batch| Reference::backend().run(batch))
}

#[test]
fn the_poison_in_the_holes_of_an_output_calls_for_no_second_run() {
    let summary = run(&[STRIDED; 64], correct(), Configuration::default());
    assert_eq!(summary.tally().of(Verdict::Pass), 64);
    // About one case in eight runs again on other data.
    assert!((65..96).contains(&summary.totals.work.runs), "{}", summary.totals.work.runs);
}

#[test]
fn large_cases_lie_in_lots_of_their_own_within_the_budget() {
    const BUDGET: u64 = 100 << 20;
    let most = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&most);
    let backend = behaving(move |batch| {
        let is_large = batch.inputs.len() > 1 << 20;
        assert!(!is_large || batch.jobs().len() == 1, "{} jobs beside a large one", batch.jobs().len());
        seen.fetch_max(batch.inputs.capacity() + batch.outputs.capacity(), Ordering::Relaxed);
        Reference::backend().run(batch);
    });
    let lines: Vec<&str> = [STRIDED, LARGE, STRIDED].into_iter().cycle().take(30).collect();
    let configuration = Configuration { jobs: 3, memory: BUDGET, ..Configuration::default() };
    let summary = run(&lines, backend, configuration);
    assert_eq!(summary.tally().of(Verdict::Pass), 30, "{:?}", summary.groups);
    assert_eq!(summary.totals.work.too_large, 0);
    // The batch is compared with a copy of the same size.
    let most = 2 * most.load(Ordering::Relaxed) as u64;
    assert!((32 << 20..=BUDGET + 4096).contains(&most), "{most}");
}

#[test]
fn a_limit_that_cuts_nothing_off_leaves_the_run_complete() {
    for (limit, ending) in
        [(39, Ending::Limit), (40, Ending::Complete), (41, Ending::Complete), (0, Ending::Limit)]
    {
        let configuration = Configuration { jobs: 2, limit: Some(limit), ..Configuration::default() };
        let summary = run(&[STRIDED; 40], correct(), configuration);
        assert_eq!((summary.ending, summary.totals.progress.ran), (ending, limit.min(40)));
    }
}

#[test]
fn answers_to_open_questions_are_counted() {
    let summary = run(&[STRIDE_ZERO; 5], correct(), Configuration::default());
    let [recorded] = summary.recorded.as_slice() else { panic!("{:?}", summary.recorded) };
    assert_eq!((recorded.operator.name(), recorded.question.id.as_str()), ("SLICE", "slice.stride-zero"));
    let expected = AnswerCount {
        answer: Answer::Reject,
        cases: 5,
        first: FirstCase { index: 0, line: STRIDE_ZERO.to_owned() },
    };
    assert_eq!((recorded.answers.as_slice(), recorded.together), (&[expected][..], 0));

    // Repeats the element at the offset, which is 2.
    let repeating = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = dmlcts_model::Outcome::Output;
            for run in &job.runs {
                outputs[run.output.clone()].copy_from_slice(&[2.0_f32, 2.0].map(f32::to_le_bytes).concat());
            }
        }
    });
    let summary = run(&[STRIDE_ZERO; 3], repeating, Configuration::default());
    let [recorded] = summary.recorded.as_slice() else { panic!("{:?}", summary.recorded) };
    let [AnswerCount { answer: Answer::Reading(_), cases: 3, .. }] = recorded.answers.as_slice() else {
        panic!("{recorded:?}");
    };
}
