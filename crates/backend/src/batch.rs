//! A batch: the jobs, the memory that they read and write, and what became of each.

use std::ops::Range;

use dmlcts_model::{BindingOffsets, Desc, Outcome, Stray};

/// Jobs for a backend, with their memory in two arenas. The runner fills `inputs`, poisons `outputs`, and
/// keeps guard bytes around every range; a backend writes into its jobs' output ranges and nowhere else.
/// A batch is used again for the next jobs, so its allocations are kept.
#[derive(Debug, Default)]
pub struct Batch {
    jobs: Vec<Job>,
    live: usize,
    /// The memory that runs read.
    pub inputs: Vec<u8>,
    /// The memory that runs write.
    pub outputs: Vec<u8>,
}

/// One desc to create an operator from, and what to run it on.
#[derive(Debug, Clone)]
pub struct Job {
    /// The operator description, valid or not.
    pub desc: Box<Desc>,
    /// Where the tensors lie in their buffers, for backends that have buffers.
    pub binding: BindingOffsets,
    /// What to run the created operator on, one after the other; empty where creating it is all.
    pub runs: Vec<Run>,
    /// What became of it: the first run that did not end in [`Outcome::Output`] decides. Lost until the
    /// backend says otherwise.
    pub outcome: Outcome,
}

/// The memory of one run: a tensor's `TotalTensorSizeInBytes` each, as ranges of [`Batch::inputs`] and
/// [`Batch::outputs`]. The starts are multiples of 16.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What to read.
    pub input: Range<usize>,
    /// Where to write.
    pub output: Range<usize>,
}

impl Job {
    /// Notes where the job wrote to memory that is not its to write to. The first such place stands, and it outranks whatever else
    /// became of the job, but for an end without an answer.
    pub fn note_stray(&mut self, stray: Stray) {
        use Outcome::{Crashed, Lost, Strayed, TimedOut};
        if !matches!(self.outcome, Strayed(_) | Crashed(_) | TimedOut | Lost) {
            self.outcome = Strayed(stray);
        }
    }
}

impl Batch {
    /// Forgets all jobs and the length of both arenas, but keeps the memory.
    pub fn clear(&mut self) {
        self.live = 0;
        self.inputs.clear();
        self.outputs.clear();
    }

    /// Adds a job without runs. The desc is copied into memory that an earlier job left behind.
    pub fn push(&mut self, desc: &Desc, binding: BindingOffsets) -> &mut Job {
        let is_copied = self.live == self.jobs.len();
        let job = self.push_over(desc, binding);
        if !is_copied {
            (*job.desc).clone_from(desc);
        }
        job
    }

    /// Adds a job without runs, whose desc is yet to be written: it is what an earlier job left behind, or
    /// where there was none, a copy of `first`.
    pub fn push_over(&mut self, first: &Desc, binding: BindingOffsets) -> &mut Job {
        if let Some(job) = self.jobs.get_mut(self.live) {
            job.binding = binding;
            job.runs.clear();
            job.outcome = Outcome::Lost;
        } else {
            self.jobs.push(Job {
                desc: Box::new(first.clone()),
                binding,
                runs: Vec::new(),
                outcome: Outcome::Lost,
            });
        }
        self.live += 1;
        &mut self.jobs[self.live - 1]
    }

    /// The jobs, in the order in which they were added.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs[..self.live]
    }

    /// The jobs, and the two arenas beside them: what a backend works on.
    pub fn parts(&mut self) -> (&mut [Job], &[u8], &mut [u8]) {
        (&mut self.jobs[..self.live], &self.inputs, &mut self.outputs)
    }
}
