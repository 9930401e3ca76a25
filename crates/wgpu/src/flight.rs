//! A flight: the device memory of one segment, from upload to readback. It is reused for the next segment, so
//! that a steady run allocates nothing.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use wgpu::{BufferUsages, SubmissionIndex};

use crate::{
    budget::Share,
    device::{BatchFault, Device},
    record::Run,
    segment::Segment,
};

/// A bit of a trap word, which kernels set for a forbidden access: a read outside the input.
pub(crate) const READ_OUTSIDE: u32 = 1;
/// A bit of a trap word: a write outside the output. See [`READ_OUTSIDE`].
pub(crate) const WROTE_OUTSIDE: u32 = 2;
/// The usage of a buffer that the host reads.
const READBACK: BufferUsages = BufferUsages::MAP_READ.union(BufferUsages::COPY_DST);

/// Device memory, and the segment that is in flight in it.
#[derive(Default)]
pub(crate) struct Flight {
    pub(crate) segment: Segment,
    table: Vec<u32>,
    memory: Option<Memory>,
    submitted: Option<Submitted>,
}

struct Submitted {
    readback: Readback,
    /// The number of bytes of outputs in the readback. One trap word for each run follows them.
    outputs: u64,
}

/// The content of a buffer that the host can read once a submission is done.
pub(crate) struct Readback {
    submission: SubmissionIndex,
    mapped: Receiver<Result<(), String>>,
    buffer: wgpu::Buffer,
    bytes: u64,
}

/// Buffers of at least the requested sizes, and the bind group for them.
struct Memory {
    /// The device that owns the buffers.
    device: Arc<Device>,
    cases: wgpu::Buffer,
    records: wgpu::Buffer,
    inputs: wgpu::Buffer,
    outputs: wgpu::Buffer,
    traps: wgpu::Buffer,
    readback: wgpu::Buffer,
    group: wgpu::BindGroup,
    _share: Share,
}

/// The number of bytes of each buffer.
#[derive(Clone, Copy)]
struct Sizes {
    cases: u64,
    records: u64,
    inputs: u64,
    outputs: u64,
    traps: u64,
}

impl Flight {
    /// Uploads the segment, dispatches it, and requests its outputs. If other threads hold too much memory,
    /// it waits for at most `timeout`.
    pub(crate) fn start(
        &mut self,
        device: &Arc<Device>,
        inputs: &[u8],
        outputs: &[u8],
        timeout: Duration,
    ) -> Result<(), BatchFault> {
        self.submitted = None;
        let result = device.scoped(|| self.start_unscoped(device, inputs, outputs, timeout));
        let result = result.and_then(|started| started);
        if result.is_err() {
            self.memory = None;
        }
        self.submitted = Some(result?);
        Ok(())
    }

    fn start_unscoped(
        &mut self,
        device: &Arc<Device>,
        inputs: &[u8],
        outputs: &[u8],
        timeout: Duration,
    ) -> Result<Submitted, BatchFault> {
        let uploaded = self.upload(device, inputs, outputs, timeout)?;
        let Uploaded { memory, sizes, .. } = &uploaded;
        let submission = device.submit(|encoder| {
            uploaded.encode(device, encoder);
            encoder.copy_buffer_to_buffer(&memory.outputs, 0, &memory.readback, 0, sizes.outputs);
            encoder.copy_buffer_to_buffer(&memory.traps, 0, &memory.readback, sizes.outputs, sizes.traps);
        });
        let readback = Readback::new(memory.readback.clone(), submission, sizes.outputs + sizes.traps);
        Ok(Submitted { readback, outputs: sizes.outputs })
    }

