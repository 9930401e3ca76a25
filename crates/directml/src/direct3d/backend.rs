//! The backend: takes a batch apart, has the device run it, and writes down what became of each job.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{FeatureLevel, Outcome, Phase};

use super::{
    DirectMl, TIMEOUT,
    device::{Compiled, Device, Operators},
    fault::Fault,
    flight::{Flight, Load},
};
use crate::{arrival::Arrived, gate::Together, marshal::Marshalled};

/// Arenas of one flight on the device; a job that has more runs alone.
const LOAD_BYTES: u64 = 32 << 20;
/// The most bytes of a run that shares its flight.
const SHARING_BYTES: usize = 4 << 20;

/// A backend on a device. All those of one [`DirectMl`] share it.
pub struct DirectMlBackend {
    directml: Arc<DirectMl>,
    /// The batches that are started and not finished, the oldest first.
    started: VecDeque<Started>,
    /// While any of them is under way.
    presence: Option<Together>,
    lost: Option<String>,
}

/// What was started of a batch, and what is left to do.
#[derive(Default)]
struct Started {
    flights: Vec<State>,
    /// Jobs that run alone: they are large, or what they shared did not arrive.
    alone: Vec<usize>,
    /// How the device was lost, if it was.
    loss: Option<Loss>,
    /// Whether nothing was done yet, since somebody wanted to be alone on the device.
    is_deferred: bool,
}

/// A device was lost under jobs of a batch.
struct Loss {
    fault: Fault,
    /// The first of them.
    job: usize,
    /// Whether it was said of any job that it lost this device.
    is_told: Arc<AtomicBool>,
}

enum State {
    UnderWay(Box<Flight>),
    Over(Arrived),
}

impl DirectMlBackend {
    pub(super) fn new(directml: Arc<DirectMl>) -> Self {
        Self { directml, started: VecDeque::new(), presence: None, lost: None }
    }

