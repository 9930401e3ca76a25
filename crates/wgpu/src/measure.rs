//! Measures the time of the device alone: repeated dispatches over memory that is already uploaded, and
//! copies between buffers for comparison.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{Batch, Refusal, Run};
use dmlcts_model::Desc;
use wgpu::CommandEncoder;

use crate::{Gpu, create::create, device::Device, large};

/// The minimum time of a measurement.
const LONG_ENOUGH: Duration = Duration::from_millis(200);

impl Gpu {
    /// The time of a copy of this many bytes between two buffers.
    pub fn time_copy(&self, bytes: u64) -> Result<Duration, String> {
        let device = self.device();
        let zeros = vec![0; usize::try_from(bytes).map_err(|error| error.to_string())?];
        let buffers = device.scoped(|| [0, 1].map(|_| large::storage(&device, "copy", &zeros)));
        let [from, to] = buffers.map_err(|fault| fault.to_string())?;
        repeat(&device, |encoder| encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes))
    }

    /// The time of the kernel for large cases on one desc of any size.
    pub fn time_large(&self, desc: &Desc) -> Result<Duration, String> {
        let device = self.device();
        let plan = created(desc)?;
        let [input, output] = plan.shape.bytes.map(|bytes| bytes as usize);
        if input.max(output) > self.window() {
            return Err("a tensor is larger than a binding".to_owned());
        }
        let (inputs, outputs) = (vec![1; input], vec![0; output]);
        let run = Run { input: 0..input, output: 0..output };
        let prepared = device.scoped(|| large::whole(&device, &plan, &run, &inputs, &outputs));
        let prepared = prepared.map_err(|fault| fault.to_string())?;
        repeat(&device, |encoder| prepared.encode(&device, encoder))
    }

    /// The time of the dispatches for a batch of small cases.
    pub fn time_batch(self: &Arc<Self>, batch: &mut Batch) -> Result<Duration, String> {
        let device = self.device();
        let mut taken = self.backend().take(&device, batch);
        let (_, inputs, outputs) = batch.parts();
        let uploaded = device.scoped(|| {
            let flights = taken.flights.iter_mut().map(|flight| {
                let (from, to) = (flight.segment.inputs.clone(), flight.segment.outputs.clone());
                flight.upload(&device, &inputs[from], &outputs[to], self.timeout())
            });
            flights.collect::<Result<Vec<_>, _>>()
        });
        let uploaded = uploaded.and_then(|uploaded| uploaded).map_err(|fault| fault.to_string())?;
        repeat(&device, |encoder| uploaded.iter().for_each(|uploaded| uploaded.encode(&device, encoder)))
    }
}

fn created(desc: &Desc) -> Result<crate::plan::Plan, String> {
    create(desc).map_err(|refusal| match refusal {
        Refusal::Invalid(reason)
        | Refusal::Unsupported(reason)
        | Refusal::Other(_, reason)
        | Refusal::Failed(reason) => reason.into_owned(),
    })
}

/// The time of one repetition. Repeats the work until the total is long enough to measure.
fn repeat(device: &Device, encode: impl Fn(&mut CommandEncoder)) -> Result<Duration, String> {
    let timed = |times: u32| {
        let started = Instant::now();
        let submission = device.scoped(|| device.submit(|encoder| (0..times).for_each(|_| encode(encoder))));
        let waited = submission.and_then(|submission| device.wait(&submission, Duration::from_secs(120)));
        waited.map(|()| started.elapsed()).map_err(|fault| fault.to_string())
    };
    // The first round uploads data and compiles kernels.
    timed(1)?;
    let mut times = 1;
    loop {
        let elapsed = timed(times)?;
        if elapsed >= LONG_ENOUGH || times >= 1 << 14 {
            // The best of three, because other load on the machine only adds time.
            let best = elapsed.min(timed(times)?).min(timed(times)?);
            return Ok(best / times);
        }
        times *= 2;
    }
}
