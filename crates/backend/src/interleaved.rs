//! Runs operators in the hardest way that their contract allows: many are alive at once, and memory lies
//! between guard pages. A worker process runs its backend so, because there a crash costs one case.

use std::time::Instant;

use dmlcts_model::{Change, Desc, FeatureLevel, Outcome, Phase, Stray, Value};

use crate::{
    Backend, Batch, Capabilities, Job, Operators, Pipelined, Run, WorkTimes,
    guarded_memory::{Edge, GuardedMemory},
    protocol::GUARD,
};

/// The numbers of operators that are alive at once, in turn. Together they are less than a usual batch, so
/// that each batch has all of them.
const ALIVE: [usize; 7] = [2, 3, 5, 8, 13, 33, 64];

/// Turns [`Operators`] into a [`Backend`] that has 2 to 64 operators alive at once. It creates them in the
/// order of the cases. It runs every second one, the newest first, and the others after it has created more.
/// It destroys every second one that has no run left. The order follows from the batch alone.
///
/// On Unix, every run of an operator except its first gets memory between guard pages. The input there can
/// only be read. An operator that uses memory out of bounds then ends the process with a signal, so this is
/// for backends that have a process of their own.
#[derive(Debug)]
pub struct Interleaved<T> {
    operators: T,
    guarded: GuardedMemory,
    /// The memory of a first run before it ran: the input, and the output with its guards.
    was: [Vec<u8>; 2],
}

/// An operator that is alive.
struct Alive<T> {
    operator: T,
    /// The index of its job.
    job: usize,
    /// The index of its next run.
    next: usize,
}

impl<T: Operators> Interleaved<T> {
    /// A backend that runs these operators.
    pub fn new(operators: T) -> Self {
        Self { operators, guarded: GuardedMemory::default(), was: [Vec::new(), Vec::new()] }
    }

    /// Creates the operator of a job, unless the backend refuses.
    fn create(&mut self, job: &mut Job) -> Option<T::Operator> {
        match self.operators.create(&job.desc) {
            Ok(operator) => {
                job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { Outcome::Output };
                Some(operator)
            }
            Err(refusal) => {
                job.outcome = refusal.into();
                None
            }
        }
    }

    /// Runs an operator once, if it has a run left. An operator that fails has none.
    fn run_next(&mut self, alive: &mut Alive<T::Operator>, job: &mut Job, inputs: &[u8], outputs: &mut [u8]) {
        let Some(run) = job.runs.get(alive.next) else { return };
        let has_repeats = job.runs.len() > 1;
        let is_first = alive.next == 0;
        if has_repeats && is_first {
            self.keep(run, inputs, outputs);
        }
        let Self { operators, guarded, .. } = self;
        let input = &inputs[run.input.clone()];
        let mut work =
            |input: &[u8], output: &mut [u8]| operators.run(&mut alive.operator, job.binding, input, output);
        let guarded = if is_first {
            None
        } else {
            guarded.run(input, (&mut *outputs, &run.output), edge(&job.desc, alive.next), &mut work)
        };
        let ended = guarded.unwrap_or_else(|| work(input, &mut outputs[run.output.clone()]));
        alive.next += 1;
        if let Err(error) = ended {
            job.outcome = error.into();
            alive.next = job.runs.len();
        } else if has_repeats
            && is_first
            && let Some(stray) = self.stray(run, inputs, outputs)
        {
            // The place of the write says more than the crash that a repeat would cause.
            job.outcome = Outcome::Strayed(stray);
            alive.next = job.runs.len();
        }
    }

    /// Keeps a copy of the memory of a run.
    fn keep(&mut self, run: &Run, inputs: &[u8], outputs: &[u8]) {
        let [input, output] = &mut self.was;
        input.clear();
        input.extend_from_slice(&inputs[run.input.clone()]);
        output.clear();
        output.extend_from_slice(near(run, outputs));
    }

    /// The write out of bounds of a run whose memory was kept, if there was one.
    fn stray(&self, run: &Run, inputs: &[u8], outputs: &[u8]) -> Option<Stray> {
        let [input, output] = &self.was;
        let is = near(run, outputs);
        let before = run.output.start.min(GUARD);
        let behind = before + run.output.len();
        let change = |range: std::ops::Range<usize>| Change { was: &output[range.clone()], is: &is[range] };
        Stray::into_input(input, &inputs[run.input.clone()])
            .or_else(|| Stray::around_output(change(0..before), change(behind..output.len())))
    }
}

/// The output of a run, with its guards.
fn near<'a>(run: &Run, outputs: &'a [u8]) -> &'a [u8] {
    &outputs[run.output.start.saturating_sub(GUARD)..(run.output.end + GUARD).min(outputs.len())]
}

