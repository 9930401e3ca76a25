//! Frames that ask a backend to run cases: `packed` if the backend wants it, or else `run`.

use super::{FrameKind, PREFIX, RunForm, packed::Packed, prefix};
use crate::Job;

/// The frames that a backend wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it wants `packed` instead of `run`.
    pub(crate) is_packed: bool,
    /// Whether it wants the next cases before it has answered the last ones.
    pub(crate) is_ahead: bool,
}

/// A frame that asks for these jobs. `output_fill` holds the byte that fills the output of each run. `number`
/// is for a backend that is asked ahead.
pub(crate) fn question(
    jobs: &[Job],
    inputs: &[u8],
    output_fill: &[u8],
    manner: Manner,
    number: Option<u64>,
) -> Vec<u8> {
    let runs = || jobs.iter().flat_map(|job| &job.runs);
    let memory = runs().map(|run| run.input.len()).sum::<usize>();
    let packed = if manner.is_packed { Packed::of(jobs, output_fill, memory) } else { None };
    let mut bytes = if let Some(packed) = packed {
        packed.into_frame(number, memory)
    } else {
        let mut bytes = Vec::with_capacity(1024 + 384 * jobs.len() + memory);
        bytes.extend([0; PREFIX]);
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut bytes, &RunForm::new(jobs, output_fill, number));
        let header = bytes.len() - PREFIX;
        bytes[..PREFIX].copy_from_slice(&prefix(FrameKind::Run, header, memory));
        bytes
    };
    for run in runs() {
        bytes.extend_from_slice(&inputs[run.input.clone()]);
    }
    bytes
}
