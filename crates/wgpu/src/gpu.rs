//! An adapter that is in use: its device, which all threads share, and what it can do.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::{DataType, FeatureLevel};

use crate::{
    adapter::{self, OpenError},
    backend::Wgpu,
    budget::Budget,
    create::width_of,
    device::Device,
    kernels::Texts,
    self_test::{self, Findings},
};

/// The most bytes of one part of a segment.
const SEGMENT_BYTES: usize = 64 << 20;

/// Cases in a batch.
const BATCH_JOBS: usize = 8192;
/// As many are asked at a time, from another process, of a device that is the processor: more of them would leave the cores' caches
/// before they come back. In one process, fewer cases cost the threads more, which wait for each other at the device.
const SERVED_JOBS: usize = 1152;
/// The largest tensor.
const TENSOR_BYTES: u64 = 1 << 30;
/// Beside a part of a tensor, its surroundings are bound as well.
const WINDOW_ROOM: usize = 64 << 10;

/// How a [`Gpu`] does its work. The choice changes how, and never what comes out.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long one submission may take.
    pub timeout: Duration,
    /// The most bytes of all buffers at a time. What is uploaded takes as much again on its way.
    pub memory: u64,
    /// The most bytes of one tensor in a binding; the adapter's limit where that is less.
    pub window: usize,
    /// Whether small cases run together; otherwise each runs as if it were large.
    pub batches: bool,
    /// Whether another process asks.
    pub is_served: bool,
    /// Whether an adapter that fails the self-test is refused. A test of the suite wants one that fails.
    pub refuses_unfit: bool,
    /// The kernels.
    pub texts: Texts,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            // The largest tensor as input, as output, and once more to be read back, with room for small cases beside it.
            memory: 4 * TENSOR_BYTES,
            window: 1 << 30,
            batches: true,
            is_served: false,
            refuses_unfit: true,
            texts: Texts::default(),
        }
    }
}

/// An adapter that is in use.
pub struct Gpu {
    adapter: wgpu::Adapter,
    capabilities: Capabilities,
    findings: Findings,
    /// What batches run on from now on; after a loss, none until one is opened again.
    device: Mutex<Arc<Device>>,
    timeout: Mutex<Duration>,
    options: Options,
}

impl Gpu {
    /// Opens the first adapter whose name contains `part`, whatever its case; an empty one means the most powerful.
    pub fn open(part: &str) -> Result<Arc<Self>, OpenError> {
        Self::open_with(part, Options::default())
    }

    /// Does so, to work in another way than the usual one.
    pub fn open_with(part: &str, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::on(adapter::find(part)?, options)
    }

    /// Opens every adapter, the most powerful first, or says why one cannot be used.
    pub fn all() -> Vec<Result<Arc<Self>, OpenError>> {
        adapter::all().into_iter().map(|adapter| Self::on(adapter, Options::default())).collect()
    }

    fn on(adapter: wgpu::Adapter, options: Options) -> Result<Arc<Self>, OpenError> {
        let info = adapter.get_info();
        let is_software = info.device_type == wgpu::DeviceType::Cpu;
        let device = Device::open(&adapter, &options.texts, Budget::new(options.memory))
            .map_err(|reason| OpenError::NoDevice { adapter: info.name.clone(), reason })?;
        let capabilities = Capabilities {
            name: "wgpu".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            device: info.name.clone(),
            driver: adapter::driver(&info),
            feature_level: FeatureLevel::NEWEST,
            can_set_feature_level: false,
            operators: None,
            data_types: DataType::all().filter(|data_type| width_of(*data_type).is_some()).collect(),
            lacks: Vec::new(),
            ranks: 1..=8,
            limits: Limits {
                tensor_bytes: TENSOR_BYTES,
                batch_jobs: BATCH_JOBS,
                busy_jobs: if is_software && options.is_served { SERVED_JOBS } else { BATCH_JOBS },
                in_flight: 2,
                bare_arrays: None,
            },
            is_apart: false,
        };
        let device = Arc::new(device);
        let unfit = |reason| OpenError::Unfit { adapter: info.name.clone(), reason };
        let findings = self_test::find_out(&device).map_err(|fault| unfit(fault.to_string()))?;
        if let Some(refusal) = findings.refusal().filter(|_| options.refuses_unfit) {
            return Err(unfit(refusal.to_owned()));
        }
        let device = Mutex::new(device);
        let timeout = Mutex::new(options.timeout);
        Ok(Arc::new(Self { adapter, capabilities, findings, device, timeout, options }))
    }

    /// A backend on this adapter. All of them share its device.
    pub fn backend(self: &Arc<Self>) -> Wgpu {
        Wgpu::new(Arc::clone(self))
    }

    /// What it is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// What the self-test found.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The most bytes that a binding holds, and the most workgroups in one dimension of a dispatch.
    pub fn binding_limits(&self) -> (u64, u32) {
        let limits = self.adapter.limits();
        (self.binding_bytes() as u64, limits.max_compute_workgroups_per_dimension)
    }

    /// Whether a processor plays the device's part.
    pub fn is_software(&self) -> bool {
        self.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Loses the device, as a driver may at any time: for tests of what becomes of the batches on it.
    pub fn lose_device(&self) {
        self.device().handle.destroy();
    }

    /// Changes how long one submission may take from now on.
    pub fn set_timeout(&self, timeout: Duration) {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    pub(crate) fn device(&self) -> Arc<Device> {
        Arc::clone(&self.device.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn timeout(&self) -> Duration {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most bytes of one part of a segment; 0 where there are to be none.
    pub(crate) fn segment_bytes(&self) -> usize {
        // Buffers have half as much room again.
        if self.options.batches { (self.binding_bytes() / 2).min(SEGMENT_BYTES) } else { 0 }
    }

    /// The most bytes of one tensor in a binding.
    pub(crate) fn window(&self) -> usize {
        self.options.window.min(self.binding_bytes().saturating_sub(WINDOW_ROOM))
    }

    fn binding_bytes(&self) -> usize {
        let limits = self.adapter.limits();
        usize::try_from(limits.max_storage_buffer_binding_size.min(limits.max_buffer_size))
            .unwrap_or(usize::MAX)
    }

    /// Opens another device in place of one that is of no use any more. The old one is never dropped: dropping a device
    /// that is busy waits for it.
    pub(crate) fn abandon(&self, device: &Arc<Device>) {
        let mut current = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, device) {
            return;
        }
        let budget = Arc::clone(&device.budget);
        if let Ok(fresh) = Device::open(&self.adapter, &self.options.texts, budget) {
            std::mem::forget(std::mem::replace(&mut *current, Arc::new(fresh)));
        }
    }
}
