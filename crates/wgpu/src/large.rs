//! Runs one large case. Its tensors have buffers of their own, and are split into parts if they exceed a
//! binding.
//!
//! Each part of the output is uploaded with its poison and with the bytes around it in the batch's arena. A
//! dispatch for each part of the input writes it, and it is read back whole, so that writes out of bounds are
//! visible. A dispatch skips elements whose source is in another part of the input.

use std::{ops::Range, sync::Arc, time::Duration};

use dmlcts_backend::Run;
use wgpu::BufferUsages;

use crate::{
    device::{BatchFault, Device},
    flight::{Readback, WROTE_OUTSIDE, upload},
    kernels::LargeKernel,
    plan::{Plan, PlanAxis},
};

/// The number of bytes around a part of an output that are compared.
const MARGIN: usize = 256;
/// Parts start at multiples of a cell: the bytes that one invocation writes.
const CELL: usize = 16;
/// The side length of a tile of the transposing kernel.
const TILE: u32 = 32;

/// A part of a tensor, with the bytes around it in the arena.
#[derive(Clone, Debug)]
struct TensorPart {
    /// The range of the part within the tensor, in bytes.
    bytes: Range<usize>,
    /// The range of the part and its surroundings within the arena, in bytes.
    around: Range<usize>,
    /// The offset of the part in the upload.
    start: usize,
}

/// Splits a tensor, at this range of an arena, into parts of at most `window` bytes.
fn parts(tensor: &Range<usize>, arena: usize, window: usize) -> Vec<TensorPart> {
    let window = (window / CELL).max(1) * CELL;
    let length = tensor.end - tensor.start;
    let starts = (0..length.max(1)).step_by(window);
    starts
        .map(|from| {
            let bytes = from..length.min(from + window);
            let before = MARGIN.min((tensor.start + from) / CELL * CELL);
            let around = tensor.start + from - before..(tensor.start + bytes.end + MARGIN).min(arena);
            TensorPart { bytes, around, start: before }
        })
        .collect()
}

/// The total size of all buffers that [`run`] holds at a time for these tensors, in bytes.
pub(crate) fn buffer_bytes(run: &Run, window: usize) -> u64 {
    let window = (window / CELL).max(1) * CELL;
    let around = |bytes: usize| (bytes + 2 * MARGIN + CELL) as u64;
    let input = run.input.len();
    let parts = input.div_ceil(window).max(1) as u64;
    // The part of the output that is written, and its readback.
    input as u64 + parts * around(0) + 2 * around(run.output.len().min(window))
}

/// Runs a case. Returns its forbidden accesses as the bits of a trap word. `inputs` and `outputs` are the
/// whole arenas. No part of a tensor that is bound has more bytes than `window`.
pub(crate) fn run(
    device: &Arc<Device>,
    plan: &Plan,
    run: &Run,
    inputs: &[u8],
    outputs: &mut [u8],
    window: usize,
    timeout: Duration,
) -> Result<u32, BatchFault> {
    let mut plan = plan.clone();
    plan.merge();
    let reading = parts(&run.input, inputs.len(), window);
    let sources: Vec<wgpu::Buffer> = device.scoped(|| {
        reading.iter().map(|part| storage(device, "input", &inputs[part.around.clone()])).collect()
    })?;
    let mut trap = 0;
    for part in parts(&run.output, outputs.len(), window) {
        let submitted = device.scoped(|| {
            let target = storage(device, "output", &outputs[part.around.clone()]);
            let trap = storage(device, "trap", &[0; 4]);
            Readback::after(device, target.size() + 4, |encoder, readback| {
                let windowed = reading.len() > 1;
                for (index, (read, source)) in reading.iter().zip(&sources).enumerate() {
                    let pass = Pass { plan: &plan, read, write: &part, windowed, first: index == 0 };
                    pass.prepare(device, source, &target, &trap).encode(device, encoder);
                }
                encoder.copy_buffer_to_buffer(&target, 0, readback, 0, target.size());
                encoder.copy_buffer_to_buffer(&trap, 0, readback, target.size(), 4);
            })
        })?;
        let around = &mut outputs[part.around.clone()];
        trap |= submitted.read(device, timeout, |bytes| {
            let (after, word) = bytes.split_at(bytes.len() - 4);
            let own = part.start..part.start + part.bytes.len();
            let beside = around[..own.start] != after[..own.start]
                || around[own.end..] != after[own.end..around.len()];
            around.copy_from_slice(&after[..around.len()]);
            let word = word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
            word | if beside { WROTE_OUTSIDE } else { 0 }
        })?;
    }
    Ok(trap)
}

