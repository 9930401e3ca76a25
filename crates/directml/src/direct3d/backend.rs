//! The backend: splits a batch, runs it on the device, and writes the outcome of each job.
//!
//! The errors of a device that is being removed say nothing about single cases, and neither do the results
//! that were in flight. Each of those jobs runs again alone, and only that outcome counts.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use dmlcts_backend::{Backend, Batch, Capabilities, Job, Pipelined};
use dmlcts_model::{FeatureLevel, Outcome, Phase};

use super::{
    DirectMl,
    device::{Compiled, Device, Operators},
    fault::FlightFault,
    flight::{Flight, Load},
};
use crate::{arrival::Arrived, gate::SharedAccess, loss::Loss, marshal::Marshalled};

/// The maximum size of one flight's arenas on the device, in bytes. A job that needs more runs alone.
const LOAD_BYTES: u64 = 32 << 20;
/// The maximum size of a run that shares a flight, in bytes.
const SHARING_BYTES: usize = 4 << 20;

/// A backend on a device. All backends of one [`DirectMl`] share it.
pub struct DirectMlBackend {
    directml: Arc<DirectMl>,
    /// The batches that are started and not finished, the oldest first. `None` if nothing was started,
    /// because another backend waited for exclusive access or the device was removed.
    started: VecDeque<Option<Started>>,
    /// Shared access to the device while a batch is in flight. Flights and other holders of the device are
    /// dropped before it.
    presence: Option<SharedAccess<Arc<Device>>>,
    lost: Option<String>,
}

/// The flights of a batch that were started, and the jobs that are left.
#[derive(Default)]
struct Started {
    flights: Vec<FlightState>,
    /// Jobs that run alone: they are large, or a flight that they shared failed.
    alone: Vec<usize>,
    /// The loss of the device, if it was lost.
    lost: Option<Lost>,
}

/// The loss of a device with jobs of a batch.
struct Lost {
    fault: FlightFault,
    /// The first of these jobs.
    job: usize,
    loss: Loss,
}

enum FlightState {
    UnderWay(Box<Flight>),
    Over(Arrived),
}

impl DirectMlBackend {
    pub(super) fn new(directml: Arc<DirectMl>) -> Self {
        Self { directml, started: VecDeque::new(), presence: None, lost: None }
    }

    /// Waits for the started flights, takes their readbacks, and runs the remaining jobs alone.
    fn receive(&mut self, mut started: Started, batch: &mut Batch) {
        started.land();
        if started.alone.is_empty() {
            self.leave();
        } else {
            self.leave_at_once();
        }
        started.alone.sort_unstable();
        started.alone.dedup();
        let Batch { inputs, outputs, .. } = batch;
        let is_done = |job: usize| started.alone.binary_search(&job).is_err();
        let mut done = Vec::new();
        for state in &started.flights {
            if let FlightState::Over(arrived) = state {
                arrived.unload(inputs, outputs, is_done);
                done.extend(arrived.jobs().filter(|job| is_done(*job)));
            }
        }
        drop(started.flights);
        let (jobs, _, _) = batch.parts();
        for job in done {
            jobs[job].outcome = Outcome::Output;
        }
        let mut is_lost_again = false;
        for number in started.alone {
            let (outcome, ends_device) = self.run_alone(batch, number);
            is_lost_again |= ends_device;
            batch.parts().0[number].outcome = outcome;
        }
        // A loss that does not recur must still be reported. The first affected job reports it. When the
        // runner repeats that job, it finds that the failure is intermittent.
        if let Some(Lost { fault, job, loss }) = started.lost
            && loss.settle(is_lost_again)
        {
            let outcome = match fault.outcome() {
                Outcome::Failed { phase, reason } => {
                    let reason = format!("{reason}; it was not when each case that was under way ran alone");
                    Outcome::Failed { phase, reason: reason.into() }
                }
                outcome => outcome,
            };
            batch.parts().0[job].outcome = outcome;
        }
    }

    /// Runs one job with exclusive access, so that a removal of the device is its fault. Also returns whether
    /// it ended the device.
    fn run_alone(&mut self, batch: &mut Batch, number: usize) -> (Outcome, bool) {
        let directml = Arc::clone(&self.directml);
        let mut alone = directml.gate.alone();
        let device = match directml.renewed(&mut alone) {
            Ok(device) => device,
            Err(fault) => return (self.give_up(&fault), true),
        };
        let ended = attempt(&device, directml.options.timeout, batch, number).and_then(|outcome| {
            // A device may be removed although no call has returned an error.
            device.removal(Phase::Execute).map(|()| outcome)
        });
        match ended {
            Ok(outcome) => (outcome, false),
            Err(fault) => {
                let fault = cause(&device, fault);
                (fault.outcome(), fault.ends_device())
            }
        }
    }