/// The edge of a run's memory. It follows from the desc and the number of the run, so that a case that runs
/// again gets the same memory. Two repeats of a case get different edges.
fn edge(desc: &Desc, run: usize) -> Edge {
    let of_list = |list: &[i64]| list.iter().sum::<i64>();
    let tensors = [&desc.input, &desc.output].into_iter().flatten();
    let sizes = tensors.filter_map(|tensor| tensor.sizes.as_deref()).map(of_list).sum::<i64>();
    let members = desc.members.iter().map(|value| match value {
        Value::List(Some(list)) => of_list(list),
        Value::Integer(value) => *value,
        Value::List(None) | Value::Scalar(_) => 0,
    });
    if (sizes + members.sum::<i64>() + run as i64) % 2 == 0 { Edge::Start } else { Edge::End }
}

impl<T: Operators> Backend for Interleaved<T> {
    fn capabilities(&self) -> &Capabilities {
        self.operators.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.operators.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.run_in_phases(batch, &mut |_| ());
    }

    fn run_in_phases(&mut self, batch: &mut Batch, enter: &mut dyn FnMut(Phase)) {
        let (jobs, inputs, outputs) = batch.parts();
        let (mut alive, mut next) = (Vec::<Alive<T::Operator>>::new(), 0);
        let (mut times, mut since) = (WorkTimes::default(), Instant::now());
        for most in ALIVE.into_iter().cycle() {
            while next < jobs.len() && alive.len() < most {
                jobs[next].alive = alive.len() as u32 + 1;
                enter(Phase::Create);
                if let Some(operator) = self.create(&mut jobs[next]) {
                    alive.push(Alive { operator, job: next, next: 0 });
                }
                next += 1;
            }
            if alive.is_empty() {
                break;
            }
            let count = alive.len() as u32;
            let created = Instant::now();
            times.create += created - since;
            // In both loops the first one is never spared, so each round runs or destroys an operator.
            let mut is_spared = true;
            for one in alive.iter_mut().rev() {
                let job = &mut jobs[one.job];
                let has_run = one.next < job.runs.len();
                is_spared ^= has_run;
                if !is_spared {
                    job.alive = job.alive.max(count);
                    if has_run {
                        enter(Phase::Execute);
                    }
                    self.run_next(one, job, inputs, outputs);
                }
            }
            since = Instant::now();
            times.run += since - created;
            let mut is_spared = true;
            alive.retain(|one| {
                let is_done = one.next >= jobs[one.job].runs.len();
                is_spared ^= is_done;
                !is_done || is_spared
            });
        }
        // Since the last run, operators were destroyed, and others refused.
        times.create += since.elapsed();
        batch.times.work = Some(times);
    }
}

