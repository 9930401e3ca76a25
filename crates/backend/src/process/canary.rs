//! Cases that a backend is known to answer, or ought to. A class of cases that crashes ends one process after the other, as
//! a backend does that is dead: what a fresh process makes of a canary tells the two apart.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use dmlcts_model::{BindingOffsets, Desc, Outcome};

use crate::{Batch, Job, Run};

/// As many are kept of those that were answered.
const MOST: usize = 3;
/// Memory of one that is kept, in bytes.
const SMALL: usize = 4096;

/// The canaries of a command.
#[derive(Debug, Default)]
pub(super) struct Canaries {
    /// Descs to create operators from, which somebody named beforehand.
    given: Vec<Desc>,
    answered: Mutex<Vec<Canary>>,
    /// Whether no more of those that are answered are needed.
    is_full: AtomicBool,
}

/// One case.
#[derive(Clone, Debug)]
struct Canary {
    desc: Desc,
    binding: BindingOffsets,
    /// What it runs on, where it runs: the input, and how long the output is.
    run: Option<(Vec<u8>, usize)>,
}

impl Canaries {
    pub(super) fn given(given: Vec<Desc>) -> Self {
        Self { given, ..Self::default() }
    }

    fn answered(&self) -> MutexGuard<'_, Vec<Canary>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps some of these jobs, which a process answered: those that ran, if there are any.
    pub(super) fn note(&self, jobs: &[Job], inputs: &[u8]) {
        if self.is_full.load(Ordering::Relaxed) {
            return;
        }
        let mut kept = self.answered();
        for job in jobs.iter().filter(|job| job.outcome != Outcome::Lost) {
            let operator = &job.desc.signature.operator;
            let is_known = kept.iter().find(|kept| kept.desc.signature.operator == *operator);
            if is_known.is_some_and(|kept| kept.run.is_some() || job.runs.is_empty()) {
                continue;
            }
            let canary = Canary::of(job, inputs);
            let runs = kept.first().is_some_and(|first| first.run.is_some());
            if canary.run.is_some() && !runs {
                kept.clear();
            } else if canary.run.is_none() && runs {
                continue;
            }
            if kept.iter().all(|other| other.desc.signature.operator != canary.desc.signature.operator) {
                kept.push(canary);
            }
            if kept.len() == MOST && kept[0].run.is_some() {
                self.is_full.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// Batches of one job each, to be asked until one of them is answered. Where cases ran before, creating an operator says too
    /// little.
    pub(super) fn batches(&self) -> Vec<Batch> {
        let mut canaries = self.answered().clone();
        if canaries.first().is_none_or(|first| first.run.is_none()) {
            let created =
                |desc: &Desc| Canary { desc: desc.clone(), binding: BindingOffsets::default(), run: None };
            canaries.extend(self.given.iter().map(created));
        }
        canaries.iter().map(Canary::batch).collect()
    }
}

impl Canary {
    fn of(job: &Job, inputs: &[u8]) -> Self {
        let run = job.runs.first().filter(|_| job.outcome == Outcome::Output);
        let run = run.and_then(|run| Some((inputs.get(run.input.clone())?, run.output.len())));
        let run = run.filter(|(input, output)| input.len() + output <= SMALL);
        let run = run.map(|(input, output)| (input.to_vec(), output));
        Self { desc: (*job.desc).clone(), binding: job.binding, run }
    }

    fn batch(&self) -> Batch {
        let mut batch = Batch::default();
        let runs = self.run.iter().map(|(input, output)| Run { input: 0..input.len(), output: 0..*output });
        batch.push(&self.desc, self.binding).runs.extend(runs);
        if let Some((input, output)) = &self.run {
            batch.inputs.extend_from_slice(input);
            batch.outputs.resize(*output, 0);
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_model::{DataType, List, Signature, Tensor};

    use super::*;

    fn desc(operator: &str) -> Desc {
        let signature = Arc::new(Signature { operator: operator.to_owned(), members: Vec::new() });
        let tensor = Tensor::packed(DataType::UINT8, List::from_elem(4, 1));
        Desc::usual(signature, tensor.clone(), tensor)
    }

    /// Notes a job that came to this, and ran where that is an output.
    fn note(canaries: &Canaries, operator: &str, outcome: Outcome) {
        let mut batch =
            Canary { desc: desc(operator), binding: BindingOffsets::default(), run: Some((vec![7; 4], 4)) }
                .batch();
        batch.parts().0[0].outcome = outcome;
        canaries.note(batch.jobs(), &batch.inputs);
    }

    fn asked(canaries: &Canaries) -> Vec<(String, usize)> {
        let batches = canaries.batches();
        let jobs = batches.iter().map(|batch| &batch.jobs()[0]);
        jobs.map(|job| (job.desc.signature.operator.clone(), job.runs.len())).collect()
    }

    #[test]
    fn what_ran_is_preferred_and_each_operator_has_one() {
        let canaries = Canaries::given(vec![desc("GIVEN")]);
        assert_eq!(asked(&canaries), [("GIVEN".to_owned(), 0)]);
        note(&canaries, "A", Outcome::Lost);
        assert_eq!(asked(&canaries).len(), 1, "what was not answered is none");
        note(&canaries, "A", Outcome::Accepted);
        note(&canaries, "A", Outcome::Accepted);
        assert_eq!(asked(&canaries), [("A".to_owned(), 0), ("GIVEN".to_owned(), 0)]);
        for operator in ["B", "B", "A", "C", "D"] {
            note(&canaries, operator, Outcome::Output);
        }
        note(&canaries, "E", Outcome::Accepted);
        assert_eq!(asked(&canaries), ["B", "A", "C"].map(|operator| (operator.to_owned(), 1)));
        assert_eq!(canaries.batches()[0].inputs, [7; 4]);
        assert_eq!(canaries.batches()[0].outputs.len(), 4);
    }
}