    /// Takes shared access to the device, and replaces it if it was removed.
    fn enter(&mut self) -> Result<Arc<Device>, FlightFault> {
        let directml = Arc::clone(&self.directml);
        loop {
            let presence = self.presence.get_or_insert_with(|| directml.gate.enter());
            if let Some(device) = usable(presence) {
                return Ok(device);
            }
            self.leave_at_once();
            directml.renewed(&mut directml.gate.alone())?;
        }
    }

    /// Releases shared access, if this backend has nothing in flight.
    fn leave(&mut self) {
        if self.started.iter().flatten().all(|started| !started.is_under_way()) {
            self.presence = None;
        }
    }

    /// Waits for everything in flight and releases shared access. A backend must do so before it waits for
    /// exclusive access.
    fn leave_at_once(&mut self) {
        for started in self.started.iter_mut().flatten() {
            started.land();
        }
        self.presence = None;
    }

    /// Records that no device is left. Returns the outcome of a job.
    fn give_up(&mut self, fault: &FlightFault) -> Outcome {
        if let FlightFault::Lost(reason) = fault {
            self.lost = Some(reason.clone());
        }
        fault.outcome()
    }
}

/// The device of a shared access, if it was not removed.
fn usable(presence: &SharedAccess<Arc<Device>>) -> Option<Arc<Device>> {
    presence.device().filter(|device| device.removal(Phase::Create).is_ok()).cloned()
}

impl Started {
    /// Starts the jobs of a batch that share flights.
    fn send(device: &Arc<Device>, timeout: Duration, batch: &mut Batch) -> Self {
        let mut started = Self::default();
        let (jobs, inputs, outputs) = batch.parts();
        let arenas = (inputs.len(), outputs.len());
        let mut own = Operators::new();
        let mut load = Load::default();
        let mut loads = Vec::new();
        let mut removal = None;
        for (number, job) in jobs.iter_mut().enumerate() {
            let operators = match create(device, job, arenas, &mut own) {
                Ok(Ok(operators)) => operators,
                Ok(Err(outcome)) => {
                    job.outcome = outcome;
                    continue;
                }
                Err(fault) => {
                    removal = Some((number, fault));
                    break;
                }
            };
            if job.runs.iter().any(|run| run.input.len().saturating_add(run.output.len()) > SHARING_BYTES) {
                started.alone.push(number);
                continue;
            }
            for (run, operator) in job.runs.iter().zip(&operators) {
                let is_loaded =
                    load.push(number, operator, job.binding, run, arenas, LOAD_BYTES).and_then(|fits| {
                        if fits {
                            return Ok(true);
                        }
                        loads.push(std::mem::take(&mut load));
                        load.push(number, operator, job.binding, run, arenas, LOAD_BYTES)
                    });
                if is_loaded.is_err() {
                    started.alone.push(number);
                    break;
                }
            }
        }
        // Some answers may come from a device that had been removed already, so none of them counts.
        let removal = removal.or_else(|| device.removal(Phase::Create).err().map(|fault| (0, fault)));
        if let Some((number, fault)) = removal {
            started.lose(&[number], fault, device);
            started.alone = (0..jobs.len()).collect();
            return started;
        }
        loads.push(load);
        for load in loads.into_iter().filter(|load| !load.pieces.is_empty()) {
            let jobs: Vec<usize> = load.pieces.iter().map(|piece| piece.job).collect();
            match load.start(device, inputs, outputs, timeout) {
                Ok(flight) => started.flights.push(FlightState::UnderWay(Box::new(flight))),
                Err(fault) => started.lose(&jobs, fault, device),
            }
        }
        device.share(own);
        started
    }

    fn is_under_way(&self) -> bool {
        self.flights.iter().any(|state| matches!(state, FlightState::UnderWay(_)))
    }

    /// Marks jobs to run alone, since something that they shared failed.
    fn lose(&mut self, jobs: &[usize], fault: FlightFault, device: &Device) {
        self.alone.extend_from_slice(jobs);
        let fault = cause(device, fault);
        if let Some(job) = jobs.first().filter(|_| fault.ends_device() && self.lost.is_none()) {
            self.lost = Some(Lost { fault, job: *job, loss: Loss::new(&device.losses) });
        }
    }

