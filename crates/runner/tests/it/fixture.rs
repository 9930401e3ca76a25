//! Shared by the tests: cases, and backends with the behaviour of a closure.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate, Job};
use dmlcts_model::{Case, ErrorCode, FeatureLevel, Outcome, Phase, line};
use dmlcts_reference::Reference;
use dmlcts_runner::{
    Applies, CauseKind, Class, Configuration, Factory, KnownEntry, KnownFailure, KnownFailures, Listed, Run,
    Status, Stop, Summary, Verdict,
};
use dmlcts_spec::{Library, Predicate};

pub(crate) const REVERSAL: &str = "SLICE1 FLOAT32 in=2,4 out=2,4 InputWindowOffsets=0,0 InputWindowSizes=2,4 \
                        InputWindowStrides=1,-1 fill=iota";
pub(crate) const BYTES: &str = "SLICE1 UINT8 in=3 out=3 InputWindowOffsets=0 InputWindowSizes=3 InputWindowStrides=1 \
                     fill=explicit:b54a01";
pub(crate) const STRIDED: &str = "SLICE1 UINT16 in=4 out=2 OutputTensor.Strides=3 InputWindowOffsets=0 InputWindowSizes=4 \
                       InputWindowStrides=3 fill=iota";
pub(crate) const SPECIAL: &str = "SLICE1 FLOAT32 in=64 out=64 InputWindowOffsets=0 InputWindowSizes=64 \
                       InputWindowStrides=1 fill=special:1";
pub(crate) const EMPTY_WINDOW: &str = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 \
                            InputWindowStrides=1 fill=iota";
pub(crate) const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";
pub(crate) const HUGE: &str = "SLICE1 UINT8 in=4294967295 out=4294967295 InputWindowOffsets=0 \
                    InputWindowSizes=4294967295 InputWindowStrides=1 fill=iota";

pub(crate) fn case(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A backend that runs a closure on each batch.
pub(crate) struct Closure<F> {
    pub(crate) capabilities: Capabilities,
    pub(crate) behave: F,
}

impl<F: FnMut(&mut Batch) + Send> Backend for Closure<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        (self.behave)(batch);
    }
}

pub(crate) fn declared() -> Capabilities {
    let capabilities = Reference::backend().capabilities().clone();
    Capabilities { name: "closure".to_owned(), can_set_feature_level: false, ..capabilities }
}

/// A backend with the behaviour of a closure.
pub(crate) fn behaving(behave: impl Fn(&mut Batch) + Send + Sync + 'static) -> Arc<Factory> {
    declaring(declared(), behave)
}

pub(crate) fn declaring(
    capabilities: Capabilities,
    behave: impl Fn(&mut Batch) + Send + Sync + 'static,
) -> Arc<Factory> {
    let behave = Arc::new(behave);
    Arc::new(move |_| {
        let behave = Arc::clone(&behave);
        Ok(Box::new(Immediate(Closure {
            capabilities: capabilities.clone(),
            behave: move |batch: &mut Batch| behave(batch),
        })))
    })
}

pub(crate) fn correct(batch: &mut Batch) {
    Reference::backend().run(batch);
}

/// A correct backend, with a closure that changes each job and its output.
pub(crate) fn spoiling(spoil: impl Fn(&mut Job, &mut [u8]) + Send + Sync + 'static) -> Arc<Factory> {
    behaving(move |batch| {
        correct(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            spoil(job, outputs);
        }
    })
}

pub(crate) fn run_of(lines: &[&str], backend: Arc<Factory>) -> Run {
    Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(lines.iter().map(|line| case(line)).collect(), "listed")),
        backend,
        configuration: Configuration { jobs: 2, ..Configuration::default() },
        stop: Stop::default(),
    }
}

pub(crate) fn summary(run: &Run) -> Summary {
    dmlcts_runner::run(run, &mut |_| {}).expect("the backend starts")
}

/// The single failure of a run of one case.
#[track_caller]
pub(crate) fn failure(line: &str, backend: Arc<Factory>) -> (Verdict, Class) {
    let summary = summary(&run_of(&[line], backend));
    assert_eq!(summary.groups.len(), 1, "{summary:?}");
    assert_eq!(summary.tally().unexpected(), 1);
    (summary.groups[0].first.verdict, summary.groups[0].first.class)
}

pub(crate) fn refuse(job: &mut Job, code: ErrorCode) {
    job.outcome = Outcome::Rejected { phase: Phase::Create, code, reason: "".into() };
}

/// A known failure of these cases.
pub(crate) fn known(id: &str, filter: &str, class: Class, applies: Applies) -> KnownFailures {
    let failure = KnownFailure {
        file: format!("{id}.yaml"),
        id: id.to_owned(),
        cases: filter.to_owned(),
        classes: vec![class],
        status: Status::Known,
        kind: CauseKind::Bug,
        is_partial: false,
        is_flaky: false,
        reason: "Told to.".to_owned(),
        link: None,
    };
    let predicate = Predicate::parse(filter, Library::embedded()).expect("it is right");
    KnownFailures::new(vec![KnownEntry::new(failure, applies, Some(predicate), Vec::new())])
}
