//! What each stage of the pipeline takes on its own, in nanoseconds a case: drawing, judging, planning and
//! executing by the oracle, filling and running the reference, for random descs of up to 64 elements and
//! ranks 1 to 8. Every stage sees many cases that it has not seen before, as in a run.
//!
//! `cargo bench -p dmlcts-runner --bench stages` prints the least of several rounds.

use std::{hint::black_box, time::Instant};

use dmlcts_backend::Batch;
use dmlcts_generate::{Suite, fill};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_reference::Reference;
use dmlcts_runner::{CaseSource as _, SuiteSource};
use dmlcts_spec::{Library, Scratch, Source, Validity};

const SUITE: &str = "
suite: tiny
purpose: How fast each stage is.
parts:
  - {id: random, strategy: random, elements: 64}
";

/// Cases a round, none of which another round has.
const CASES: u64 = 50_000;
const ROUNDS: u64 = 8;

struct Stage {
    name: &'static str,
    nanoseconds: Vec<f64>,
}

impl Stage {
    fn new(name: &'static str) -> Self {
        Self { name, nanoseconds: Vec::new() }
    }

    fn time<T>(&mut self, work: impl FnOnce() -> T) {
        let start = Instant::now();
        black_box(work());
        self.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / CASES as f64);
    }
}

fn main() {
    // Only what was named on the command line, so that a profiler sees one stage.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("tiny.yaml", SUITE)).expect("the suite is one");
    let parts = SuiteSource::new(suite.expand(library, 0).expect("the suite expands"), &[]);
    let mut stages = ["draw", "judge", "plan", "plan and execute", "fill", "reference"].map(Stage::new);
    let mut scratch = Scratch::default();
    let mut backend = Reference::backend();
    let blank = library.operators()[0].examples()[0].case.clone();
    let level = FeatureLevel::NEWEST;
    for round in 0..ROUNDS {
        let mut cases: Vec<Case> = (0..CASES).map(|_| blank.clone()).collect();
        let [draw, judge, plan, execute, fill_stage, reference] = &mut stages;
        let source = &parts;
        let mut cursor = source.cursor();
        draw.time(|| {
            for (index, case) in (round * CASES..).zip(&mut cases) {
                cursor.read(index, case);
            }
        });
        let operator = |case: &Case| library.operator(&case.desc.signature.operator).expect("it has one");
        let operators: Vec<_> = cases.iter().map(operator).collect();
        if wanted("judge") {
            judge.time(|| {
                let cases = cases.iter().zip(&operators);
                cases
                    .filter(|(case, operator)| {
                        operator.judge(&case.desc, level, &mut scratch).validity() == Validity::Valid
                    })
                    .count()
            });
        }
        let mut valid = Vec::new();
        let mut batch = Batch::default();
        for (case, operator) in cases.iter().zip(&operators) {
            if let Ok(judged) = operator.judge_valid(&case.desc, level, &mut scratch) {
                valid.push((case, *operator, judged));
            }
        }
        let bytes = |tensor: &Option<dmlcts_model::Tensor>| {
            tensor.as_ref().map_or(0, |tensor| tensor.total_size as usize)
        };
        if wanted("plan") {
            plan.time(|| {
                let plans = valid.iter();
                plans.filter(|(_, operator, judged)| operator.plan(*judged, 0, &mut scratch).is_ok()).count()
            });
        }
        let input = vec![7_u8; 1 << 20];
        let mut output = vec![0_u8; 1 << 20];
        if wanted("execute") {
            execute.time(|| {
                for (case, operator, judged) in &valid {
                    let (from, to) = (bytes(&case.desc.input), bytes(&case.desc.output));
                    if let Ok(mut plan) = operator.plan(*judged, 0, &mut scratch) {
                        plan.execute(&input[..from], &mut output[..to]).expect("it fits");
                    }
                }
            });
        }
        if wanted("fill") {
            fill_stage.time(|| {
                for (case, ..) in &valid {
                    let Some(tensor) = &case.desc.input else { continue };
                    fill::write(&case.fill, tensor.data_type, &mut output[..tensor.total_size as usize]);
                }
            });
        }
        if wanted("reference") {
            for (case, ..) in &valid {
                let (from, to) = (bytes(&case.desc.input), bytes(&case.desc.output));
                let (first, second) = (batch.inputs.len(), batch.outputs.len());
                batch.inputs.resize(first + from, 7);
                batch.outputs.resize(second + to, 0);
                let job = batch.push(&case.desc, case.binding);
                job.runs
                    .push(dmlcts_backend::Run { input: first..first + from, output: second..second + to });
            }
            reference.time(|| dmlcts_backend::Backend::run(&mut backend, &mut batch));
        }
    }
    for Stage { name, nanoseconds } in &stages {
        if !nanoseconds.is_empty() {
            let least = nanoseconds.iter().copied().fold(f64::INFINITY, f64::min);
            println!("{name:18} {least:7.0} ns a case");
        }
    }
}
