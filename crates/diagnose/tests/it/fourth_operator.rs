//! An operator from a separate YAML file on a backend of its own: the whole way from suite to shrunk failure,
//! without code for it in any crate.

use std::sync::Arc;

use dmlcts_backend::Batch;
use dmlcts_diagnose::Diagnosis;
use dmlcts_generate::Suite;
use dmlcts_model::{Desc, ErrorCode, FeatureLevel, Offsets, Outcome, Phase, Tensor};
use dmlcts_runner::{Class, Configuration, Difference, Ending, Factory, Run, Stop, SuiteSource, Verdict};
use dmlcts_spec::{Library, Scratch, Source, Validity};

use crate::{diagnosed, fixture};

const SUITE: &str = "
suite: fourth
purpose: Every way to make cases, on one operator.
parts:
  - {id: documented, strategy: documented, operators: [TILE]}
  - {id: negative, strategy: negative, operators: [TILE]}
  - {id: boundary, strategy: boundary, operators: [TILE]}
  - {id: layout, strategy: layout, operators: [TILE], count: 200}
  - {id: random, strategy: random, operators: [TILE], count: 1000}
";

/// The operators of the suite and one more. They live as long as the tests, since workers may outlive a run.
fn library() -> &'static Library {
    let mut sources = Library::embedded_sources().clone();
    sources.push(Source::new("tile.yaml", include_str!("../../../spec/tests/data/tile.yaml")));
    Box::leak(Box::new(Library::load(&sources).unwrap_or_else(|error| panic!("{error}"))))
}

fn run(library: &'static Library, backend: Arc<Factory>) -> Diagnosis {
    let suite = Suite::parse(&Source::new("fourth.yaml", SUITE)).unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(library, 0).unwrap_or_else(|error| panic!("{error}"));
    let run = Run {
        library,
        source: Arc::new(SuiteSource::new(expansion, &[])),
        backend,
        configuration: Configuration { jobs: 2, ..Configuration::default() },
        stop: Stop::default(),
    };
    diagnosed(&run, None)
}

/// Repeats whole tiles along each axis. It uses the spec's judgement of invalid descs.
fn tile(library: &'static Library, batch: &mut Batch) {
    let operator = library.operator("TILE").expect("it was loaded");
    let mut scratch = Scratch::default();
    let (jobs, inputs, outputs) = batch.parts();
    for job in jobs {
        let judgement = operator.judge(&job.desc, FeatureLevel::NEWEST, &mut scratch);
        job.outcome = if judgement.validity() == Validity::Invalid {
            let reason = "no valid TILE".into();
            Outcome::Rejected { phase: Phase::Create, code: ErrorCode::INVALID_ARGUMENT, reason }
        } else if job.runs.is_empty() {
            Outcome::Accepted
        } else {
            for run in &job.runs {
                repeat(&job.desc, &inputs[run.input.clone()], &mut outputs[run.output.clone()]);
            }
            Outcome::Output
        };
    }
}

fn repeat(desc: &Desc, input: &[u8], output: &mut [u8]) {
    let (Some(from), Some(to)) = (&desc.input, &desc.output) else { return };
    let (Some(from_sizes), Some(to_sizes)) = (&from.sizes, &to.sizes) else { return };
    let size = to.data_type.element_size().expect("a valid type has a size");
    let packed = |tensor: &Tensor| {
        tensor
            .strides
            .clone()
            .unwrap_or_else(|| dmlcts_model::packed_strides(tensor.sizes.as_deref().unwrap_or(&[])))
    };
    let strides = packed(from);
    for (index, offset) in Offsets::new(to_sizes, to.strides.as_deref()).enumerate() {
        let coordinates = dmlcts_model::coordinates_of(index as u64, to_sizes);
        let axes = coordinates.iter().zip(from_sizes).zip(&strides);
        let place = axes.map(|((at, size), stride)| at % size * stride).sum::<i64>() as usize;
        let offset = offset as usize;
        output[offset * size..][..size].copy_from_slice(&input[place * size..][..size]);
    }
}

#[test]
fn a_right_backend_passes_every_case_of_it() {
    let library = library();
    let Diagnosis { summary, .. } = run(library, fixture::behaving(move |batch| tile(library, batch)));
    assert_eq!(summary.groups.len(), 0, "{:?}", summary.groups);
    assert_eq!((summary.tally().unexpected(), summary.ending), (0, Ending::Complete));
    for strategy in ["documented", "negative", "boundary", "layout", "random"] {
        let (_, tally) = summary.strategies.iter().find(|(name, _)| name == strategy).expect("it is known");
        assert!(tally.of(Verdict::Pass) > 0, "{strategy}: {tally:?}");
    }
    assert!(summary.totals.work.runs > 1000);
}

#[test]
fn a_fault_in_it_is_found_grouped_and_shrunk() {
    let library = library();
    let backend = fixture::behaving(move |batch| {
        tile(library, batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            // Gets the first element wrong if some axis is repeated three times or more.
            if job.desc.list("Repeats").is_some_and(|repeats| repeats.iter().any(|&times| times >= 3)) {
                job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
            }
        }
    });
    let Diagnosis { summary, findings, .. } = run(library, backend);
    let wrong = Class::Output(Difference::WrongValue);
    let group = summary.groups.iter().find(|group| group.first.class == wrong).expect("the fault is found");
    assert!(group.cases > 10, "one group for all of them: {}", group.cases);
    assert_eq!(group.first.operator.name(), "TILE");
    let finding = findings.iter().find(|finding| finding.class == wrong).expect("a group is a finding");
    let smallest = finding.smallest.as_ref().expect("a smaller case");
    assert_eq!((smallest.verdict, smallest.class), (Verdict::Fail, wrong));
    assert_eq!(smallest.case.desc.rank(), 1, "{}", smallest.case);
    assert_eq!(smallest.case.desc.list("Repeats"), Some(&[3][..]), "{}", smallest.case);
    assert!(summary.tally().of(Verdict::Pass) > 0, "what it does not touch passes");
}
