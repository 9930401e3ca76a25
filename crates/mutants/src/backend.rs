//! A backend with one fault. It creates all operators of a batch before it runs the first, as a GPU does, so
//! that faults of operators that exist side by side show.

use dmlcts_backend::{Backend, Batch, Capabilities, Operators as _, Pipelined, Refusal};
use dmlcts_model::{Desc, FeatureLevel, Outcome};
use dmlcts_reference::Reference;

use crate::{
    Fault, Mutant,
    fault::{Asked, Memory, State},
    kernel::{self, Plan},
};

/// A backend with one fault.
#[derive(Debug)]
pub struct Faulty {
    fault: &'static Fault,
    capabilities: Capabilities,
    reference: Reference,
    level: FeatureLevel,
    state: State,
}

impl Faulty {
    pub(crate) fn new(name: &str, fault: &'static Fault) -> Self {
        let reference = Reference::new();
        let capabilities = Capabilities { name: name.to_owned(), ..reference.capabilities().clone() };
        Self { fault, capabilities, reference, level: FeatureLevel::NEWEST, state: State::default() }
    }

    /// The plan of an accepted desc. `None` if the desc is too far from valid for a plan.
    fn create(&mut self, desc: &Desc) -> Result<Option<Plan>, Refusal> {
        let Self { fault, reference, level, state, .. } = self;
        let mut desc = desc.clone();
        (fault.read)(&mut desc);
        let refusal = reference.create(&desc).err();
        let reason = match &refusal {
            Some(Refusal::Invalid(reason)) => Some(reason.as_ref()),
            Some(_) => Some("not invalid"),
            None => None,
        };
        let accepts = (fault.judge)(&Asked { desc: &desc, level: *level, refusal: reason }, state);
        if !accepts {
            return Err(refusal.unwrap_or_else(|| Refusal::Other(fault.code, "the fault refuses it".into())));
        }
        let mut plan = Plan::of(&desc);
        if let Some(plan) = &mut plan {
            (fault.plan)(plan, state);
            state.live.push(plan.clone());
        }
        state.created += 1;
        Ok(plan)
    }

    /// Runs an operator on all memory of its job.
    fn execute(&mut self, plan: Option<&Plan>, job: usize, batch: &mut Batch) -> Outcome {
        let runs = batch.jobs()[job].runs.clone();
        self.state.runs_of_operator = 0;
        for run in &runs {
            let Some(plan) = plan else { break };
            let input = &batch.inputs[run.input.clone()];
            kernel::copy(self.fault, plan, input, &mut batch.outputs[run.output.clone()]);
            let mut memory = Memory {
                inputs: &mut batch.inputs,
                outputs: &mut batch.outputs,
                input: run.input.clone(),
                output: run.output.clone(),
            };
            (self.fault.after)(plan, &mut memory, &mut self.state);
            self.state.runs += 1;
            self.state.runs_of_operator += 1;
        }
        if runs.is_empty() { Outcome::Accepted } else { Outcome::Output }
    }
}

impl From<&'static Mutant> for Faulty {
    fn from(mutant: &'static Mutant) -> Self {
        Self::new(&format!("mutant:{}", mutant.name), &mutant.fault)
    }
}

impl Backend for Faulty {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = level;
        self.reference.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.state.live.clear();
        let created: Vec<_> = batch.jobs().iter().map(|job| self.create(&job.desc)).collect();
        for (job, created) in created.into_iter().enumerate() {
            let outcome = match created {
                Ok(plan) => self.execute(plan.as_ref(), job, batch),
                Err(refusal) => refusal.into(),
            };
            batch.parts().0[job].outcome = outcome;
        }
    }
}

impl Pipelined for Faulty {
    fn start(&mut self, _: &mut Batch) {}

    fn finish(&mut self, batch: &mut Batch) {
        self.run(batch);
    }
}
