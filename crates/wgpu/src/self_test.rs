//! Tests a device before any case runs on it: whether memory keeps its content, whether the guards that every
//! verdict depends on work, and how many loop iterations an invocation may take.

use std::{fmt, ops::Range, sync::Arc, time::Duration};

use dmlcts_backend::Run;

use crate::{
    device::{BatchFault, Device},
    flight::{Flight, READ_OUTSIDE, Readback, WROTE_OUTSIDE},
    large,
    plan::{Plan, Shape},
};

/// The number of loop iterations in the test: more than the known limits of drivers.
const ROUNDS: u32 = 200_000;
/// The maximum time of each test.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The findings of the self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Whether a buffer returns the bytes that were written to it.
    pub poison_lands: bool,
    /// Whether a case that stays inside its tensors gives the right output and leaves the bytes around it
    /// unchanged.
    pub guards_hold: bool,
    /// Whether a case that would leave its tensors is stopped and sets the trap.
    pub spans_trap: bool,
    /// The number of loop iterations after which an invocation ended silently; `None` if it did all 200,000.
    pub loop_limit: Option<u32>,
}

impl Findings {
    /// Why no case can run on such a device, if so.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        if !self.poison_lands {
            Some("what is put into its memory does not come back")
        } else if !self.guards_hold {
            Some("a copy of four words comes out wrong, or changes what lies around it")
        } else if !self.spans_trap {
            Some("a case that leaves its tensors is not stopped")
        } else if self.loop_limit.is_some_and(|limit| limit < crate::plan::MOST_STEPS) {
            Some("an invocation ends after fewer loop iterations than small cases need")
        } else {
            None
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |holds: bool| if holds { "" } else { "NOT " };
        write!(
            f,
            "poison {}landing, guards {}holding, spans {}trapping",
            not(self.poison_lands),
            not(self.guards_hold),
            not(self.spans_trap)
        )?;
        match self.loop_limit {
            Some(limit) => write!(
                f,
                "; an invocation ends silently after {limit} loop iterations, so that none takes more than {}",
                crate::plan::MOST_STEPS
            ),
            None => write!(f, "; {ROUNDS} loop iterations in an invocation"),
        }
    }
}

/// Tests a device.
pub(crate) fn find_out(device: &Arc<Device>) -> Result<Findings, BatchFault> {
    Ok(Findings {
        poison_lands: poison_lands(device)?,
        guards_hold: guards_hold(device)?,
        spans_trap: spans_trap(device)?,
        loop_limit: loop_limit(device)?,
    })
}

/// Uploads two patterns in turn to one buffer, and compares the readback.
fn poison_lands(device: &Arc<Device>) -> Result<bool, BatchFault> {
    let mut lands = true;
    for pattern in [0xB5, 0x4A] {
        let before = vec![pattern; 4096];
        let readback = device.scoped(|| {
            let buffer = large::storage(device, "poison", &before);
            read_back(device, &buffer, |_| {})
        })?;
        lands &= readback.read(device, TIMEOUT, |after| after == before)?;
    }
    Ok(lands)
}

/// Reads back a buffer, after the commands that `before` records.
fn read_back(
    device: &Device,
    buffer: &wgpu::Buffer,
    before: impl FnOnce(&mut wgpu::CommandEncoder),
) -> Readback {
    Readback::after(device, buffer.size(), |encoder, readback| {
        before(encoder);
        encoder.copy_buffer_to_buffer(buffer, 0, readback, 0, buffer.size());
    })
}

/// Copies four words from the middle of one arena to the middle of another.
fn guards_hold(device: &Arc<Device>) -> Result<bool, BatchFault> {
    let (trap, outputs) = copy_four_words(device, 16)?;
    let is_right = outputs[MIDDLE] == [7; 16] && outputs[..32] == [0xB5; 32] && outputs[48..] == [0xB5; 32];
    Ok(is_right && trap == 0)
}

/// Does the same copy with spans that end too early.
fn spans_trap(device: &Arc<Device>) -> Result<bool, BatchFault> {
    let (trap, outputs) = copy_four_words(device, 8)?;
    // A kernel may check either access first, so either trap is accepted.
    Ok(trap & (READ_OUTSIDE | WROTE_OUTSIDE) != 0 && outputs[40..48] == [0xB5; 8])
}

const MIDDLE: Range<usize> = 32..48;

fn copy_four_words(device: &Arc<Device>, span: u64) -> Result<(u32, Vec<u8>), BatchFault> {
    let shape = Shape { width: 4, elements: 4, packed: true, bytes: [span; 2] };
    let mut plan = Plan::new(&shape);
    plan.step(4, 0, 1, [1, 1]);
    let (inputs, mut outputs) = (vec![7; 80], vec![0xB5; 80]);
    let mut flight = Flight::default();
    let run = Run { input: MIDDLE, output: MIDDLE };
    flight.segment.push(&plan, 0, &run, usize::MAX);
    flight.segment.close(inputs.len(), outputs.len());
    flight.start(device, &inputs, &outputs, TIMEOUT)?;
    let traps = flight.finish(&mut outputs, TIMEOUT)?;
    Ok((traps.first().copied().unwrap_or(0), outputs))
}

/// The number of loop iterations before an invocation is ended, if it is ended.
fn loop_limit(device: &Arc<Device>) -> Result<Option<u32>, BatchFault> {
    let readback = device.scoped(|| {
        let module = device.handle.create_shader_module(wgpu::include_wgsl!("kernels/loops.wgsl"));
        let pipeline = device.handle.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("loops"),
            layout: None,
            module: &module,
            entry_point: Some("run"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let rounds = large::storage(device, "rounds", bytemuck::cast_slice(&[ROUNDS, 0]));
        let group = device.handle.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("loops"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: rounds.as_entire_binding() }],
        });
        read_back(device, &rounds, |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        })
    })?;
    let done = readback.read(device, TIMEOUT, |bytes| {
        bytes.as_chunks::<4>().0.get(1).map_or(0, |word| u32::from_le_bytes(*word))
    })?;
    Ok((done != ROUNDS).then_some(done))
}
