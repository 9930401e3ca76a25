//! Backends that give a run much to tell: they crash, hang, refuse, or print where nothing is asked of them.

use std::{
    io::{self, Write as _},
    process, thread,
    time::Duration,
};

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{ErrorCode, FeatureLevel, Outcome, Phase};
use dmlcts_reference::Reference;

/// What happens to a case with this number.
type Way = fn(u64, &mut Job);

/// The reference with one of the [`WAYS`].
struct Unruly {
    inner: Box<dyn Backend>,
    way: Way,
    /// The number of cases so far.
    cases: u64,
}

/// The ways by name.
const WAYS: [(&str, Way); 8] = [
    ("crashes", |_, job| {
        if is_third(job) {
            let _ = writeln!(io::stderr(), "a crash\nof three\nlines");
            process::exit(7);
        }
    }),
    ("dies", |_, _| process::abort()),
    ("hangs", |_, job| {
        if is_third(job) {
            thread::sleep(Duration::from_secs(60));
        }
    }),
    ("notes", |case, _| drop(writeln!(io::stderr(), "note: case {case}\nnote: again"))),
    ("shouts", |case, _| drop(writeln!(io::stderr(), "error: case {case}\x07\nwarning: again"))),
    ("garbles", |_, job| {
        if is_third(job) {
            let _ = writeln!(io::stdout(), "compiling shaders...");
        }
    }),
    ("refuses", |_, job| {
        let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
        job.outcome = Outcome::Rejected { phase, code, reason: "no\nwords".into() };
    }),
    ("fails", |case, job| {
        job.outcome = Outcome::Failed { phase: Phase::Create, reason: format!("failure {case}").into() };
    }),
];

/// The reference that is unruly in the way of this name.
pub(crate) fn backend(way: &str) -> impl Backend {
    let way = WAYS.into_iter().find(|(name, _)| *name == way).expect("it is one of the ways").1;
    Unruly { inner: Box::new(Reference::backend()), way, cases: 0 }
}

impl Backend for Unruly {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.inner.run(batch);
        for job in batch.parts().0 {
            self.cases += 1;
            (self.way)(self.cases, job);
        }
    }
}

/// Whether the sum of the sizes is a multiple of three.
fn is_third(job: &Job) -> bool {
    let sizes = job.desc.input.as_ref().and_then(|input| input.sizes.as_ref());
    sizes.is_some_and(|sizes| sizes.iter().sum::<i64>() % 3 == 0)
}
