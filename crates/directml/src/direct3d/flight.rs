//! A flight: many runs of compiled operators in one command list, from upload to readback.
//!
//! The list copies the upload to two buffers on the device, initialises new operators, dispatches each run,
//! and copies both buffers back. If another flight initialises an operator, the device starts this one
//! afterwards. Runs write parts of one buffer that do not overlap, so they need no order.

use std::{mem, sync::Arc, time::Duration};

use dmlcts_backend::Run;
use dmlcts_model::{BindingOffsets, Phase};

use super::{
    device::{Compiled, Device},
    fault::FlightFault,
    initializing::{Initializing, Room},
    lane::{Lane, Submission},
    recording::Recording,
};
use crate::{
    arrival::Arrived,
    placement::{ArenaPart, place},
};

/// The sizes of arenas on the device are multiples of this.
const GRAIN: u64 = 256;
/// The maximum time that a device may still use memory after it was given up. A removed device stops at once.
const LAST: Duration = Duration::from_secs(1);

/// One run of a compiled operator.
pub(crate) struct Piece {
    /// The index of the run's job in its batch.
    pub(crate) job: usize,
    pub(crate) operator: Arc<Compiled>,
    pub(crate) input: ArenaPart,
    pub(crate) output: ArenaPart,
}

/// Runs that share a flight, with the sizes of their arenas on the device.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) pieces: Vec<Piece>,
    inputs: u64,
    outputs: u64,
}

/// Work in flight on a lane.
pub(crate) struct Flight {
    load: Load,
    /// `None` once the flight is over.
    lane: Option<Lane>,
    device: Arc<Device>,
    /// The initialisers, which the command list refers to and only this keeps alive.
    initializing: Vec<Initializing>,
    timeout: Duration,
}

impl Load {
    /// Adds a run if all runs stay within `most` bytes, or if it is the first one. `arenas` are the sizes of
    /// the batch's two arenas in bytes. Returns whether the run was added.
    pub(crate) fn push(
        &mut self,
        job: usize,
        operator: &Arc<Compiled>,
        binding: BindingOffsets,
        run: &Run,
        arenas: (usize, usize),
        most: u64,
    ) -> Result<bool, FlightFault> {
        let [input, output] = operator.alignments;
        let places =
            place(self.inputs, binding.input, input).zip(place(self.outputs, binding.output, output));
        let places = places.filter(|(input, output)| {
            let limit = u64::MAX / 4;
            *input < limit && *output < limit
        });
        let Some((input, output)) = places else {
            return Err(FlightFault::Impossible("a tensor lies beyond all memory"));
        };
        let parts =
            (ArenaPart::new(arenas.0, &run.input, input), ArenaPart::new(arenas.1, &run.output, output));
        let end = |part: &ArenaPart| {
            let length = (part.whole.end - part.tensor.start) as u64;
            (part.at + length).next_multiple_of(GRAIN)
        };
        let (inputs, outputs) = (end(&parts.0), end(&parts.1));
        if !self.pieces.is_empty() && inputs + outputs > most {
            return Ok(false);
        }
        (self.inputs, self.outputs) = (inputs, outputs);
        self.pieces.push(Piece { job, operator: Arc::clone(operator), input: parts.0, output: parts.1 });
        Ok(true)
    }

    /// Uploads, dispatches, and requests the readback.
    pub(crate) fn start(
        self,
        device: &Arc<Device>,
        inputs: &[u8],
        outputs: &[u8],
        timeout: Duration,
    ) -> Result<Flight, FlightFault> {
        let mut lane = device.lane()?;
        let (initializing, awaited) = match self.record(device, &mut lane, inputs, outputs) {
            Ok(recorded) => recorded,
            Err(fault) => {
                // Nothing is in flight on the lane.
                if lane.discard() {
                    device.give_back(lane);
                }
                return Err(fault);
            }
        };
        let mut flight =
            Flight { load: self, lane: Some(lane), device: Arc::clone(device), initializing, timeout };
        flight.submit(&awaited)?;
        Ok(flight)
    }

    /// Uploads, and records the command list. Returns the initialisers, which must be kept alive, and the
    /// submissions to wait for.
    fn record(
        &self,
        device: &Device,
        lane: &mut Lane,
        inputs: &[u8],
        outputs: &[u8],
    ) -> Result<(Vec<Initializing>, Vec<Submission>), FlightFault> {
        let mut room = Room(0);
        let (initializing, awaited) = self.initializing(device, &mut room)?;
        let temporary: Vec<_> = self
            .pieces
            .iter()
            .map(|piece| room.take(piece.operator.properties.TemporaryResourceSize))
            .collect();
        lane.reserve(self.inputs, self.outputs, room.0)?;
        let (upload_inputs, bytes) = (self.inputs as usize, self.inputs + self.outputs);
        lane.upload.write(bytes, |memory| {
            let (above, below) = memory.split_at_mut(upload_inputs);
            for piece in &self.pieces {
                for (part, arena, memory) in
                    [(&piece.input, inputs, &mut *above), (&piece.output, outputs, &mut *below)]
                {
                    memory[part.on_device(&part.whole)].copy_from_slice(&arena[part.whole.clone()]);
                }
            }
        })?;
        let descriptors: u32 = initializing
            .iter()
            .map(|initializing| initializing.descriptors)
            .chain(self.pieces.iter().map(|piece| piece.operator.properties.RequiredDescriptorCount))
            .fold(0, u32::saturating_add);
        let mut recording = Recording::new(device, lane, descriptors)?;
        recording.arrive(self.inputs, self.outputs);
        for initializing in &initializing {
            recording.initialize(initializing)?;
        }
        // A compiled operator is dispatched only after its initialiser has finished.
        recording.barrier();
        for (piece, temporary) in self.pieces.iter().zip(&temporary) {
            let (input, output) = (piece.input.bytes(), piece.output.bytes());
            recording.dispatch(&piece.operator, &input, &output, temporary)?;
        }
        recording.leave(self.inputs, self.outputs);
        Ok((initializing, awaited))
    }

