//! A backend with one fault. Like a GPU, it creates all operators of a batch before it runs the first one. So
//! faults between operators that exist side by side show.
//!
//! A worker process can also run its operators one at a time, each in memory between guard pages. Safe code
//! cannot read out of bounds. A fault that would do so checks the bounds of its memory instead, and panics.

use std::ops::Range;

use dmlcts_backend::{Backend, Batch, Capabilities, Operators, Pipelined, Refusal, RunError};
use dmlcts_model::{BindingOffsets, Desc, FeatureLevel, Outcome};
use dmlcts_reference::Reference;

use crate::{
    Fault, Mutant,
    fault::{Asked, BackendState, Memory},
    kernel::{self, Plan},
};

/// A backend with one fault.
#[derive(Debug)]
pub struct Faulty {
    fault: &'static Fault,
    capabilities: Capabilities,
    reference: Reference,
    level: FeatureLevel,
    state: BackendState,
}

impl Faulty {
    pub(crate) fn new(name: &str, fault: &'static Fault) -> Self {
        let reference = Reference::new();
        let capabilities = Capabilities { name: name.to_owned(), ..reference.capabilities().clone() };
        Self { fault, capabilities, reference, level: FeatureLevel::NEWEST, state: BackendState::default() }
    }

    /// The plan of an accepted desc. `None` if the desc is too malformed for a plan.
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
        let asked = Asked { desc: &desc, level: *level, refusal: reason, reference };
        let accepts = fault.judge.accepts(&asked, state);
        if !accepts {
            return Err(refusal.unwrap_or_else(|| Refusal::Other(fault.code, "the fault refuses it".into())));
        }
        let mut plan = Plan::of(&desc);
        if let Some(plan) = &mut plan {
            fault.plan.change(plan, state);
            state.live.push(plan.clone());
        }
        state.created += 1;
        Ok(plan)
    }

    /// Performs all runs of an operator's job.
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

/// An operator of a [`Faulty`] that runs alone.
#[derive(Debug)]
pub struct Created {
    plan: Option<Plan>,
    /// The number of its runs so far.
    runs: u64,
}

impl Operators for Faulty {
    type Operator = Created;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        Backend::set_feature_level(self, level);
    }

    fn create(&mut self, desc: &Desc) -> Result<Created, Refusal> {
        self.state.live.clear();
        Ok(Created { plan: Self::create(self, desc)?, runs: 0 })
    }

    fn run(
        &mut self,
        operator: &mut Created,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let Some(plan) = &operator.plan else { return Ok(()) };
        self.state.runs_of_operator = operator.runs;
        operator.runs += 1;
        kernel::copy(self.fault, plan, input, output);
        // The host has no guard pages around the memory of an operator's first run.
        let room = |range| if operator.runs == 1 { [NEAR; 2] } else { room(range) };
        let (mut inputs, input) = within(input, room(input.as_ptr_range()));
        let (mut outputs, place) = within(output, room(output.as_ptr_range()));
        let mut memory = Memory { inputs: &mut inputs, outputs: &mut outputs, input, output: place.clone() };
        (self.fault.after)(plan, &mut memory, &mut self.state);
        output.copy_from_slice(&outputs[place]);
        self.state.runs += 1;
        Ok(())
    }
}

/// The number of bytes on each side of a tensor that a fault may access.
const NEAR: usize = 256;

/// The page size of every system is a multiple of this.
const PAGE: usize = 4096;

/// The number of bytes before a range on its first page, and behind it on its last page, at most [`NEAR`]
/// each. A range that touches a guard page has none at that end, except for a few that align it.
fn room(range: Range<*const u8>) -> [usize; 2] {
    [range.start.addr() % PAGE, range.end.addr().next_multiple_of(PAGE) - range.end.addr()]
        .map(|bytes| bytes.min(NEAR))
}

/// A copy of a tensor with zeros before and behind it, and the tensor's place in the copy.
fn within(bytes: &[u8], [before, behind]: [usize; 2]) -> (Vec<u8>, Range<usize>) {
    let place = before..before + bytes.len();
    let mut memory = vec![0; place.end + behind];
    memory[place.clone()].copy_from_slice(bytes);
    (memory, place)
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
        let created: Vec<_> = batch.jobs().iter().map(|job| Self::create(self, &job.desc)).collect();
        for (job, created) in created.into_iter().enumerate() {
            let outcome = match created {
                Ok(plan) => self.execute(plan.as_ref(), job, batch),
                Err(refusal) => refusal.into(),
            };
            batch.parts().0[job].outcome = outcome;
        }
    }
}

impl Pipelined for Faulty {}
