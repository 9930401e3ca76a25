//! Backends that crash, hang, refuse, are wrong, or print although nothing asked them to: at one case, or at
//! many.

use std::{
    io::{self, Write as _},
    process, thread,
    time::Duration,
};

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{ErrorCode, FeatureLevel, Outcome, Phase, line};
use dmlcts_reference::Reference;
use dmlcts_spec::Library;

/// What happens to a case with this number, given the outputs of its batch.
type Way = fn(u64, &mut Job, &mut [u8]);

/// Whether a way happens to a case.
type At = fn(&Job) -> bool;

/// The reference with one of the [`WAYS`].
struct Unruly {
    inner: Box<dyn Backend>,
    way: Way,
    at: Box<dyn Fn(&Job) -> bool + Send>,
    /// The number of cases so far.
    cases: u64,
}

/// The ways by name, with the cases to which they happen unless one is named.
const WAYS: [(&str, At, Way); 10] = [
    ("crashes", is_third, |_, _, _| {
        let _ = writeln!(io::stderr(), "a crash\nof three\nlines");
        process::exit(7);
    }),
    ("dies", every, |_, _, _| process::abort()),
    ("hangs", is_third, |_, _, _| thread::sleep(Duration::from_secs(60))),
    ("notes", every, |case, _, _| drop(writeln!(io::stderr(), "note: case {case}\nnote: again"))),
    ("shouts", every, |case, _, _| drop(writeln!(io::stderr(), "error: case {case}\x07\nwarning: again"))),
    ("garbles", is_third, |_, _, _| drop(writeln!(io::stdout(), "compiling shaders..."))),
    ("refuses", every, |_, job, _| {
        let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
        job.outcome = Outcome::Rejected { phase, code, reason: "no\nwords".into() };
    }),
    ("fails", every, |case, job, _| {
        job.outcome = Outcome::Failed { phase: Phase::Create, reason: format!("failure {case}").into() };
    }),
    // It declares what it calls unsupported.
    ("lies", every, |_, job, _| job.outcome = Outcome::Unsupported("not today".into())),
    ("flips", every, |_, job, outputs| job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1)),
];

/// The reference that is unruly in the way of this name, at this case alone if there is one.
pub(crate) fn backend(way: &str, case: Option<&str>) -> impl Backend {
    let (_, usual, way) = WAYS.into_iter().find(|(name, ..)| *name == way).expect("it is one of the ways");
    let at: Box<dyn Fn(&Job) -> bool + Send> = match case {
        None => Box::new(usual),
        Some(case) => {
            let case = line::parse(case, Library::embedded().signatures()).expect("it is a case");
            Box::new(move |job| job.desc == case.desc)
        }
    };
    Unruly { inner: Box::new(Reference::backend()), way, at, cases: 0 }
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
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            self.cases += 1;
            if (self.at)(job) {
                (self.way)(self.cases, job, outputs);
            }
        }
    }
}

fn every(_: &Job) -> bool {
    true
}

/// Whether the sum of the sizes is a multiple of three.
fn is_third(job: &Job) -> bool {
    let sizes = job.desc.input.as_ref().and_then(|input| input.sizes.as_ref());
    sizes.is_some_and(|sizes| sizes.iter().sum::<i64>() % 3 == 0)
}
