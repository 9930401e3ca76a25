//! A segment: runs of a batch that share one dispatch for each class of kernel, with the parts of the batch's
//! two arenas that hold their tensors.
//!
//! Both parts are uploaded unchanged: inputs with the gaps between them, and outputs with their poison and
//! guards, which come back the same way. So every write of a kernel outside its output is visible, and
//! nothing depends on the content of new memory.

use std::ops::Range;

use dmlcts_backend::Run;

use crate::{
    plan::Plan,
    record::{Placement, Records},
};

/// The parts of arenas start at a multiple of this, as tensors do.
const ALIGNMENT: usize = 16;
/// The bytes around a tensor that belong to it: a write there counts as a write of this tensor, not of its
/// neighbour.
const MARGIN: usize = 32;

/// Runs of a batch, by their index in the segment.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// The job of each run, in the order of the batch.
    pub(crate) jobs: Vec<u32>,
    /// The output range of each run, relative to the segment's part of the outputs.
    written: Vec<Range<usize>>,
    pub(crate) records: Records,
    /// The range of [`dmlcts_backend::Batch::inputs`].
    pub(crate) inputs: Range<usize>,
    /// The range of [`dmlcts_backend::Batch::outputs`].
    pub(crate) outputs: Range<usize>,
}

impl Segment {
    /// Removes all runs.
    pub(crate) fn clear(&mut self) {
        self.jobs.clear();
        self.written.clear();
        self.records.clear();
        self.inputs = 0..0;
        self.outputs = 0..0;
    }

    /// Adds a run, unless one part would exceed `most` bytes. Its memory must come after the memory of all
    /// earlier runs, at multiples of 4.
    pub(crate) fn push(&mut self, plan: &Plan, job: usize, run: &Run, most: usize) -> bool {
        let first = self.jobs.is_empty();
        let start = |range: &Range<usize>, part: &Range<usize>| {
            if first { range.start.saturating_sub(MARGIN) / ALIGNMENT * ALIGNMENT } else { part.start }
        };
        let inputs = start(&run.input, &self.inputs)..run.input.end;
        let outputs = start(&run.output, &self.outputs)..run.output.end;
        if inputs.len() > most || outputs.len() > most {
            return false;
        }
        let place = Placement {
            number: self.jobs.len() as u32,
            input: ((run.input.start - inputs.start) / 4) as u32,
            output: ((run.output.start - outputs.start) / 4) as u32,
        };
        self.records.push(plan, place);
        self.jobs.push(job as u32);
        self.written.push(run.output.start - outputs.start..run.output.end - outputs.start);
        (self.inputs, self.outputs) = (inputs, outputs);
        true
    }

    /// Extends both parts beyond the last tensors, as far as the arenas reach.
    pub(crate) fn close(&mut self, inputs: usize, outputs: usize) {
        self.inputs.end = (self.inputs.end + MARGIN).min(inputs);
        self.outputs.end = (self.outputs.end + MARGIN).min(outputs);
    }

    /// Finds writes outside the outputs, and calls `found` with the index of the run that each belongs to.
    /// `before` and `after` are this segment's part of the outputs.
    pub(crate) fn find_stray_writes(&self, before: &[u8], after: &[u8], mut found: impl FnMut(usize)) {
        let mut from = 0;
        for (number, written) in self.written.iter().chain([&(before.len()..before.len())]).enumerate() {
            let gap = from..written.start;
            from = written.end;
            if before.get(gap.clone()) == after.get(gap.clone()) {
                continue;
            }
            for at in gap.clone().filter(|&at| before.get(at) != after.get(at)) {
                // The write belongs to the nearer neighbour, or to the only one.
                let nearer_the_last = (at - gap.start) * 2 < gap.len() || number == self.written.len();
                found(if nearer_the_last { number.saturating_sub(1) } else { number });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Shape;

    #[test]
    fn a_stray_write_is_blamed_on_the_nearer_case() {
        let shape = Shape { width: 4, elements: 1, packed: true, bytes: [4; 2] };
        let mut segment = Segment::default();
        for (job, start) in [32, 96].into_iter().enumerate() {
            let run = Run { input: start..start + 4, output: start..start + 4 };
            assert!(segment.push(&Plan::new(&shape), job, &run, 1000));
        }
        segment.close(132, 132);
        assert_eq!((segment.outputs.clone(), segment.inputs.clone()), (0..132, 0..132));
        let blamed = |at: usize| {
            let before = [0; 132];
            let mut after = before;
            after[at] = 1;
            let mut blamed = Vec::new();
            segment.find_stray_writes(&before, &after, |run| blamed.push(run));
            blamed
        };
        assert_eq!(blamed(0), [0], "before the first");
        assert!(blamed(32).is_empty(), "an output");
        assert_eq!((blamed(36), blamed(60)), (vec![0], vec![0]));
        assert_eq!((blamed(70), blamed(95)), (vec![1], vec![1]));
        assert_eq!(blamed(131), [1], "behind the last");
    }

    #[test]
    fn a_run_that_does_not_fit_stays_outside() {
        let shape = Shape { width: 4, elements: 1, packed: true, bytes: [4; 2] };
        let mut segment = Segment::default();
        let run = |start: usize| Run { input: start..start + 4, output: start..start + 4 };
        assert!(segment.push(&Plan::new(&shape), 0, &run(0), 64));
        assert!(!segment.push(&Plan::new(&shape), 1, &run(64), 64));
        assert_eq!(segment.jobs, [0]);
    }
}