/// Prepares one dispatch over whole tensors in buffers, which can be repeated.
pub(crate) fn whole(device: &Arc<Device>, plan: &Plan, run: &Run, inputs: &[u8], outputs: &[u8]) -> Prepared {
    let mut plan = plan.clone();
    plan.merge();
    let part = |range: &Range<usize>| TensorPart { bytes: 0..range.len(), around: range.clone(), start: 0 };
    let (read, write) = (part(&run.input), part(&run.output));
    let [source, target] = [inputs, outputs].map(|bytes| storage(device, "tensor", bytes));
    let trap = storage(device, "trap", &[0; 4]);
    let pass = Pass { plan: &plan, read: &read, write: &write, windowed: false, first: true };
    pass.prepare(device, &source, &target, &trap)
}

/// A buffer with these bytes, padded with zeros to a whole cell.
pub(crate) fn storage(device: &Device, label: &str, bytes: &[u8]) -> wgpu::Buffer {
    let size = (bytes.len() as u64).next_multiple_of(CELL as u64).max(CELL as u64);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
    let buffer = device.buffer(label, size, usage);
    upload(&device.queue, &buffer, bytes);
    buffer
}

/// One dispatch, from a part of the input to a part of the output.
pub(crate) struct Pass<'a> {
    plan: &'a Plan,
    read: &'a TensorPart,
    write: &'a TensorPart,
    /// Whether the input has several parts.
    windowed: bool,
    /// Whether this is the first part of the input.
    first: bool,
}

/// A dispatch that is ready to be encoded.
pub(crate) struct Prepared {
    kernel: LargeKernel,
    group: wgpu::BindGroup,
    groups: [u32; 2],
}

impl Prepared {
    /// Adds the dispatch to an encoder.
    pub(crate) fn encode(&self, device: &Device, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(device.kernels.large(device, self.kernel));
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.groups[0], self.groups[1], 1);
    }
}

