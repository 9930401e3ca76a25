//! A backend with several faults, for what finds more than one.

use dmlcts_backend::{Backend, Batch, Capabilities, Operators, Pipelined, Refusal, RunError};
use dmlcts_model::{BindingOffsets, Desc, FeatureLevel};

use crate::{Faulty, Mutant, backend, without_fault};

/// A backend with the faults of several mutants. Where faults change the same outcome or the same byte of the
/// memory of a batch, the first of them decides.
///
/// In a worker process with guard pages, operators run one after the other, and the first fault that shows in
/// an output decides. There, faults between operators that are alive together do not show, nor do those that
/// write outside of the output.
#[derive(Debug)]
pub struct Several {
    capabilities: Capabilities,
    right: Faulty,
    faults: Vec<Faulty>,
}

/// An operator of a backend with several faults.
#[derive(Debug)]
pub struct CreatedBySeveral {
    /// `None` if a fault decides alone.
    right: Option<<Faulty as Operators>::Operator>,
    /// The faults by index, with their operators.
    faults: Vec<(usize, <Faulty as Operators>::Operator)>,
}

impl Several {
    /// The faults of these mutants.
    pub fn new(mutants: &[&'static Mutant]) -> Self {
        let names: Vec<&str> = mutants.iter().map(|mutant| mutant.name).collect();
        let right = without_fault();
        let name = format!("mutant:{}", names.join("+"));
        let capabilities = Capabilities { name, ..Operators::capabilities(&right).clone() };
        Self { capabilities, right, faults: mutants.iter().map(|mutant| backend(mutant)).collect() }
    }
}

impl Operators for Several {
    type Operator = CreatedBySeveral;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        for backend in [&mut self.right].into_iter().chain(&mut self.faults) {
            Operators::set_feature_level(backend, level);
        }
    }

    fn create(&mut self, desc: &Desc) -> Result<CreatedBySeveral, Refusal> {
        let right = Operators::create(&mut self.right, desc);
        let mut all: Vec<_> = self.faults.iter_mut().map(|fault| Operators::create(fault, desc)).collect();
        // A fault that changes whether the desc is accepted decides alone.
        if let Some(place) = all.iter().position(|created| created.is_ok() != right.is_ok()) {
            return Ok(CreatedBySeveral { right: None, faults: vec![(place, all.swap_remove(place)?)] });
        }
        let right = Some(right?);
        let faults: Result<Vec<_>, Refusal> =
            all.into_iter().enumerate().map(|(place, created)| Ok((place, created?))).collect();
        Ok(CreatedBySeveral { right, faults: faults? })
    }

    fn run(
        &mut self,
        operator: &mut CreatedBySeveral,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let before = output.to_vec();
        let mut expected = before.clone();
        if let Some(right) = &mut operator.right {
            Operators::run(&mut self.right, right, binding, input, &mut expected)?;
        }
        for (place, created) in &mut operator.faults {
            output.copy_from_slice(&before);
            Operators::run(&mut self.faults[*place], created, binding, input, output)?;
            if *output != *expected {
                break;
            }
        }
        Ok(())
    }
}

impl Backend for Several {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        Operators::set_feature_level(self, level);
    }

    fn run(&mut self, batch: &mut Batch) {
        let before = batch.clone();
        Backend::run(&mut self.right, batch);
        let right = batch.clone();
        // The changes of the first fault are put in last, so that they stay.
        for fault in self.faults.iter_mut().rev() {
            let mut faulty = before.clone();
            Backend::run(fault, &mut faulty);
            take_changes(&mut batch.inputs, &right.inputs, &faulty.inputs);
            take_changes(&mut batch.outputs, &right.outputs, &faulty.outputs);
            for (place, job) in batch.parts().0.iter_mut().enumerate() {
                let outcome = &faulty.jobs()[place].outcome;
                if *outcome != right.jobs()[place].outcome {
                    job.outcome.clone_from(outcome);
                }
            }
        }
    }
}

impl Pipelined for Several {}

/// Puts the bytes that a fault changes into the memory of a batch.
fn take_changes(memory: &mut [u8], right: &[u8], faulty: &[u8]) {
    for ((byte, right), faulty) in memory.iter_mut().zip(right).zip(faulty) {
        if faulty != right {
            *byte = *faulty;
        }
    }
}
