//! Finds writes out of bounds. The runner checks backends in its own process. A process that serves a backend
//! checks that backend.

use std::ops::Range;

use dmlcts_model::{Change, Stray};

use crate::{Batch, Run};

/// Compares the memory of these jobs with its content before they ran. Notes the jobs that wrote to their
/// inputs, or to the `guard` bytes before and after each output. `input_was` returns the former input of a
/// run, and is called in the order of the runs. `guard_was` returns the former bytes of a range of the
/// outputs' arena that belongs to no output.
///
/// Bytes between the outputs of two jobs belong to the nearer one, so that a write next to an output is the
/// failure of one job.
pub fn note_writes_out_of_bounds<'a>(
    batch: &mut Batch,
    range: Range<usize>,
    guard: usize,
    mut input_was: impl FnMut(&Run) -> &'a [u8],
    guard_was: impl Fn(Range<usize>) -> &'a [u8],
) {
    let (jobs, inputs, outputs) = batch.parts();
    let change = |range: Range<usize>| {
        // A backend in this process may have shortened the arena.
        let is = &outputs[range.start.min(outputs.len())..range.end.min(outputs.len())];
        Change { was: guard_was(range), is }
    };
    let earlier = jobs.get(..range.start).unwrap_or_default();
    let mut end_before = earlier.iter().rev().find_map(|job| Some(job.runs.last()?.output.end));
    for place in range {
        let later = jobs.get(place + 1..).unwrap_or_default();
        let start_behind = later.iter().find_map(|job| Some(job.runs.first()?.output.start));
        let Some(job) = jobs.get_mut(place) else { return };
        let mut stray = None;
        for (number, run) in job.runs.iter().enumerate() {
            let was = input_was(run);
            if stray.is_some() {
                continue;
            }
            let is = inputs.get(run.input.clone()).unwrap_or_default();
            let (start, end) = (run.output.start, run.output.end);
            let neighbour = end_before.filter(|_| number == 0).map_or(0, |before| middle(before, start));
            let before = neighbour.max(start.saturating_sub(guard))..start;
            let is_last = number + 1 == job.runs.len();
            let neighbour = start_behind.filter(|_| is_last).map_or(usize::MAX, |behind| middle(end, behind));
            let behind = end..neighbour.min(end + guard);
            stray =
                Stray::into_input(was, is).or_else(|| Stray::around_output(change(before), change(behind)));
        }
        end_before = job.runs.last().map(|run| run.output.end).or(end_before);
        if let Some(stray) = stray {
            job.note_stray(stray);
        }
    }
}

fn middle(end: usize, start: usize) -> usize {
    end + start.saturating_sub(end) / 2
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_model::{BindingOffsets, DataType, Desc, List, Outcome, Signature, StrayPlace, Tensor};

    use super::*;

    /// The number of bytes between two outputs.
    const GUARD: usize = 16;
    /// The value of these bytes.
    const BYTE: u8 = 9;

    /// Jobs that ran, with eight bytes a run: three with two, one and two runs, and one without runs after
    /// the first.
    fn ran() -> Batch {
        let mut batch = Batch::default();
        let signature = Arc::new(Signature { operator: "COPY".to_owned(), members: Vec::new() });
        let tensor = Tensor::packed(DataType::UINT8, List::from_elem(8, 1));
        let desc = Desc::usual(signature, tensor.clone(), tensor);
        for runs in [2, 0, 1, 2] {
            batch.push(&desc, BindingOffsets::default()).outcome = Outcome::Output;
            for _ in 0..runs {
                let (from, to) = (batch.inputs.len(), batch.outputs.len() + GUARD);
                batch.inputs.resize(from + 8, 1);
                batch.outputs.resize(to, BYTE);
                batch.outputs.resize(to + 8, 2);
                let run = Run { input: from..from + 8, output: to..to + 8 };
                batch.parts().0.last_mut().expect("it was added").runs.push(run);
            }
        }
        batch.outputs.resize(batch.outputs.len() + GUARD, BYTE);
        batch
    }

    /// The jobs that wrote out of bounds, with the place and the offset.
    fn strays(mut batch: Batch) -> Vec<(usize, StrayPlace, u64)> {
        note_writes_out_of_bounds(
            &mut batch,
            0..4,
            GUARD,
            |_| &[1; 8],
            |range| &[BYTE; GUARD][..range.len()],
        );
        let jobs = batch.jobs().iter().enumerate();
        let strayed = jobs.filter_map(|(place, job)| match job.outcome {
            Outcome::Strayed(stray) => Some((place, stray.place, stray.offset)),
            _ => None,
        });
        strayed.collect()
    }

    #[test]
    fn a_write_between_two_jobs_is_the_failure_of_the_nearer_one_alone() {
        use StrayPlace::{Before, Behind};
        assert_eq!(strays(ran()), []);
        let end = ran().jobs()[0].runs[1].output.end;
        for (place, expected) in
            [(0, (0, Behind, 0)), (7, (0, Behind, 7)), (8, (2, Before, 8)), (15, (2, Before, 1))]
        {
            let mut batch = ran();
            batch.outputs[end + place] = 0;
            assert_eq!(strays(batch), [expected], "{place}");
        }
    }

    #[test]
    fn the_memory_between_runs_of_a_job_belongs_to_the_job() {
        let mut batch = ran();
        let first = batch.jobs()[3].runs[0].output.clone();
        batch.outputs[first.end + 15] = 0;
        assert_eq!(strays(batch), [(3, StrayPlace::Behind, 15)]);
        for (place, expected) in [(0, (0, StrayPlace::Before, 16)), (usize::MAX, (3, StrayPlace::Behind, 15))]
        {
            let mut batch = ran();
            let place = place.min(batch.outputs.len() - 1);
            batch.outputs[place] = 0;
            assert_eq!(strays(batch), [expected], "at an end of the arena");
        }
    }

    #[test]
    fn an_input_that_changed_outranks_what_lies_around_the_output() {
        let mut batch = ran();
        let run = batch.jobs()[2].runs[0].clone();
        batch.inputs[run.input.start + 3] = 0;
        batch.outputs[run.output.end] = 0;
        assert_eq!(strays(batch), [(2, StrayPlace::Input, 3)]);
    }

    #[test]
    fn an_arena_that_was_cut_short_is_not_as_it_was() {
        let mut batch = ran();
        let end = batch.outputs.len() - GUARD + 5;
        batch.outputs.truncate(end);
        assert_eq!(strays(batch), [(3, StrayPlace::Behind, 5)]);
    }
}