    /// Uploads the segment, ready for dispatch.
    pub(crate) fn upload(
        &mut self,
        device: &Arc<Device>,
        inputs: &[u8],
        outputs: &[u8],
        timeout: Duration,
    ) -> Result<Uploaded<'_>, BatchFault> {
        let Self { segment, table, memory, .. } = self;
        let runs: Vec<Run> = segment.records.pack(table).collect();
        let stride = u64::from(device.limits.min_uniform_buffer_offset_alignment);
        let sizes = Sizes {
            cases: runs.len() as u64 * stride,
            records: table.len() as u64 * 4,
            inputs: word_bytes(inputs.len()),
            outputs: word_bytes(outputs.len()),
            traps: segment.jobs.len() as u64 * 4,
        };
        let held = memory.take().filter(|memory| memory.holds(device, sizes));
        let memory = memory.insert(match held {
            Some(held) => held,
            None => Memory::new(device, sizes, timeout)?,
        });
        let queue = &device.queue;
        upload(queue, &memory.records, bytemuck::cast_slice(table));
        upload(queue, &memory.inputs, inputs);
        upload(queue, &memory.outputs, outputs);
        let mut cases = vec![0; sizes.cases as usize / 4];
        for (run, words) in runs.iter().zip(cases.chunks_mut(stride as usize / 4)) {
            words[..2].copy_from_slice(&[run.first, run.count]);
        }
        upload(queue, &memory.cases, bytemuck::cast_slice(&cases));
        Ok(Uploaded { memory, runs, sizes })
    }

    /// Waits for the outputs and writes them over `outputs`. Returns a trap word for each run, or nothing if
    /// no run made a forbidden access.
    pub(crate) fn finish(&mut self, outputs: &mut [u8], timeout: Duration) -> Result<Vec<u32>, BatchFault> {
        let Self { segment, memory, submitted, .. } = self;
        let (Some(submitted), Some(held)) = (submitted.take(), memory.as_ref()) else {
            return Err(BatchFault::Internal("nothing was under way".to_owned()));
        };
        let result = submitted.readback.read(&held.device, timeout, |bytes| {
            let (after, words) = bytes.split_at(submitted.outputs as usize);
            let after = &after[..outputs.len()];
            let words = words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
            let mut traps: Vec<u32> = Vec::new();
            if words.clone().any(|word| word != 0) {
                traps.extend(words);
            }
            segment.find_stray_writes(outputs, after, |run| {
                traps.resize(segment.jobs.len(), 0);
                traps[run] |= WROTE_OUTSIDE;
            });
            outputs.copy_from_slice(after);
            traps
        });
        if result.is_err() {
            *memory = None;
        }
        result
    }
}

/// A segment in device memory.
pub(crate) struct Uploaded<'a> {
    memory: &'a Memory,
    runs: Vec<Run>,
    sizes: Sizes,
}

impl Uploaded<'_> {
    /// Adds the dispatches, one for each class.
    pub(crate) fn encode(&self, device: &Device, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.memory.traps, 0, Some(self.sizes.traps));
        let stride = device.limits.min_uniform_buffer_offset_alignment;
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for (index, run) in self.runs.iter().enumerate() {
            pass.set_pipeline(device.kernels.batched(device, run.class));
            pass.set_bind_group(0, &self.memory.group, &[index as u32 * stride]);
            let most = device.limits.max_compute_workgroups_per_dimension.max(1);
            let rows = run.count.div_ceil(most);
            pass.dispatch_workgroups(run.count.div_ceil(rows), rows, 1);
        }
    }
}

