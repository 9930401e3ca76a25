//! An open device: its queue, its kernels, and its faults.
//!
//! wgpu reports errors in four ways: by scopes around calls, by a handler for errors outside scopes (the
//! default one panics), by a callback for a lost device, and by the result of mapping a buffer. All of them
//! become a [`BatchFault`] here. After a device is lost, writes and submissions fail silently, so only mapped
//! data counts as an answer.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dmlcts_model::{ErrorCode, Outcome, Phase};
use wgpu::{BufferUsages, ErrorFilter, PollError, PollType, SubmissionIndex};

use crate::{
    budget::Budget,
    kernels::{Kernels, Texts},
};

/// Why a batch failed, with the driver's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BatchFault {
    #[error("a validation error: {0}")]
    Validation(String),
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    #[error("an internal error: {0}")]
    Internal(String),
    #[error("the device was lost: {0}")]
    Lost(String),
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    #[error("the output cannot be read back: {0}")]
    Map(String),
}

impl BatchFault {
    /// Whether the device is no longer usable.
    pub(crate) fn ends_device(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::TimedOut(_) | Self::Map(_))
    }

    /// The outcome of a case with this fault.
    pub(crate) fn outcome(&self) -> Outcome {
        let reason = Cow::Owned(self.to_string());
        match self {
            Self::OutOfMemory(_) => {
                Outcome::Rejected { phase: Phase::Bind, code: ErrorCode::OUT_OF_MEMORY, reason }
            }
            Self::TimedOut(_) => Outcome::TimedOut,
            Self::Map(_) => Outcome::Failed { phase: Phase::ReadBack, reason },
            Self::Validation(_) | Self::Internal(_) | Self::Lost(_) => {
                Outcome::Failed { phase: Phase::Execute, reason }
            }
        }
    }
}

/// A device and its kernels, shared by all threads. Submissions of all threads go to one queue.
pub(crate) struct Device {
    pub(crate) handle: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: wgpu::Limits,
    pub(crate) kernels: Kernels,
    /// The memory budget of its buffers. A replacement device shares it with the old device.
    pub(crate) budget: Arc<Budget>,
    /// Errors outside scopes, and the reason for a loss.
    noted: Arc<Noted>,
}

#[derive(Default)]
struct Noted {
    uncaught: Mutex<Option<BatchFault>>,
    lost: Mutex<Option<String>>,
}

impl Device {
    /// Opens a device with all limits that the adapter offers.
    pub(crate) fn open(adapter: &wgpu::Adapter, texts: &Texts, budget: Arc<Budget>) -> Result<Self, String> {
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("dmlcts"),
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| error.to_string())?;
        let noted = Arc::new(Noted::default());
        let own = Arc::clone(&noted);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let fault = fault_of(&error);
            own.uncaught.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        }));
        let own = Arc::clone(&noted);
        device.set_device_lost_callback(move |reason, message| {
            let words = format!("{reason:?}: {message}");
            own.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(words);
        });
        let lanes = adapter.get_info().subgroup_min_size.clamp(8, 32);
        let (kernels, fault) = scoped(&device, || Kernels::new(&device, texts, lanes));
        if let Some(fault) = fault {
            return Err(fault.to_string());
        }
        Ok(Self { handle: device, queue, limits, kernels, budget, noted })
    }

    /// A buffer of this size, whose content is not set.
    pub(crate) fn buffer(&self, label: &str, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor =
            wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        self.handle.create_buffer(&descriptor)
    }

    /// Submits the commands that `record` records.
    pub(crate) fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> SubmissionIndex {
        let mut encoder = self.handle.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        record(&mut encoder);
        self.queue.submit([encoder.finish()])
    }

    /// Does work that uses the device. Returns its result, or the gravest error that it caused.
    pub(crate) fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T, BatchFault> {
        let (result, mut fault) = scoped(&self.handle, work);
        if fault.is_some() {
            // An apparent mistake of the caller may come from a loss, which is only reported by polling.
            let _ = self.handle.poll(PollType::Poll);
        }
        if let Some(reason) = self.lost() {
            fault = Some(BatchFault::Lost(reason));
        }
        let fault =
            fault.or_else(|| self.noted.uncaught.lock().unwrap_or_else(PoisonError::into_inner).take());
        fault.map_or(Ok(result), Err)
    }

    /// Waits until a submission is done. A timeout of zero has passed, however fast the device is.
    pub(crate) fn wait(&self, submission: &SubmissionIndex, timeout: Duration) -> Result<(), BatchFault> {
        if timeout.is_zero() {
            return Err(BatchFault::TimedOut(timeout));
        }
        let wait = PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(timeout) };
        match self.handle.poll(wait) {
            Ok(_) => Ok(()),
            Err(PollError::Timeout) => Err(BatchFault::TimedOut(timeout)),
            Err(error) => {
                Err(self.lost().map_or_else(|| BatchFault::Internal(error.to_string()), BatchFault::Lost))
            }
        }
    }

    /// Why the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<String> {
        self.noted.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Does work with a scope for each kind of error. Returns its result, and the gravest error that it caused.
fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<BatchFault>) {
    let scopes = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter));
    let result = work();
    let mut fault = None;
    // The innermost scope is popped first.
    for scope in scopes.into_iter().rev() {
        if let Some(error) = pollster::block_on(scope.pop()) {
            fault = Some(fault_of(&error));
        }
    }
    (result, fault)
}

fn fault_of(error: &wgpu::Error) -> BatchFault {
    match error {
        wgpu::Error::OutOfMemory { source } => BatchFault::OutOfMemory(with_causes(source.as_ref())),
        wgpu::Error::Validation { description, .. } => BatchFault::Validation(description.clone()),
        wgpu::Error::Internal { description, .. } => BatchFault::Internal(description.clone()),
    }
}

/// An error with its causes.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{error::Error, io};

    use super::*;

    fn source() -> Box<dyn Error + Send + Sync> {
        io::Error::other(io::Error::other("the heap is full")).into()
    }

    #[test]
    fn each_error_of_the_driver_is_an_outcome_in_its_words() {
        let description = || "in the driver's words".to_owned();
        let told = [
            wgpu::Error::OutOfMemory { source: source() },
            wgpu::Error::Internal { source: source(), description: description() },
            wgpu::Error::Validation { source: source(), description: description() },
        ];
        let faults = told.iter().map(fault_of).chain([
            BatchFault::Lost("Unknown: it is gone".to_owned()),
            BatchFault::TimedOut(Duration::from_secs(60)),
            BatchFault::Map("it is not mapped".to_owned()),
        ]);
        let outcomes: Vec<String> = faults
            .map(|fault| format!("{:?}, ends the device: {}", fault.outcome(), fault.ends_device()))
            .collect();
        insta::assert_snapshot!(outcomes.join("\n"));
    }

    #[test]
    fn an_error_is_told_with_what_caused_it() {
        let nested = NestedError(io::Error::other("the heap is full"));
        assert_eq!(with_causes(&nested), "no buffer: the heap is full");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no buffer")]
    struct NestedError(#[source] io::Error);
}
