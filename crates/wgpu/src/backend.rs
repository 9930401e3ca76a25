//! The backend: splits a batch, runs it on the device, and writes the outcome of each job.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use dmlcts_backend::{Backend, Batch, Capabilities, Pipelined, Run};
use dmlcts_model::{FeatureLevel, Outcome, Phase};

use crate::{
    create::create,
    device::{BatchFault, Device},
    flight::{Flight, READ_OUTSIDE},
    gpu::Gpu,
    large,
    plan::Plan,
};

/// A backend on a GPU. All backends of one [`Gpu`] share its device.
pub struct Wgpu {
    gpu: Arc<Gpu>,
    /// Flights that are not in use.
    idle: Vec<Flight>,
    /// The batches that are started and not finished, the oldest first.
    started: VecDeque<Started>,
}

/// A batch that was split.
pub(crate) struct Taken {
    /// The small runs.
    pub(crate) flights: Vec<Flight>,
    /// The jobs that run alone, with their plans.
    pub(crate) large: Vec<(usize, Plan)>,
}

/// The flights of a batch that were started, and the jobs that are left.
struct Started {
    flights: Vec<(Flight, Result<(), BatchFault>)>,
    /// The jobs that run alone, with their plans.
    large: Vec<(usize, Plan)>,
    device: Arc<Device>,
}

impl Wgpu {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu, idle: Vec::new(), started: VecDeque::new() }
    }

    /// Creates the operators of all jobs, writes refusals as outcomes, and splits the other jobs.
    pub(crate) fn take(&mut self, device: &Device, batch: &mut Batch) -> Taken {
        let most = self.gpu.segment_bytes();
        let (mut flights, mut large) = (Vec::new(), Vec::new());
        let mut open: Option<Flight> = None;
        let (jobs, inputs, outputs) = batch.parts();
        let ends = (inputs.len(), outputs.len());
        for (number, job) in jobs.iter_mut().enumerate() {
            let plan = match create(&job.desc) {
                Ok(plan) => plan,
                Err(refusal) => {
                    job.outcome = refusal.into();
                    continue;
                }
            };
            if job.runs.is_empty() {
                job.outcome = Outcome::Accepted;
                continue;
            }
            if let Some(reason) = job.runs.iter().find_map(|run| misplaced(run, &plan, ends)) {
                job.outcome = Outcome::Failed { phase: Phase::Bind, reason: reason.into() };
                continue;
            }
            if !plan.is_small(device.kernels.lanes()) || most == 0 {
                large.push((number, plan));
                continue;
            }
            for run in &job.runs {
                if open.as_mut().is_some_and(|flight| flight.segment.push(&plan, number, run, most)) {
                    continue;
                }
                flights.extend(open.take());
                let mut flight = self.idle.pop().unwrap_or_default();
                flight.segment.clear();
                // A small run always fits an empty segment.
                if flight.segment.push(&plan, number, run, most) {
                    open = Some(flight);
                }
            }
        }
        flights.extend(open);
        for flight in &mut flights {
            flight.segment.close(ends.0, ends.1);
        }
        Taken { flights, large }
    }

    /// Creates the operators of all jobs, and starts the small runs.
    fn send(&mut self, batch: &mut Batch) -> Started {
        let device = self.gpu.device();
        if device.budget.is_wanted() {
            self.idle.clear();
        }
        let timeout = self.gpu.timeout();
        let Taken { flights, large } = self.take(&device, batch);
        let (_, inputs, outputs) = batch.parts();
        let start = |mut flight: Flight| {
            let (inputs, outputs) =
                (&inputs[flight.segment.inputs.clone()], &outputs[flight.segment.outputs.clone()]);
            let started = flight.start(&device, inputs, outputs, timeout);
            (flight, started)
        };
        let flights = flights.into_iter().map(start).collect();
        Started { flights, large, device }
    }

    /// Waits for the started flights, and takes their outputs.
    fn receive(&mut self, started: Started, batch: &mut Batch) {
        let timeout = self.gpu.timeout();
        let (jobs, inputs, outputs) = batch.parts();
        for (mut flight, result) in started.flights {
            let part = &mut outputs[flight.segment.outputs.clone()];
            let result = result.and_then(|()| flight.finish(part, timeout));
            let runs = &flight.segment.jobs;
            match result {
                Ok(traps) => {
                    let traps = traps.iter().copied().chain(std::iter::repeat(0));
                    for (&job, trap) in runs.iter().zip(traps) {
                        let Some(job) = jobs.get_mut(job as usize) else { continue };
                        let so_far = std::mem::replace(&mut job.outcome, Outcome::Lost);
                        job.outcome = if trap != 0 && matches!(so_far, Outcome::Output | Outcome::Lost) {
                            trapped(trap)
                        } else if so_far == Outcome::Lost {
                            Outcome::Output
                        } else {
                            so_far
                        };
                    }
                }
                Err(fault) => {
                    if fault.ends_device() {
                        self.gpu.abandon(&started.device);
                    }
                    let outcome = fault.outcome();
                    for &job in runs {
                        if let Some(job) = jobs.get_mut(job as usize) {
                            job.outcome = outcome.clone();
                        }
                    }
                }
            }
            if !started.device.budget.is_wanted() {
                self.idle.push(flight);
            }
        }
        for (number, plan) in started.large {
            if let Some(job) = jobs.get_mut(number) {
                job.outcome = self.run_alone(&started.device, &plan, &job.runs, inputs, outputs);
            }
        }
    }

    /// Does the runs of one job that is not small.
    fn run_alone(
        &mut self,
        device: &Arc<Device>,
        plan: &Plan,
        runs: &[Run],
        inputs: &[u8],
        outputs: &mut [u8],
    ) -> Outcome {
        let (window, timeout) = (self.gpu.window(), self.gpu.timeout());
        for run in runs {
            let bytes = large::buffer_bytes(run, window);
            let share = device.budget.take(bytes, Duration::ZERO).or_else(|_| {
                self.idle.clear();
                device.budget.take(bytes, timeout)
            });
            let result =
                share.and_then(|_share| large::run(device, plan, run, inputs, outputs, window, timeout));
            match result {
                Ok(0) => {}
                Ok(trap) => return trapped(trap),
                Err(fault) => {
                    if fault.ends_device() {
                        self.gpu.abandon(device);
                    }
                    return fault.outcome();
                }
            }
        }
        Outcome::Output
    }
}