    /// Starts on a batch, as far as its jobs share flights.
    fn send(&mut self, batch: &mut Batch) -> Started {
        let mut started = Started::default();
        let device = match self.device() {
            Ok(device) => device,
            Err(fault) => {
                let (jobs, _, _) = batch.parts();
                for job in jobs {
                    job.outcome = fault.outcome();
                }
                return started;
            }
        };
        let (jobs, inputs, outputs) = batch.parts();
        let arenas = (inputs.len(), outputs.len());
        let mut own = Operators::new();
        let mut load = Load::default();
        let mut loads = Vec::new();
        for (number, job) in jobs.iter_mut().enumerate() {
            let operators = match create(&device, job, arenas, &mut own) {
                Ok(Ok(operators)) => operators,
                Ok(Err(outcome)) => {
                    job.outcome = outcome;
                    continue;
                }
                Err(fault) => {
                    started.lose(&[number], fault, &device.is_told);
                    continue;
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
        loads.push(load);
        for load in loads.into_iter().filter(|load| !load.pieces.is_empty()) {
            let jobs: Vec<usize> = load.pieces.iter().map(|piece| piece.job).collect();
            match load.start(&device, inputs, outputs, TIMEOUT) {
                Ok(flight) => started.flights.push(State::UnderWay(Box::new(flight))),
                Err(fault) => started.lose(&jobs, fault, &device.is_told),
            }
        }
        device.share(own);
        started
    }

    /// Waits for what was started, takes what came back, and does alone what is to be done alone.
    fn receive(&mut self, mut started: Started, batch: &mut Batch) {
        started.land();
        if started.alone.is_empty() {
            self.leave();
        } else {
            // Whoever wants to be alone must not be on the device with others: what they started ends first.
            for other in &mut self.started {
                other.land();
            }
            self.presence = None;
        }
        started.alone.sort_unstable();
        started.alone.dedup();
        let Batch { inputs, outputs, .. } = batch;
        let is_done = |job: usize| started.alone.binary_search(&job).is_err();
        let mut done = Vec::new();
        for state in &started.flights {
            if let State::Over(arrived) = state {
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
        // A loss that did not come again is not passed over: the first job that it met tells of it, and whoever asks for
        // that job again finds that it comes and goes.
        if let Some(Loss { fault, job, is_told }) = started.loss
            && !is_told.swap(true, Ordering::Relaxed)
            && !is_lost_again
            && let Outcome::Failed { phase, reason } = fault.outcome()
        {
            let reason = format!("{reason}; it was not when each case that was under way ran alone").into();
            batch.parts().0[job].outcome = Outcome::Failed { phase, reason };
        }
    }

    /// Does one job while nobody else is on the device, so that what becomes of the device is its doing; and says whether
    /// that was the end of the device.
    fn run_alone(&mut self, batch: &mut Batch, number: usize) -> (Outcome, bool) {
        let directml = Arc::clone(&self.directml);
        let _alone = directml.gate.alone();
        let device = match self.device() {
            Ok(device) => device,
            Err(fault) => return (fault.outcome(), true),
        };
        let ended = attempt(&device, batch, number).and_then(|outcome| {
            // A device may be gone without any call that says so.
            device.removal(Phase::Execute).map(|()| outcome)
        });
        match ended {
            Ok(outcome) => (outcome, false),
            Err(fault) if fault.ends_device() => (reason(&device, &fault), true),
            Err(fault) => (fault.outcome(), false),
        }
    }

    /// Lets others be alone on the device, where nothing of this backend is under way on it.
    fn leave(&mut self) {
        if self.started.iter().all(|started| !started.is_under_way()) {
            self.presence = None;
        }
    }

    /// The device, unless none could be had before.
    fn device(&mut self) -> Result<Arc<Device>, Fault> {
        if let Some(reason) = &self.lost {
            return Err(Fault::Lost(reason.clone()));
        }
        if self.directml.is_lost() {
            // Their flights hold on to the device that is gone.
            for started in &mut self.started {
                started.land();
            }
        }
        self.directml.device().inspect_err(|fault| {
            if let Fault::Lost(reason) = fault {
                self.lost = Some(reason.clone());
            }
        })
    }
}

impl Started {
    fn is_under_way(&self) -> bool {
        self.flights.iter().any(|state| matches!(state, State::UnderWay(_)))
    }

    /// Notes that jobs are to be done alone, since something that they shared failed.
    fn lose(&mut self, jobs: &[usize], fault: Fault, is_told: &Arc<AtomicBool>) {
        self.alone.extend_from_slice(jobs);
        if let Some(job) = jobs.first().filter(|_| fault.ends_device() && self.loss.is_none()) {
            self.loss = Some(Loss { fault, job: *job, is_told: Arc::clone(is_told) });
        }
    }

    /// Waits until nothing is under way any more.
    fn land(&mut self) {
        for state in std::mem::take(&mut self.flights) {
            match state {
                State::UnderWay(flight) => {
                    let jobs: Vec<usize> = flight.jobs().collect();
                    let is_told = Arc::clone(flight.is_told());
                    match flight.finish() {
                        Ok(arrived) => self.flights.push(State::Over(arrived)),
                        Err(fault) => self.lose(&jobs, fault, &is_told),
                    }
                }
                over @ State::Over(_) => self.flights.push(over),
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
        if self.presence.is_none() {
            self.presence = Some(self.directml.gate.enter());
        }
        let started = self.send(batch);
        self.receive(started, batch);
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    fn start(&mut self, batch: &mut Batch) {
        let gate = &self.directml.gate;
        if self.presence.is_none() {
            self.presence = gate.try_enter();
        }
        // Whoever wants to be alone is not kept waiting, nor waited for while something is under way.
        let is_deferred = self.presence.is_none() || gate.is_wanted();
        let started =
            if is_deferred { Started { is_deferred, ..Started::default() } } else { self.send(batch) };
        self.started.push_back(started);
        self.leave();
    }

    fn finish(&mut self, batch: &mut Batch) {
        match self.started.pop_front() {
            Some(started) if !started.is_deferred => self.receive(started, batch),
            _ => self.run(batch),
        }
    }
}

/// Creates a job's operator and, where it has runs, compiles it for each; or says what became of the job. A fault says
/// nothing of it yet, since the device may be gone for another's sake.
fn create(
    device: &Device,
    job: &Job,
    arenas: (usize, usize),
    own: &mut Operators,
) -> Result<Result<Vec<Arc<Compiled>>, Outcome>, Fault> {
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

/// All of one job, one run after the other.
fn attempt(device: &Arc<Device>, batch: &mut Batch, number: usize) -> Result<Outcome, Fault> {
    let Batch { inputs, outputs, .. } = batch;
    let arenas = (inputs.len(), outputs.len());
    let (mut inputs, mut outputs) = (std::mem::take(inputs), std::mem::take(outputs));
    let (jobs, _, _) = batch.parts();
    let mut act = |job: &Job| {
        let mut own = Operators::new();
        let operators = match create(device, job, arenas, &mut own)? {
            Ok(operators) => operators,
            Err(outcome) => return Ok(outcome),
        };
        for (run, operator) in job.runs.iter().zip(&operators) {
            let mut load = Load::default();
            load.push(number, operator, job.binding, run, arenas, u64::MAX)?;
            load.start(device, &inputs, &outputs, TIMEOUT)?.finish()?.unload(
                &mut inputs,
                &mut outputs,
                |_| true,
            );
        }
        device.share(own);
        Ok(Outcome::Output)
    };
    let outcome = jobs.get(number).map_or(Ok(Outcome::Lost), &mut act);
    (batch.inputs, batch.outputs) = (inputs, outputs);
    outcome
}

/// What became of a job that ended its device: what the device says of it, where it says more than the call that noticed.
fn reason(device: &Device, fault: &Fault) -> Outcome {
    match (fault, device.removal(Phase::Execute)) {
        (Fault::Removed { phase, .. }, Err(Fault::Removed { reason, said, .. })) => {
            Fault::Removed { phase: *phase, reason, said }.outcome()
        }
        _ => fault.outcome(),
    }
}
