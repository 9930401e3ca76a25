//! The memory of runs on the backend's side of the protocol, and its check after they ran. A process sends
//! back only outputs, so other writes to its memory must be found there.

use crate::{Batch, Run, note_writes_out_of_bounds};

/// The number of bytes before and behind every output that must not be written to: a few rows of a small
/// tensor. With larger guards, some hundred cases would not fit in a core's cache. `dmlcts_backend.h` and the
/// guide state this number.
pub(crate) const GUARD: usize = 256;
/// The content of guards: a byte that a host is unlikely to fill outputs with.
const GUARD_BYTE: u8 = 0xC9;
/// An unchanged guard.
const INTACT: [u8; GUARD] = [GUARD_BYTE; GUARD];
/// The alignment of a run's memory, in bytes.
const ALIGNMENT: usize = 16;

/// Adds the memory of one more run to both arenas: a copy of `input`, and an output full of `fill`. All
/// outputs together take at most `most` bytes. `None` if there is no room.
pub(super) fn lay_out(batch: &mut Batch, input: &[u8], output: usize, fill: u8, most: u64) -> Option<Run> {
    if (batch.outputs.len() as u64).saturating_add(output as u64) > most {
        return None;
    }
    let inputs = &mut batch.inputs;
    let start = inputs.len().checked_next_multiple_of(ALIGNMENT)?;
    let end = start.checked_add(input.len())?;
    inputs.try_reserve(end - inputs.len()).ok()?;
    inputs.resize(start, 0);
    inputs.extend_from_slice(input);
    let input = start..end;

    let outputs = &mut batch.outputs;
    let start = outputs.len().max(GUARD).checked_next_multiple_of(ALIGNMENT)?;
    let end = start.checked_add(output)?;
    let guarded = end.checked_add(GUARD)?;
    outputs.try_reserve(guarded - outputs.len()).ok()?;
    outputs.resize(start, GUARD_BYTE);
    outputs.resize(end, fill);
    outputs.resize(guarded, GUARD_BYTE);
    Some(Run { input, output: start..end })
}

/// Checks the memory of a batch after it ran, and marks jobs that wrote beside their outputs or into their
/// inputs. `body` holds the original inputs.
pub(super) fn check(batch: &mut Batch, mut body: &[u8]) {
    let input_was = |run: &Run| {
        let (was, rest) = body.split_at_checked(run.input.len()).unwrap_or((body, &[]));
        body = rest;
        was
    };
    let jobs = 0..batch.jobs().len();
    note_writes_out_of_bounds(batch, jobs, GUARD, input_was, |guard| {
        INTACT.get(..guard.len()).unwrap_or(&INTACT)
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_model::{BindingOffsets, DataType, Desc, List, Outcome, Signature, Stray, StrayPlace, Tensor};

    use super::*;

    /// A batch of four jobs that ran, and its original inputs.
    fn ran() -> (Batch, Vec<u8>) {
        let (mut batch, mut body) = (Batch::default(), Vec::new());
        let signature = Arc::new(Signature { operator: "COPY".to_owned(), members: Vec::new() });
        for bytes in [4_u8, 20, 0, 7] {
            let tensor = Tensor::packed(DataType::UINT8, List::from_elem(i64::from(bytes), 1));
            batch.push(
                &Desc::usual(Arc::clone(&signature), tensor.clone(), tensor),
                BindingOffsets::default(),
            );
            let input = vec![bytes; bytes.into()];
            let run = lay_out(&mut batch, &input, bytes.into(), 0xA5, 10_000).expect("there is room");
            let (jobs, _, outputs) = batch.parts();
            assert!(outputs[run.output.clone()].iter().all(|byte| *byte == 0xA5));
            assert_eq!(run.output.start % ALIGNMENT, 0);
            let job = jobs.last_mut().expect("it was added");
            (job.outcome, body) = (Outcome::Output, [body, input].concat());
            job.runs.push(run);
        }
        (batch, body)
    }

    fn failed(batch: &Batch) -> Vec<usize> {
        let jobs = batch.jobs().iter().enumerate();
        jobs.filter(|(_, job)| job.outcome != Outcome::Output).map(|(place, _)| place).collect()
    }

    #[test]
    fn a_backend_within_its_memory_passes() {
        let (mut batch, body) = ran();
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            outputs[job.runs[0].output.clone()].fill(1);
        }
        check(&mut batch, &body);
        assert!(failed(&batch).is_empty());
    }

    #[test]
    fn a_byte_before_or_behind_an_output_is_seen() {
        // Two outputs share the guard between them, and a write there counts for the nearer output.
        for (before, distance) in [(true, 0), (true, 127), (false, 0), (false, 127)] {
            let (mut batch, body) = ran();
            let output = batch.jobs()[1].runs[0].output.clone();
            let place = if before { output.start - 1 - distance } else { output.end + distance };
            batch.outputs[place] = 0;
            check(&mut batch, &body);
            let (place, offset) =
                if before { (StrayPlace::Before, distance + 1) } else { (StrayPlace::Behind, distance) };
            let offset = offset as u64;
            assert_eq!(batch.jobs()[1].outcome, Outcome::Strayed(Stray { place, offset }));
        }
    }

    #[test]
    fn an_input_that_was_written_to_is_seen() {
        let (mut batch, body) = ran();
        let input = batch.jobs()[3].runs[0].input.clone();
        batch.inputs[input.end - 1] ^= 1;
        check(&mut batch, &body);
        assert_eq!(failed(&batch), [3]);
        let stray = Stray { place: StrayPlace::Input, offset: 6 };
        assert_eq!(batch.jobs()[3].outcome, Outcome::Strayed(stray));
    }

    #[test]
    fn a_stray_write_replaces_every_outcome_but_a_missing_one() {
        let refused = || Outcome::Unsupported("no".into());
        for (said, is_noted) in [(refused(), true), (Outcome::Lost, false), (Outcome::TimedOut, false)] {
            let (mut batch, body) = ran();
            let (jobs, _, outputs) = batch.parts();
            jobs[2].outcome = said.clone();
            outputs[jobs[2].runs[0].output.end] = 0;
            check(&mut batch, &body);
            let outcome = &batch.jobs()[2].outcome;
            assert!(if is_noted { matches!(outcome, Outcome::Strayed(_)) } else { *outcome == said });
        }
    }

    #[test]
    fn too_large_arenas_are_refused_before_allocation() {
        let mut batch = Batch::default();
        assert!(lay_out(&mut batch, &[], 1001, 0, 1000).is_none());
        assert!(lay_out(&mut batch, &[], usize::MAX / 2, 0, u64::MAX).is_none());
        assert_eq!((batch.inputs.capacity(), batch.outputs.capacity()), (0, 0));
    }
}
