//! The answer of an outcome to open questions. A run answers all questions of a case; for a refusal, it is
//! unknown which one.

use std::sync::Arc;

use dmlcts_backend::Capabilities;
use dmlcts_model::{DataType, ErrorCode, Outcome, line};
use dmlcts_runner::{Factory, FirstCase, Listed, Run, Summary, Verdict};
use dmlcts_spec::{Library, Source};

use crate::fixture::{STRIDE_ZERO, behaving, declared, declaring, refuse, run_of, spoiling, summary};

const FLAGS: &str = "SLICE FLOAT32 in=4 out=2 InputTensor.Flags=2 Offsets=1 Sizes=2 Strides=1 fill=iota";
const BOTH: &str = "SLICE FLOAT32 in=4 out=2 InputTensor.Flags=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

/// Each question with its answers, the number of cases of each answer and its first case, and the number of
/// cases that answer no single question.
fn answers(summary: &Summary) -> Vec<String> {
    let of_question = |recorded: &dmlcts_runner::QuestionAnswers| {
        let answers = recorded.answers.iter().map(|answered| {
            let FirstCase { index, line } = &answered.first;
            assert!(!line.is_empty());
            format!(" {:?} {} from {index}", answered.answer, answered.cases)
        });
        let together = (recorded.together > 0).then(|| format!(" together {}", recorded.together));
        let answers: Vec<String> = answers.chain(together).collect();
        format!("{}:{}", recorded.question.id, answers.join(","))
    };
    summary.recorded.iter().map(of_question).collect()
}

fn refusing(capabilities: Capabilities) -> Arc<Factory> {
    declaring(capabilities, |batch| {
        let (jobs, _, _) = batch.parts();
        for job in jobs {
            refuse(job, ErrorCode::INVALID_ARGUMENT);
        }
    })
}

#[test]
fn a_refusal_is_no_answer_to_either_of_two_questions() {
    let summary = summary(&run_of(&[BOTH, STRIDE_ZERO, BOTH, FLAGS, STRIDE_ZERO], refusing(declared())));
    assert_eq!(summary.tally().of(Verdict::Recorded), 5);
    assert_eq!(
        answers(&summary),
        [
            "slice.input.unknown-flags: Reject 1 from 3, together 2",
            "slice.stride-zero: Reject 2 from 1, together 2"
        ]
    );
    assert_eq!(summary.recorded[1].answers[0].first.line, STRIDE_ZERO);
    assert_eq!(summary.recorded[1].cases(), 4);
}

#[test]
fn a_run_answers_every_question_of_its_case() {
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
    assert_eq!(
        answers(&summary(&run_of(&[BOTH, STRIDE_ZERO], repeating))),
        ["slice.input.unknown-flags: Reading(0) 1 from 0", "slice.stride-zero: Reading(0) 2 from 0"]
    );
}

/// A case that is answered `unsupported` answers no question.
#[test]
fn what_was_never_declared_answers_no_question() {
    let bytes = Capabilities { data_types: vec![DataType::UINT8], ..declared() };
    let summary_ = summary(&run_of(&[STRIDE_ZERO, BOTH], refusing(bytes)));
    assert_eq!((summary_.tally().of(Verdict::Skip), summary_.recorded.len()), (2, 0));
}

/// A refusal answers the only question that allows it; the other question stays unanswered.
#[test]
fn a_refusal_answers_the_only_question_that_allows_it() {
    let mut sources = Library::embedded_sources().clone();
    sources.push(Source::new("tile.yaml", include_str!("../../../../spec/tests/data/tile.yaml")));
    let library: &'static Library =
        Box::leak(Box::new(Library::load(&sources).unwrap_or_else(|error| panic!("{error}"))));
    let text = "TILE UINT8 in=2 out=14 InputTensor.Flags=2 RepeatsCount=1 Repeats=7 fill=iota";
    let case = line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{error}"));
    let source = || Arc::new(Listed::new(vec![case.clone()], "listed"));
    let run = |backend| Run { library, source: source(), ..run_of(&[], backend) };
    assert_eq!(answers(&summary(&run(refusing(declared())))), ["tile.input.unknown-flags: Reject 1 from 0"]);
    // A run answers both, one of them by its own reading.
    let backwards = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Output;
            for run in &job.runs {
                outputs[run.output.clone()][..14].copy_from_slice(&[2, 1].repeat(7));
            }
        }
    });
    assert_eq!(
        answers(&summary(&run(backwards))),
        ["tile.input.unknown-flags: Reading(0) 1 from 0", "tile.repeat-backwards: Reading(1) 1 from 0"]
    );
}

/// The first case is the same for any number of threads.
#[test]
fn the_first_case_of_an_answer_does_not_depend_on_threads() {
    let lines: Vec<&str> = [FLAGS, STRIDE_ZERO].repeat(1_000);
    let backend = || {
        spoiling(|job, _| {
            if job.desc.input.as_ref().is_some_and(|input| input.flags > 1) {
                refuse(job, ErrorCode::INVALID_ARGUMENT);
            }
        })
    };
    let of = |jobs| {
        let mut run = run_of(&lines, backend());
        run.configuration.jobs = jobs;
        answers(&summary(&run))
    };
    assert_eq!(
        of(1),
        ["slice.input.unknown-flags: Reject 1000 from 0", "slice.stride-zero: Reject 1000 from 1"]
    );
    assert_eq!(of(3), of(1));
}