impl Backend for Wgpu {
    fn capabilities(&self) -> &Capabilities {
        self.gpu.capabilities()
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        let started = self.send(batch);
        self.receive(started, batch);
    }
}

impl Pipelined for Wgpu {
    fn start(&mut self, batch: &mut Batch) {
        let started = self.send(batch);
        self.started.push_back(started);
    }

    fn finish(&mut self, batch: &mut Batch) {
        if let Some(started) = self.started.pop_front() {
            self.receive(started, batch);
        }
    }
}

/// The outcome of a run with forbidden accesses.
fn trapped(trap: u32) -> Outcome {
    let reason = if trap & READ_OUTSIDE != 0 {
        "the kernel read outside of the case's input"
    } else {
        "the kernel wrote outside of the case's output"
    };
    Outcome::Failed { phase: Phase::Execute, reason: reason.into() }
}

/// Why the memory of a run does not match the tensors, if so.
fn misplaced(run: &Run, plan: &Plan, ends: (usize, usize)) -> Option<&'static str> {
    let [input, output] = plan.shape.bytes;
    let fits = |range: &std::ops::Range<usize>, bytes: u64, end: usize| {
        range.start.is_multiple_of(4)
            && range.end <= end
            && range.end.checked_sub(range.start).is_some_and(|held| held as u64 >= bytes)
    };
    if !fits(&run.input, input, ends.0) {
        Some("the input's memory is not the tensor's TotalTensorSizeInBytes, from a multiple of 4 on")
    } else if !fits(&run.output, output, ends.1) {
        Some("the output's memory is not the tensor's TotalTensorSizeInBytes, from a multiple of 4 on")
    } else {
        None
    }
}
