//! Probes: cases that a backend has answered or should be able to answer. Before a case is blamed, a fresh
//! process must answer a probe. That distinguishes a backend that does not work at all from cases that crash
//! it.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use dmlcts_model::{BindingOffsets, Desc, Outcome};

use super::locked;
use crate::{Batch, Job, Run};

/// The maximum number of answered cases that are kept.
const MOST: usize = 3;
/// The maximum memory of a kept case, in bytes.
const SMALL: usize = 4096;

/// The probes of one command.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// The descs that were configured as probes.
    given: Vec<Desc>,
    answered: Mutex<Vec<Probe>>,
    /// Whether enough answered cases are kept.
    is_full: AtomicBool,
}

/// A case that shows whether a process answers.
#[derive(Clone, Debug)]
struct Probe {
    desc: Desc,
    binding: BindingOffsets,
    /// The input and the length of the output, if the case runs.
    run: Option<(Vec<u8>, usize)>,
}

impl Probes {
    pub(super) fn given(given: Vec<Desc>) -> Self {
        Self { given, ..Self::default() }
    }

    /// Keeps some of these answered jobs. Jobs that ran replace those that did not.
    pub(super) fn note(&self, jobs: &[Job], inputs: &[u8]) {
        if self.is_full.load(Ordering::Relaxed) {
            return;
        }
        let mut kept = locked(&self.answered);
        for job in jobs.iter().filter(|job| job.outcome != Outcome::Lost) {
            let operator = &job.desc.signature.operator;
            let is_known = kept.iter().find(|kept| kept.desc.signature.operator == *operator);
            if is_known.is_some_and(|kept| kept.run.is_some() || job.runs.is_empty()) {
                continue;
            }
            let probe = Probe::of(job, inputs);
            let runs = kept.first().is_some_and(|first| first.run.is_some());
            if probe.run.is_some() && !runs {
                kept.clear();
            } else if probe.run.is_none() && runs {
                continue;
            }
            if kept.iter().all(|other| other.desc.signature.operator != probe.desc.signature.operator) {
                kept.push(probe);
            }
            if kept.len() == MOST && kept[0].run.is_some() {
                self.is_full.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// A batch with one probe. Successive numbers cycle through all probes. The configured descs are used
    /// only while no kept case ran, since creating an operator shows less. `None` if no probe is known.
    pub(super) fn batch(&self, number: usize) -> Option<Batch> {
        let mut probes = locked(&self.answered).clone();
        if probes.first().is_none_or(|first| first.run.is_none()) {
            let created =
                |desc: &Desc| Probe { desc: desc.clone(), binding: BindingOffsets::default(), run: None };
            probes.extend(self.given.iter().map(created));
        }
        probes.get(number.checked_rem(probes.len())?).map(Probe::batch)
    }
}

impl Probe {
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

    /// Notes a job with this outcome.
    fn note(probes: &Probes, operator: &str, outcome: Outcome) {
        let mut batch =
            Probe { desc: desc(operator), binding: BindingOffsets::default(), run: Some((vec![7; 4], 4)) }
                .batch();
        batch.parts().0[0].outcome = outcome;
        probes.note(batch.jobs(), &batch.inputs);
    }

    fn asked(probes: &Probes) -> Vec<(String, usize)> {
        let mut asked = Vec::new();
        while let Some(batch) = probes.batch(asked.len()) {
            let job = &batch.jobs()[0];
            let probe = (job.desc.signature.operator.clone(), job.runs.len());
            if asked.contains(&probe) {
                break;
            }
            asked.push(probe);
        }
        asked
    }

    #[test]
    fn what_ran_is_preferred_and_each_operator_has_one() {
        let probes = Probes::given(vec![desc("GIVEN")]);
        assert_eq!(asked(&probes), [("GIVEN".to_owned(), 0)]);
        note(&probes, "A", Outcome::Lost);
        assert_eq!(asked(&probes).len(), 1, "what was not answered is none");
        note(&probes, "A", Outcome::Accepted);
        note(&probes, "A", Outcome::Accepted);
        assert_eq!(asked(&probes), [("A".to_owned(), 0), ("GIVEN".to_owned(), 0)]);
        for operator in ["B", "B", "A", "C", "D"] {
            note(&probes, operator, Outcome::Output);
        }
        note(&probes, "E", Outcome::Accepted);
        assert_eq!(asked(&probes), ["B", "A", "C"].map(|operator| (operator.to_owned(), 1)));
        assert_eq!(probes.batch(0).expect("there is one").inputs, [7; 4]);
        assert_eq!(probes.batch(0).expect("there is one").outputs.len(), 4);
    }
}
