//! Random faults: the reference, with wrong answers to the cases that meet a random conjunction of
//! conditions. `dmlcts-lab random` measures suites with them.
//!
//! Each fault has a witness, a case that shows it. The witnesses are random cases with a seed that no suite
//! uses. So no suite contains them by design.

use std::{ops::Range, sync::Arc};

use dmlcts_backend::{Backend, Batch, Capabilities, Job, Pipelined, Sequential};
use dmlcts_generate::{
    Expansion, Length, Suite,
    draw::{Draws, derive},
};
use dmlcts_model::{Case, Desc, ErrorCode, FeatureLevel, Offsets, Outcome, Phase, element_count, named_enum};
use dmlcts_reference::Reference;
use dmlcts_runner::Factory;
use dmlcts_spec::{Library, Predicate, Source, program::Values};

use crate::{
    Problem,
    atoms::{Atoms, joined},
};

/// The cases from which witnesses are drawn: small tensors, larger tensors, and tensors that are not packed.
const WITNESSES: &str = "
suite: witnesses
purpose: The cases at which random faults are wrong.
parts:
  - {id: small-witnesses, strategy: random, count: 1000000}
  - {id: larger-witnesses, strategy: random, elements: 4096, count: 1000000}
  - {id: witnesses-in-memory, strategy: layout, count: 1000000}
";

/// The number of sampled cases for each operator, by which conditions are measured.
const SAMPLE: usize = 1000;

/// The number of witnesses that are tried for a fault. The first one nearly always works.
const ATTEMPTS: usize = 100;

named_enum! {
    /// The effect of a fault on a desc that the reference accepts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Effect: describe {
        /// A bit of the output's first element is wrong.
        First = "a wrong bit in the first element",
        /// A bit of an element in the middle is wrong.
        Middle = "a wrong bit in the middle element",
        /// A bit of the output's last element is wrong.
        Last = "a wrong bit in the last element",
        /// The desc is refused.
        Refused = "the desc is refused",
        /// The outcome says that the process crashed, but this process continues.
        Crash = "a crash",
        /// The output's memory stays as it was.
        Unwritten = "the output is not written",
    }
}

/// The reference with a fault.
#[derive(Debug)]
pub(crate) struct RandomFault {
    /// The number of its conditions.
    pub(crate) atoms: usize,
    /// The effect on the cases that meet the predicate.
    pub(crate) effect: Effect,
    /// Holds for the cases that the fault affects.
    pub(crate) predicate: Predicate,
    /// The predicate, as `--where` takes it.
    pub(crate) text: String,
    /// A case that shows the fault.
    pub(crate) witness: Case,
}

impl RandomFault {
    /// Makes backends with the fault.
    pub(crate) fn factory(self: &Arc<Self>) -> Arc<Factory> {
        let fault = Arc::clone(self);
        Arc::new(move |_| {
            Ok(Box::new(Faulty {
                inner: Reference::backend(),
                level: FeatureLevel::NEWEST,
                values: Values::default(),
                scratch: fault.witness.clone(),
                fault: Arc::clone(&fault),
            }))
        })
    }
}

/// Draws random faults.
pub(crate) struct Faults {
    seed: u64,
    witnesses: Expansion<'static>,
    atoms: Atoms,
}

impl Faults {
    /// The faults of a seed.
    pub(crate) fn new(seed: u64) -> Result<Self, Problem> {
        // Suites expand with `seed` itself. With another seed, witnesses come from other pools than a suite's
        // cases.
        let seed = derive(seed, "random faults");
        let suite = Suite::parse(&Source::new("random faults", WITNESSES))?;
        let witnesses = suite.expand(Library::embedded(), seed)?;
        let mut draws = Draws::new(derive(seed, "sample"));
        let sample = (0..SAMPLE * Library::embedded().operators().len())
            .filter_map(|_| case(&witnesses, &mut draws))
            .collect();
        Ok(Self { seed, witnesses, atoms: Atoms::new(Library::embedded(), sample) })
    }