impl<T: Operators> Pipelined for Interleaved<T> {}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        sync::{Arc, Mutex},
    };

    use dmlcts_model::{BindingOffsets, DataType, List, Signature, Tensor};

    use super::*;
    use crate::{Limits, Refusal, RunError, Sequential};

    /// The slots of operators that are alive: each holds the byte that the operator writes.
    type Slots = Arc<Mutex<BTreeMap<usize, u8>>>;

    /// What a backend does wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Fault {
        None,
        /// The ninth operator that is alive overwrites the first.
        NinthOverwritesFirst,
        /// Destruction frees the newest operator.
        DestroysNewest,
    }

    /// An operator writes the size of its input's only axis. Every fifth desc is refused.
    struct Writers {
        capabilities: Capabilities,
        fault: Fault,
        slots: Slots,
        created: usize,
        /// The numbers of operators that were alive at a creation.
        alive: BTreeSet<usize>,
        /// Creations and runs, by the byte of the operator.
        log: Vec<(&'static str, u8)>,
    }

    struct Writer {
        slot: usize,
        fault: Fault,
        slots: Slots,
    }

    impl Drop for Writer {
        fn drop(&mut self) {
            let mut slots = self.slots.lock().expect("no test panics");
            if self.fault == Fault::DestroysNewest {
                slots.pop_last();
            } else {
                slots.remove(&self.slot);
            }
        }
    }

    fn byte(desc: &Desc) -> u8 {
        let sizes = desc.input.as_ref().and_then(|input| input.sizes.as_ref());
        sizes.map_or(0, |sizes| sizes[0] as u8)
    }

    impl Operators for Writers {
        type Operator = Writer;

        fn capabilities(&self) -> &Capabilities {
            &self.capabilities
        }

        fn set_feature_level(&mut self, _: FeatureLevel) {}

        fn create(&mut self, desc: &Desc) -> Result<Writer, Refusal> {
            let byte = byte(desc);
            if byte.is_multiple_of(5) {
                return Err(Refusal::Invalid("a multiple of five".into()));
            }
            self.created += 1;
            let mut slots = self.slots.lock().expect("no test panics");
            slots.insert(self.created, byte);
            self.alive.insert(slots.len());
            self.log.push(("create", byte));
            if self.fault == Fault::NinthOverwritesFirst
                && slots.len() == 9
                && let Some(mut first) = slots.first_entry()
            {
                first.insert(byte);
            }
            drop(slots);
            Ok(Writer { slot: self.created, fault: self.fault, slots: Arc::clone(&self.slots) })
        }

        fn run(
            &mut self,
            writer: &mut Writer,
            _: BindingOffsets,
            _: &[u8],
            output: &mut [u8],
        ) -> Result<(), RunError> {
            let byte = self.slots.lock().expect("no test panics").get(&writer.slot).copied();
            let byte = byte.ok_or(RunError::Failed("it is destroyed".into()))?;
            self.log.push(("run", byte));
            output.fill(byte);
            Ok(())
        }
    }

    fn writers(fault: Fault) -> Writers {
        let capabilities = Capabilities {
            name: "writers".into(),
            version: "0.1".into(),
            device: String::new(),
            driver: String::new(),
            feature_level: FeatureLevel::NEWEST,
            can_set_feature_level: false,
            operators: None,
            data_types: vec![DataType::UINT8],
            lacks: Vec::new(),
            ranks: 1..=8,
            limits: Limits::default(),
            is_isolated: false,
        };
        let (slots, alive, log) = (Slots::default(), BTreeSet::new(), Vec::new());
        Writers { capabilities, fault, slots, created: 0, alive, log }
    }

    /// 150 jobs: some are refused, some are only created, and every fourth one has a repeat.
    fn batch() -> Batch {
        let mut batch = Batch::default();
        let signature = Arc::new(Signature { operator: "WRITE".to_owned(), members: Vec::new() });
        for size in 1..=150_usize {
            let tensor = Tensor::packed(DataType::UINT8, List::from_elem(size as i64, 1));
            let desc = Desc::usual(Arc::clone(&signature), tensor.clone(), tensor);
            batch.push(&desc, BindingOffsets::default());
            let runs = if size % 7 == 0 { 0 } else { 1 + usize::from(size % 4 == 0) };
            for _ in 0..runs {
                let input = batch.inputs.len().next_multiple_of(16);
                batch.inputs.resize(input + size, 1);
                let output = batch.outputs.len().next_multiple_of(16) + GUARD;
                batch.outputs.resize(output + size + GUARD, 0);
                let run = Run { input: input..input + size, output: output..output + size };
                batch.parts().0.last_mut().expect("it was added").runs.push(run);
            }
        }
        batch
    }

    /// The jobs whose outcome or output is not that of a right backend.
    fn wrong(backend: &mut dyn Backend) -> usize {
        let mut batch = batch();
        backend.run(&mut batch);
        let (jobs, _, outputs) = batch.parts();
        let is_wrong = |job: &&Job| {
            let expected = byte(&job.desc);
            match &job.outcome {
                Outcome::Rejected { .. } => !expected.is_multiple_of(5),
                Outcome::Accepted => expected.is_multiple_of(5) || !job.runs.is_empty(),
                Outcome::Output => job
                    .runs
                    .iter()
                    .any(|run| outputs[run.output.clone()].iter().any(|byte| *byte != expected)),
                _ => true,
            }
        };
        jobs.iter().filter(|job| is_wrong(job)).count()
    }

    #[test]
    fn a_phase_begins_before_each_creation_and_each_run() {
        let backends: [Box<dyn Backend>; 2] =
            [Box::new(Sequential(writers(Fault::None))), Box::new(Interleaved::new(writers(Fault::None)))];
        for mut backend in backends {
            let (mut batch, mut phases) = (batch(), Vec::new());
            backend.run_in_phases(&mut batch, &mut |phase| phases.push(phase));
            let begun = |phase: Phase| phases.iter().filter(|begun| **begun == phase).count();
            assert_eq!(begun(Phase::Create), batch.jobs().len());
            let is_refused = |job: &&Job| matches!(job.outcome, Outcome::Rejected { .. });
            let ran = batch.jobs().iter().filter(|job| !is_refused(job)).map(|job| job.runs.len());
            assert_eq!(begun(Phase::Execute), ran.sum::<usize>());
        }
    }

    #[test]
    fn two_to_sixty_four_operators_are_alive_and_run_in_another_order() {
        let mut backend = Interleaved::new(writers(Fault::None));
        assert_eq!(wrong(&mut backend), 0);
        let Writers { alive, log, slots, .. } = &backend.operators;
        assert_eq!(alive.last(), Some(&64));
        assert!(alive.len() > 20, "and many numbers below: {alive:?}");
        assert!(slots.lock().expect("no test panics").is_empty(), "each operator is destroyed");
        let first =
            [("create", 1), ("create", 2), ("run", 2), ("create", 3), ("create", 4), ("run", 4), ("run", 1)];
        assert_eq!(log[..7], first);
        let again = log.clone();
        let mut backend = Interleaved::new(writers(Fault::None));
        assert_eq!(wrong(&mut backend), 0);
        assert_eq!(backend.operators.log, again, "the order follows from the batch");
    }

    #[test]
    fn operators_that_disturb_each_other_are_found() {
        for fault in [Fault::NinthOverwritesFirst, Fault::DestroysNewest] {
            assert_eq!(wrong(&mut Sequential(writers(fault))), 0, "one at a time, {fault:?} does no harm");
            assert!(wrong(&mut Interleaved::new(writers(fault))) > 0, "{fault:?}");
        }
    }
}
