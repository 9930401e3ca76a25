//! A segment: runs of a batch that go to the device in one dispatch for each class, with the part of the batch's two
//! arenas that they lie in.
//!
//! Both parts are uploaded as they are: inputs with what lies between them, and outputs with their poison and their
//! guards, which come back the same way. So whatever a kernel does beside its output is there to be seen, and nothing is
//! assumed of what fresh memory holds.

use std::ops::Range;

use dmlcts_backend::Run;

use crate::{
    plan::Plan,
    record::{Placement, Records},
};

/// Ranges of arenas start at a multiple of this, as tensors do.
const ALIGNMENT: usize = 16;
/// So much beside a tensor belongs to it: whoever writes there wrote beside this tensor and not beside its neighbour.
const MARGIN: usize = 32;

/// Runs of a batch, by their place in it.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// The job of each, in the order of the batch.
    pub(crate) jobs: Vec<u32>,
    /// The output of each, in this segment's part.
    written: Vec<Range<usize>>,
    pub(crate) records: Records,
    /// The part of [`dmlcts_backend::Batch::inputs`].
    pub(crate) inputs: Range<usize>,
    /// The part of [`dmlcts_backend::Batch::outputs`].
    pub(crate) outputs: Range<usize>,
}

impl Segment {
    /// Forgets all runs.
    pub(crate) fn clear(&mut self) {
        self.jobs.clear();
        self.written.clear();
        self.records.clear();
        self.inputs = 0..0;
        self.outputs = 0..0;
    }

    /// Adds a run, unless one part would grow beyond `most` bytes. Its memory lies behind that of all runs so far, at
    /// multiples of 4.
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

    /// Takes in what lies behind the last tensors, as far as the arenas reach.
    pub(crate) fn close(&mut self, inputs: usize, outputs: usize) {
        self.inputs.end = (self.inputs.end + MARGIN).min(inputs);
        self.outputs.end = (self.outputs.end + MARGIN).min(outputs);
    }

    /// Calls `found` with the number of each run beside whose output something was written: `before` and `after` are
    /// this segment's part of the outputs.
    pub(crate) fn find_stray_writes(&self, before: &[u8], after: &[u8], mut found: impl FnMut(usize)) {
        let mut from = 0;
        for (number, written) in self.written.iter().chain([&(before.len()..before.len())]).enumerate() {
            let gap = from..written.start;
            from = written.end;
            if before.get(gap.clone()) == after.get(gap.clone()) {
                continue;
            }
            for at in gap.clone().filter(|&at| before.get(at) != after.get(at)) {
                // The nearer neighbour wrote it, or the only one.
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