impl Memory {
    fn new(device: &Arc<Device>, sizes: Sizes, timeout: Duration) -> Result<Self, BatchFault> {
        let sizes = Sizes {
            cases: roomy(sizes.cases),
            records: roomy(sizes.records),
            inputs: roomy(sizes.inputs),
            outputs: roomy(sizes.outputs),
            traps: roomy(sizes.traps),
        };
        let read_back = sizes.outputs + sizes.traps;
        let bytes = sizes.cases + sizes.records + sizes.inputs + 2 * read_back;
        let share = device.budget.take(bytes, timeout)?;
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let cases = device.buffer("cases", sizes.cases, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        let records = device.buffer("records", sizes.records, storage);
        let inputs = device.buffer("inputs", sizes.inputs, storage);
        let outputs = device.buffer("outputs", sizes.outputs, storage | BufferUsages::COPY_SRC);
        let traps = device.buffer("traps", sizes.traps, storage | BufferUsages::COPY_SRC);
        let readback = device.buffer("readback", read_back, READBACK);
        let group = device.handle.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("batched"),
            layout: device.kernels.batched_layout(),
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &cases,
                        offset: 0,
                        size: NonZeroU64::new(8),
                    }),
                },
                wgpu::BindGroupEntry { binding: 1, resource: records.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 2, resource: inputs.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 3, resource: outputs.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 4, resource: traps.as_entire_binding() },
            ],
        });
        Ok(Self {
            device: Arc::clone(device),
            cases,
            records,
            inputs,
            outputs,
            traps,
            readback,
            group,
            _share: share,
        })
    }

    fn holds(&self, device: &Arc<Device>, sizes: Sizes) -> bool {
        Arc::ptr_eq(&self.device, device)
            && self.cases.size() >= sizes.cases
            && self.records.size() >= sizes.records
            && self.inputs.size() >= sizes.inputs
            && self.outputs.size() >= sizes.outputs
            && self.traps.size() >= sizes.traps
            && self.readback.size() >= sizes.outputs + sizes.traps
    }
}

impl Readback {
    /// Submits the commands that `record` records, which fill a new buffer of this size, and requests it.
    pub(crate) fn after(
        device: &Device,
        bytes: u64,
        record: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Self {
        let buffer = device.buffer("readback", bytes, READBACK);
        let submission = device.submit(|encoder| record(encoder, &buffer));
        Self::new(buffer, submission, bytes)
    }

    /// Requests the buffer's bytes for the time when the submission is done.
    fn new(buffer: wgpu::Buffer, submission: SubmissionIndex, bytes: u64) -> Self {
        let (sender, mapped) = sync_channel(1);
        buffer.map_async(wgpu::MapMode::Read, 0..bytes, move |result| {
            // The receiver is gone if the device was abandoned in the meantime.
            let _ = sender.send(result.map_err(|error| error.to_string()));
        });
        Self { submission, mapped, buffer, bytes }
    }

    /// Waits for the bytes, and passes them to `look`.
    pub(crate) fn read<T>(
        &self,
        device: &Device,
        timeout: Duration,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, BatchFault> {
        device.wait(&self.submission, timeout)?;
        // A thread that polled the device may know that it is done before another thread runs the callback.
        let refused = match self.mapped.recv_timeout(timeout) {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(_) => Some("nobody answered".to_owned()),
        };
        if let Some(reason) = refused {
            return Err(device.lost().map_or(BatchFault::Map(reason), BatchFault::Lost));
        }
        let bytes = self
            .buffer
            .get_mapped_range(0..self.bytes)
            .map_err(|error| BatchFault::Map(error.to_string()))?;
        let seen = look(&bytes);
        drop(bytes);
        self.buffer.unmap();
        Ok(seen)
    }
}

/// Writes bytes to the start of a buffer, padded with zeros to a whole word.
pub(crate) fn upload(queue: &wgpu::Queue, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let Some(size) = NonZeroU64::new(word_bytes(bytes.len())) else { return };
    if let Some(mut view) = queue.write_buffer_with(buffer, 0, size) {
        view.slice(..bytes.len()).copy_from_slice(bytes);
        let tail = [0; 4];
        view.slice(bytes.len()..).copy_from_slice(&tail[..size.get() as usize - bytes.len()]);
    }
}

/// Rounds a number of bytes up to whole words, as copies require.
fn word_bytes(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(4)
}

/// The size of a buffer for this many bytes, with room for larger segments later.
fn roomy(bytes: u64) -> u64 {
    (bytes + bytes / 2).next_multiple_of(256).max(256)
}