impl Pass<'_> {
    /// Chooses the kernel and writes its parameters.
    pub(crate) fn prepare(
        &self,
        device: &Arc<Device>,
        source: &wgpu::Buffer,
        target: &wgpu::Buffer,
        trap: &wgpu::Buffer,
    ) -> Prepared {
        let plan = self.plan;
        let width = plan.shape.width;
        if let Some(across) = self.transposes() {
            let (words, tiles) = self.tiles(across);
            let kernel = LargeKernel::transpose(width);
            return prepared(device, kernel, &words, &[source, target, trap], tiles);
        }
        let words = self.words();
        let kernel = LargeKernel::general(width, plan.folds, self.windowed, plan.shape.packed);
        let invocations = if plan.shape.packed {
            self.write.bytes.len().div_ceil(CELL) as u32
        } else {
            plan.shape.elements
        };
        prepared(device, kernel, &words, &[source, source, target, trap], invocations.div_ceil(64))
    }

    /// The index of the axis on which the input's elements are contiguous, if moving tiles is faster.
    fn transposes(&self) -> Option<u32> {
        let plan = self.plan;
        let [inner, outer @ ..] = plan.axes() else { return None };
        let whole_words = (inner.size * plan.shape.width).is_multiple_of(4);
        let is_whole = !self.windowed && self.write.bytes.len() as u64 == plan.shape.bytes[1];
        if plan.folds || !plan.shape.packed || !is_whole || !whole_words {
            return None;
        }
        let in_rows = |axis: &PlanAxis| axis.input_stride == 1 || axis.input_stride == u32::MAX;
        if in_rows(inner) || inner.input_stride == 0 || inner.size < TILE / 2 {
            return None;
        }
        let across = outer.iter().position(|axis| in_rows(axis) && axis.size >= TILE / 2)?;
        Some(across as u32 + 1)
    }

    /// The parameters of the transposing kernel, and the number of tiles.
    fn tiles(&self, across: u32) -> (Vec<u32>, u32) {
        let plan = self.plan;
        let tiles = plan.axes().iter().enumerate().fold(1, |tiles: u32, (index, axis)| {
            let is_tiled = index == 0 || index as u32 == across;
            tiles.saturating_mul(if is_tiled { axis.size.div_ceil(TILE) } else { axis.size })
        });
        let [input_bytes, output_bytes] = plan.shape.bytes;
        let width = u64::from(plan.shape.width);
        let mut words = vec![
            across,
            plan.axes().len() as u32,
            tiles,
            plan.first,
            (input_bytes / width) as u32,
            (output_bytes / width) as u32,
            (self.read.start / 4) as u32,
            (self.write.start / 4) as u32,
        ];
        for axis in plan.axes() {
            words.extend([axis.size, axis.input_stride, axis.output_stride, 0]);
        }
        words.resize(8 + 8 * 4, 0);
        (words, tiles)
    }

    /// The parameters of the general kernels.
    fn words(&self) -> Vec<u32> {
        let plan = self.plan;
        let [input_bytes, output_bytes] = plan.shape.bytes;
        let width = plan.shape.width as usize;
        let cells = self.write.bytes.len().div_ceil(CELL);
        let mut words = vec![
            plan.shape.elements,
            plan.axes().len() as u32,
            u32::from(plan.constant),
            plan.first,
            plan.fill[0],
            plan.fill[1],
            (input_bytes / width as u64) as u32,
            (output_bytes / width as u64) as u32,
            (self.read.bytes.start / width) as u32,
            (self.read.bytes.len() / width) as u32,
            (self.read.start / 4) as u32,
            u32::from(self.first),
            (self.write.bytes.start / CELL) as u32,
            cells as u32,
            (self.write.start / CELL) as u32,
            0,
        ];
        let mut axes = [PlanAxis { size: 1, ..PlanAxis::default() }; 8];
        axes[..plan.axes().len()].copy_from_slice(plan.axes());
        for axis in axes {
            let fold = axis.fold;
            words.extend([axis.size, axis.input_stride, axis.output_stride]);
            words.extend([fold.bias, fold.period, fold.mirror, fold.n, 0]);
        }
        words
    }
}

fn prepared(
    device: &Arc<Device>,
    kernel: LargeKernel,
    words: &[u32],
    buffers: &[&wgpu::Buffer],
    groups: u32,
) -> Prepared {
    let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
    let parameters = device.buffer("parameters", words.len() as u64 * 4, usage);
    upload(&device.queue, &parameters, bytemuck::cast_slice(words));
    let kind = device.kernels.kind(kernel);
    let buffers = std::iter::once(&parameters).chain(buffers.iter().copied());
    let entries: Vec<wgpu::BindGroupEntry<'_>> = buffers
        .zip(&kind.bindings)
        .map(|(buffer, &binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let group = device.handle.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("large"),
        layout: &kind.group,
        entries: &entries,
    });
    let most = device.limits.max_compute_workgroups_per_dimension.max(1);
    let rows = groups.div_ceil(most).max(1);
    Prepared { kernel, group, groups: [groups.div_ceil(rows), rows] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_tensor_and_take_in_what_lies_beside_them() {
        let parts = parts(&(32..132), 400, 48);
        let bytes: Vec<_> = parts.iter().map(|part| part.bytes.clone()).collect();
        assert_eq!(bytes, [0..48, 48..96, 96..100]);
        assert_eq!(parts[0].around, 0..336);
        assert_eq!((parts[1].around.clone(), parts[1].start), (0..384, 80));
        assert_eq!(parts[2].around, 0..388);
        assert_eq!(parts[2].start, 128);
    }
}