    /// Makes initialisers for the new operators: one for all that do not own their input, and one for each
    /// that does, which is bound to its input. Also returns the submissions that initialise the other
    /// operators.
    fn initializing(
        &self,
        device: &Device,
        room: &mut Room,
    ) -> Result<(Vec<Initializing>, Vec<Submission>), FlightFault> {
        let mut together: Vec<Arc<Compiled>> = Vec::new();
        let (mut all, mut awaited) = (Vec::new(), Vec::new());
        for piece in self.first_of_each() {
            let operator = Arc::clone(&piece.operator);
            match operator.claim()? {
                Some(submission) if awaited.contains(&submission) => {}
                Some(submission) => awaited.push(submission),
                None if operator.owns_input => {
                    all.push(Initializing::new(device, vec![operator], Some(piece.input.bytes()), room)?);
                }
                None => together.push(operator),
            }
        }
        if !together.is_empty() {
            all.push(Initializing::new(device, together, None, room)?);
        }
        Ok((all, awaited))
    }

    /// One run of each operator. An operator may have several runs, and several jobs of a batch may have one
    /// desc.
    fn first_of_each(&self) -> Vec<&Piece> {
        let mut pieces: Vec<&Piece> = self.pieces.iter().collect();
        pieces.sort_by_key(|piece| Arc::as_ptr(&piece.operator));
        pieces.dedup_by(|one, other| Arc::ptr_eq(&one.operator, &other.operator));
        pieces
    }
}

impl Flight {
    /// Submits the flight. The device starts it after the awaited submissions. The device may work on it even
    /// if this fails.
    fn submit(&mut self, awaited: &[Submission]) -> Result<(), FlightFault> {
        let Some(lane) = &mut self.lane else { return Ok(()) };
        let submission = lane.submit(awaited)?;
        for operator in self.initializing.iter().flat_map(|initializing| &initializing.operators) {
            operator.initialized(submission.clone());
        }
        Ok(())
    }

    /// Waits until the flight is over, and takes the readback. A device that does not finish in time is given
    /// up.
    pub(crate) fn finish(mut self) -> Result<Arrived, FlightFault> {
        let mut lane = self.land()?;
        self.device.removal(Phase::Execute)?;
        let load = mem::take(&mut self.load);
        let inputs = load.inputs as usize;
        let (inputs, outputs) = lane.readback.read(load.inputs + load.outputs, |memory| {
            let (above, below) = memory.split_at(inputs);
            (above.to_vec(), below.to_vec())
        })?;
        self.device.give_back(lane);
        // Reports the debug messages about this flight, before messages about later work arrive.
        drop(self.device.layers.listen());
        let pieces = load.pieces.into_iter().map(|piece| (piece.job, [piece.input, piece.output])).collect();
        Ok(Arrived { pieces, inputs, outputs })
    }

    /// Waits until the lane has nothing in flight. If the wait fails, the fault is the device's own reason if
    /// it was removed. Otherwise the device took too long and is given up.
    fn land(&mut self) -> Result<Lane, FlightFault> {
        let Some(lane) = self.lane.take() else { return Err(FlightFault::Late) };
        // If another flight has given up the device, the full timeout is not spent again.
        let timeout = if self.device.is_late() { self.timeout.min(LAST) } else { self.timeout };
        match lane.wait(timeout) {
            Ok(true) => Ok(lane),
            ended => {
                let fault = self.device.removal(Phase::Execute).err().or(ended.err()).unwrap_or_else(|| {
                    self.device.give_up();
                    FlightFault::Late
                });
                if lane.wait(LAST) != Ok(true) {
                    self.keep_for_ever(lane);
                }
                Err(fault)
            }
        }
    }

    /// Leaks everything that the device may still access, and the device itself, because its end of use is
    /// unknown. This happens only if a removed device continues, or if the wait itself fails. If Direct3D has
    /// only one device for each process, no other can be opened.
    fn keep_for_ever(&mut self, lane: Lane) {
        let pieces = mem::take(&mut self.load.pieces);
        let initializing = mem::take(&mut self.initializing);
        mem::forget((lane, pieces, initializing, Arc::clone(&self.device)));
    }

    /// The lane, until the flight is over.
    #[cfg(test)]
    pub(super) fn lane(&self) -> Option<&Lane> {
        self.lane.as_ref()
    }

    /// The device of the flight.
    pub(crate) fn device(&self) -> Arc<Device> {
        Arc::clone(&self.device)
    }

    /// The jobs of the flight's runs.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = usize> {
        self.load.pieces.iter().map(|piece| piece.job)
    }
}

/// Waits, because memory in use by a device must not be freed.
impl Drop for Flight {
    fn drop(&mut self) {
        if self.lane.is_some() {
            // The next user of the device detects the fault again.
            let _ = self.land();
        }
    }
}
