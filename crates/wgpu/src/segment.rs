//! A segment: runs of a batch that go to the device in one dispatch for each class, with the part of the batch's two
//! arenas that they lie in.
//!
//! Both parts are uploaded as they are: inputs with what lies between them, and outputs with their poison and their
//! guards, which come back the same way. So whatever a kernel does beside its output is there to be seen, and nothing is
//! assumed of what fresh memory holds.

use std::ops::Range;

use dmlcts_backend::{Job, Run};

use crate::{
    plan::Plan,
    record::{Place, Records},
};

/// Ranges of arenas start at a multiple of this, as tensors do.
const ALIGNMENT: usize = 16;
/// So much beside a tensor belongs to it: whoever writes there wrote beside this tensor and not beside its neighbour.
const MARGIN: usize = 32;

/// Runs of a batch, by their place in it.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// Job and run of each, in the order of the batch.
    pub(crate) runs: Vec<(u32, u32)>,
    pub(crate) records: Records,
    /// The part of [`dmlcts_backend::Batch::inputs`].
    pub(crate) inputs: Range<usize>,
    /// The part of [`dmlcts_backend::Batch::outputs`].
    pub(crate) outputs: Range<usize>,
}

impl Segment {
    /// Forgets all runs.
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.records.clear();
        self.inputs = 0..0;
        self.outputs = 0..0;
    }

    /// Adds a run, unless one part would grow beyond `most` bytes. Its memory lies behind that of all runs so far, at
    /// multiples of 4.
    pub(crate) fn push(&mut self, plan: &Plan, at: (usize, usize), run: &Run, most: usize) -> bool {
        let first = self.runs.is_empty();
        let start = |range: &Range<usize>, part: &Range<usize>| {
            if first { range.start.saturating_sub(MARGIN) / ALIGNMENT * ALIGNMENT } else { part.start }
        };
        let inputs = start(&run.input, &self.inputs)..run.input.end;
        let outputs = start(&run.output, &self.outputs)..run.output.end;
        if inputs.len() > most || outputs.len() > most {
            return false;
        }
        let place = Place {
            number: self.runs.len() as u32,
            input: ((run.input.start - inputs.start) / 4) as u32,
            output: ((run.output.start - outputs.start) / 4) as u32,
        };
        self.records.push(plan, place);
        self.runs.push((at.0 as u32, at.1 as u32));
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
    pub(crate) fn find_stray_writes(
        &self,
        jobs: &[Job],
        before: &[u8],
        after: &[u8],
        mut found: impl FnMut(usize),
    ) {
        let mut last: Option<usize> = None;
        let mut from = 0;
        let outputs = self.runs.iter().map(|&(job, run)| {
            let run = jobs.get(job as usize).and_then(|job| job.runs.get(run as usize));
            run.map_or(0..0, |run| run.output.start - self.outputs.start..run.output.end - self.outputs.start)
        });
        let end = before.len();
        for (number, output) in outputs.map(Some).chain([None]).enumerate() {
            let to = output.as_ref().map_or(end, |output| output.start);
            let gap = from..to;
            if before.get(gap.clone()) != after.get(gap.clone()) {
                let changed = gap.clone().filter(|&at| before.get(at) != after.get(at));
                let mut blamed = None;
                for at in changed {
                    // The nearer neighbour wrote it, or the only one.
                    let nearer_the_next = (at - gap.start) * 2 >= gap.len();
                    let run = match last {
                        Some(last) if !nearer_the_next || output.is_none() => last,
                        _ => number,
                    };
                    if blamed != Some(run) && run < self.runs.len() {
                        found(run);
                        blamed = Some(run);
                    }
                }
            }
            if let Some(output) = output {
                from = output.end;
                last = Some(number);
            }
        }
    }
}
