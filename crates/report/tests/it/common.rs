//! Runs of backends that misbehave, for tests of reports.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate, Job};
use dmlcts_diagnose::{Diagnosis, ExplainOptions, Rule};
use dmlcts_model::{FeatureLevel, line};
use dmlcts_reference::Reference;
use dmlcts_report::{Context, Replay, Subject};
use dmlcts_runner::{Configuration, Factory, Listed, Run, Stop};
use dmlcts_spec::{Library, Predicate, Validity};

pub(crate) const REVERSAL: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                        InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";
pub(crate) const PADDING: &str = "PADDING1 UINT8 in=2,2 out=3,4 PaddingMode=CONSTANT StartPadding=1,1 EndPadding=0,1 \
                       fill=explicit:01020304";
pub(crate) const EMPTY_WINDOW: &str = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 \
                            InputWindowStrides=1 fill=iota";
pub(crate) const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

/// The reference, with a closure that changes outcomes and outputs.
struct Spoiled<F> {
    capabilities: Capabilities,
    spoil: Arc<F>,
}

impl<F: Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync> Backend for Spoiled<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        Reference::backend().run(batch);
        let (jobs, inputs, outputs) = batch.parts();
        for job in jobs {
            (self.spoil)(job, inputs, outputs);
        }
    }
}

pub(crate) fn backend(spoil: impl Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync + 'static) -> Arc<Factory> {
    declaring(|_| (), spoil)
}

/// The same, for a backend with another declaration than the reference.
pub(crate) fn declaring(
    change: impl Fn(&mut Capabilities),
    spoil: impl Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync + 'static,
) -> Arc<Factory> {
    let spoil = Arc::new(spoil);
    let mut capabilities = Reference::backend().capabilities().clone();
    change(&mut capabilities);
    "closure".clone_into(&mut capabilities.name);
    "1.0".clone_into(&mut capabilities.version);
    Arc::new(move |_| {
        let spoil = Arc::clone(&spoil);
        Ok(Box::new(Immediate(Spoiled { capabilities: capabilities.clone(), spoil })))
    })
}

pub(crate) fn summary(lines: &[&str], backend: Arc<Factory>) -> Diagnosis {
    let signatures = Library::embedded().signatures();
    let cases = lines.iter().map(|text| line::parse(text, signatures).expect("a case")).collect();
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(cases, "listed")),
        backend,
        configuration: Configuration { jobs: 1, ..Configuration::default() },
        stop: Stop::default(),
    };
    dmlcts_diagnose::run(&run, &ExplainOptions::NONE, &mut |_| {}).expect("the backend starts")
}

pub(crate) fn context() -> Context {
    let subject = Subject::Suite {
        name: "test".to_owned(),
        what: "a test".to_owned(),
        obligations: "dmlcts count --obligations".to_owned(),
    };
    Context {
        certificate: vec!["what a test can prove".to_owned()],
        time_limit: Some("--budget"),
        next: vec![("dmlcts list | head".to_owned(), "the cases, one line each".to_owned())],
        ..Context::new(Library::embedded(), subject, Replay::default())
    }
}

pub(crate) fn forgets_to_reverse(job: &mut Job, inputs: &[u8], outputs: &mut [u8]) {
    // Starts at the beginning of the window for either sign of the stride.
    for run in &job.runs {
        for (row, from) in [(0, 1), (1, 9)] {
            for (column, element) in [(0, from), (1, from + 2)] {
                let (to, from) = (run.output.start + 4 * (2 * row + column), run.input.start + 4 * element);
                outputs[to..to + 4].copy_from_slice(&inputs[from..from + 4]);
            }
        }
    }
}

/// An exact rule that no experiment was asked about.
pub(crate) fn exact(predicate: &str, validity: Validity) -> Rule {
    Rule {
        predicate: Predicate::parse(predicate, Library::embedded()).expect("it is a predicate"),
        validity,
        within: None,
        passes: 0,
        is_sample: false,
        asked: 0,
        estimate: None,
        missed: 0,
        counterexample: None,
        is_exact: true,
    }
}