    /// Waits until nothing is in flight.
    fn land(&mut self) {
        for state in std::mem::take(&mut self.flights) {
            match state {
                FlightState::UnderWay(flight) => {
                    let jobs: Vec<usize> = flight.jobs().collect();
                    let device = flight.device();
                    match flight.finish() {
                        Ok(arrived) => self.flights.push(FlightState::Over(arrived)),
                        Err(fault) => self.lose(&jobs, fault, &device),
                    }
                }
                over @ FlightState::Over(_) => self.flights.push(over),
            }
        }
    }
}

impl Backend for DirectMlBackend {
    fn capabilities(&self) -> &Capabilities {
        self.directml.capabilities()
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        match self.enter() {
            Ok(device) => {
                let started = Started::send(&device, self.directml.options.timeout, batch);
                drop(device);
                self.receive(started, batch);
            }
            Err(fault) => {
                let outcome = self.give_up(&fault);
                for job in batch.parts().0 {
                    job.outcome = outcome.clone();
                }
            }
        }
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }
}

impl Pipelined for DirectMlBackend {
    fn start(&mut self, batch: &mut Batch) {
        let gate = &self.directml.gate;
        if self.presence.is_none() {
            self.presence = gate.try_enter();
        }
        // If another backend waits for exclusive access, this one starts nothing new. It does not wait for
        // exclusive access to end while its own work is in flight.
        let device = self.presence.as_ref().filter(|_| !gate.is_wanted()).and_then(usable);
        let timeout = self.directml.options.timeout;
        let started = device.map(|device| Started::send(&device, timeout, batch));
        self.started.push_back(started);
        self.leave();
    }

    fn finish(&mut self, batch: &mut Batch) {
        match self.started.pop_front() {
            Some(Some(started)) => self.receive(started, batch),
            _ => self.run(batch),
        }
    }
}

/// Creates a job's operator and, for each of its runs, compiles it. The inner error is the outcome of the
/// job. A fault is not an outcome yet, since another job may have removed the device.
fn create(
    device: &Device,
    job: &Job,
    arenas: (usize, usize),
    own: &mut Operators,
) -> Result<Result<Vec<Arc<Compiled>>, Outcome>, FlightFault> {
    let desc = match Marshalled::new(&job.desc) {
        Ok(desc) => desc,
        Err(reason) => return Ok(Err(Outcome::Unsupported(reason.to_string().into()))),
    };
    let fits = |run: &dmlcts_backend::Run| run.input.end <= arenas.0 && run.output.end <= arenas.1;
    if !job.runs.iter().all(fits) {
        let reason = "the memory of a run is not in the batch".into();
        return Ok(Err(Outcome::Failed { phase: Phase::Bind, reason }));
    }
    let created = if job.runs.is_empty() {
        device.create(&desc).map(|_| Err(Outcome::Accepted))
    } else {
        job.runs.iter().map(|_| device.compile(&desc, own)).collect::<Result<_, _>>().map(Ok)
    };
    created.or_else(|fault| if fault.ends_device() { Err(fault) } else { Ok(Err(fault.outcome())) })
}

/// Does all runs of one job, one after the other.
fn attempt(
    device: &Arc<Device>,
    timeout: Duration,
    batch: &mut Batch,
    number: usize,
) -> Result<Outcome, FlightFault> {
    let job = batch.jobs()[number].clone();
    let Batch { inputs, outputs, .. } = batch;
    let arenas = (inputs.len(), outputs.len());
    let mut own = Operators::new();
    let operators = match create(device, &job, arenas, &mut own)? {
        Ok(operators) => operators,
        Err(outcome) => return Ok(outcome),
    };
    for (run, operator) in job.runs.iter().zip(&operators) {
        let mut load = Load::default();
        load.push(number, operator, job.binding, run, arenas, u64::MAX)?;
        let arrived = load.start(device, inputs, outputs, timeout)?.finish()?;
        arrived.unload(inputs, outputs, |_| true);
    }
    device.share(own);
    Ok(Outcome::Output)
}

/// The cause of a fault. If the device was removed, this is the device's own reason, which is more precise
/// than the error of the call.
fn cause(device: &Device, fault: FlightFault) -> FlightFault {
    match (device.removal(fault.phase()), fault) {
        (Ok(()), fault) => fault,
        (
            Err(FlightFault::Removed { phase, reason, said: None }),
            FlightFault::Failed { said, .. } | FlightFault::Removed { said, .. },
        ) => FlightFault::Removed { phase, reason, said },
        (Err(removal), _) => removal,
    }
}
