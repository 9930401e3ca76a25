//! A batch: jobs, the memory that they read and write, and their outcomes.

use std::ops::Range;

use dmlcts_model::{BindingOffsets, Desc, Outcome, Stray};

use crate::Times;

/// Jobs for a backend, with their memory in two arenas. The runner fills `inputs`, poisons `outputs`, and
/// keeps guard bytes around every range. A backend may write only to the output ranges of its jobs. A batch
/// is reused for the next jobs, so that its allocations are kept.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    jobs: Vec<Job>,
    live: usize,
    /// The memory that runs read.
    pub inputs: Vec<u8>,
    /// The memory that runs write.
    pub outputs: Vec<u8>,
    /// The times of the batch. A backend that measures none leaves them as they are.
    pub times: Times,
}

/// One desc to create an operator from, and the data to run it on.
#[derive(Debug, Clone)]
pub struct Job {
    /// The operator description, valid or not.
    pub desc: Box<Desc>,
    /// The offsets of the tensors in their buffers, for backends that have buffers.
    pub binding: BindingOffsets,
    /// The runs of the created operator, in order; empty if the operator is only created.
    pub runs: Vec<Run>,
    /// The outcome. The first run that does not end in [`Outcome::Output`] decides it. It is
    /// [`Outcome::Lost`] until the backend sets it.
    pub outcome: Outcome,
    /// The number of operators that were alive when the job was created or ran, if the backend counts them.
    pub alive: u32,
}

/// The memory of one run: a range of [`Batch::inputs`] and one of [`Batch::outputs`], each of the tensor's
/// `TotalTensorSizeInBytes`. Their starts are multiples of 16.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The range to read.
    pub input: Range<usize>,
    /// The range to write.
    pub output: Range<usize>,
}

impl Job {
    /// Records a write out of bounds. The first one is kept. It replaces every outcome except those without
    /// an answer: a crash, a timeout, or a lost job.
    pub fn note_stray(&mut self, stray: Stray) {
        use Outcome::{Crashed, Lost, Strayed, TimedOut};
        if !matches!(self.outcome, Strayed(_) | Crashed(_) | TimedOut | Lost) {
            self.outcome = Strayed(stray);
        }
    }
}

impl Batch {
    /// Removes all jobs and empties both arenas, but keeps their memory.
    pub fn clear(&mut self) {
        self.live = 0;
        self.inputs.clear();
        self.outputs.clear();
        self.times = Times::default();
    }

    /// Adds a job without runs. The desc is copied into the memory of an earlier job, if there is one.
    pub fn push(&mut self, desc: &Desc, binding: BindingOffsets) -> &mut Job {
        let is_copied = self.live == self.jobs.len();
        let job = self.push_over(desc, binding);
        if !is_copied {
            (*job.desc).clone_from(desc);
        }
        job
    }

    /// Adds a job without runs, whose desc the caller must overwrite. The desc is left from an earlier job,
    /// or else is a copy of `first`.
    pub fn push_over(&mut self, first: &Desc, binding: BindingOffsets) -> &mut Job {
        if let Some(job) = self.jobs.get_mut(self.live) {
            job.binding = binding;
            job.runs.clear();
            job.outcome = Outcome::Lost;
            job.alive = 0;
        } else {
            self.jobs.push(Job {
                desc: Box::new(first.clone()),
                binding,
                runs: Vec::new(),
                outcome: Outcome::Lost,
                alive: 0,
            });
        }
        self.live += 1;
        &mut self.jobs[self.live - 1]
    }

    /// The jobs, in the order in which they were added.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs[..self.live]
    }

    /// The jobs and the two arenas, for a backend to work on.
    pub fn parts(&mut self) -> (&mut [Job], &[u8], &mut [u8]) {
        (&mut self.jobs[..self.live], &self.inputs, &mut self.outputs)
    }
}