    /// Draws the fault with this index among the faults with this number of conditions. `is_wrong` says
    /// whether a fault shows at its witness. `None` if no such fault is found.
    pub(crate) fn draw(
        &mut self,
        atoms: usize,
        index: u64,
        mut is_wrong: impl FnMut(&Arc<RandomFault>) -> Result<bool, Problem>,
    ) -> Result<Option<Arc<RandomFault>>, Problem> {
        let mut draws = Draws::of_case(derive(self.seed, &format!("{atoms} atoms")), index);
        for _ in 0..ATTEMPTS {
            let Some(witness) = case(&self.witnesses, &mut draws) else { continue };
            let effect = Effect::ALL[draws.place(Effect::ALL.len())];
            let Some(chosen) = self.atoms.conjunction(&witness, atoms, &mut draws) else { continue };
            let text = joined(&chosen);
            let Ok(predicate) = Predicate::parse(&text, Library::embedded()) else { continue };
            let fault = Arc::new(RandomFault { atoms, effect, predicate, text, witness });
            if is_wrong(&fault)? {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }
}

/// A random case of a random part.
fn case(cases: &Expansion<'static>, draws: &mut Draws) -> Option<Case> {
    let part = draws.pick(cases.parts())?;
    let Length::Finite(length) = part.length() else { return None };
    let mut case = cases.blank()?;
    part.case(draws.below(length as u64).into(), &mut case).then_some(case)
}

/// A backend with a random fault.
struct Faulty {
    inner: Sequential<Reference>,
    fault: Arc<RandomFault>,
    level: FeatureLevel,
    values: Values,
    /// The case that the predicate reads. Jobs have no fill, so it keeps the witness's fill, which no
    /// condition reads.
    scratch: Case,
}

impl Faulty {
    /// Whether the fault's predicate holds for a job.
    fn holds(&mut self, job: &mut Job) -> bool {
        let Self { fault, level, values, scratch, .. } = self;
        scratch.binding = job.binding;
        std::mem::swap(&mut scratch.desc, &mut job.desc);
        let holds = fault.predicate.holds(scratch, *level, values);
        std::mem::swap(&mut scratch.desc, &mut job.desc);
        holds
    }
}

impl Backend for Faulty {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = level;
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        let (jobs, _, outputs) = batch.parts();
        let mut wrong = Vec::new();
        for (place, job) in jobs.iter_mut().enumerate() {
            if self.holds(job) {
                let memory =
                    job.runs.iter().map(|run| (run.output.clone(), outputs[run.output.clone()].to_vec()));
                wrong.push((place, memory.collect::<Vec<_>>()));
            }
        }
        self.inner.run(batch);
        let (jobs, _, outputs) = batch.parts();
        for (place, memory) in wrong {
            if matches!(jobs[place].outcome, Outcome::Output | Outcome::Accepted) {
                spoil(self.fault.effect, &mut jobs[place], outputs, memory);
            }
        }
    }
}

impl Pipelined for Faulty {}

/// Changes the outcome of a job, or its outputs. `memory` is the content of the outputs before the run.
fn spoil(effect: Effect, job: &mut Job, outputs: &mut [u8], memory: Vec<(Range<usize>, Vec<u8>)>) {
    let count = job.desc.output.as_ref().and_then(|tensor| tensor.sizes.as_deref()).map_or(0, count);
    let element = match effect {
        Effect::First => 0,
        Effect::Middle => count / 2,
        Effect::Last => count.saturating_sub(1),
        Effect::Refused => {
            let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
            job.outcome = Outcome::Rejected { phase, code, reason: "the fault refuses it".into() };
            return;
        }
        Effect::Crash => {
            job.outcome = Outcome::Crashed("the fault crashes".into());
            return;
        }
        Effect::Unwritten => {
            for (range, bytes) in memory {
                outputs[range].copy_from_slice(&bytes);
            }
            return;
        }
    };
    for run in &job.runs {
        let memory = &mut outputs[run.output.clone()];
        if let Some(byte) = offset(&job.desc, element).and_then(|offset| memory.get_mut(offset)) {
            *byte ^= 1;
        }
    }
}

/// The number of elements of a tensor.
fn count(sizes: &[i64]) -> usize {
    usize::try_from(element_count(sizes)).unwrap_or(0)
}

/// The byte at which an element of the output begins.
fn offset(desc: &Desc, element: usize) -> Option<usize> {
    let tensor = desc.output.as_ref()?;
    let offset = Offsets::new(tensor.sizes.as_ref()?, tensor.strides.as_deref()).nth(element)?;
    usize::try_from(offset).ok()?.checked_mul(tensor.data_type.element_size()?)
}
