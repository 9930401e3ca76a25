//! An open adapter: its device, which all threads share, and its capabilities.

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

/// The maximum number of bytes of one part of a segment.
const SEGMENT_BYTES: usize = 64 << 20;

/// The number of cases in a batch.
const BATCH_JOBS: usize = 8192;
/// The number of cases in a batch from another process, if the device is the processor. The memory of more
/// cases would leave the cores' caches before the results come back. Within one process, batches this small
/// are slower, because the threads wait for each other at the device.
const SERVED_JOBS: usize = 1152;
/// The largest tensor, in bytes.
const TENSOR_BYTES: u64 = 1 << 30;
/// Room in a binding for the bytes around a part of a tensor.
const WINDOW_ROOM: usize = 64 << 10;

/// How a [`Gpu`] works. The options never change the results.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum time of one submission. With zero, none has a result.
    pub timeout: Duration,
    /// The maximum total size of all buffers, in bytes. Uploads temporarily take the same amount again.
    pub memory: u64,
    /// The maximum number of bytes of one tensor in a binding; the adapter's limit applies, too.
    pub window: usize,
    /// Whether small cases run together. If not, each runs as a large case.
    pub batches: bool,
    /// Whether the batches come from another process.
    pub is_served: bool,
    /// Whether an adapter that fails the self-test is rejected. Some tests need such an adapter.
    pub refuses_unfit: bool,
    /// The source texts of the kernels.
    pub texts: Texts,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            // Room for the largest tensor as input, output and readback, and for small cases.
            memory: 4 * TENSOR_BYTES,
            window: 1 << 30,
            batches: true,
            is_served: false,
            refuses_unfit: true,
            texts: Texts::default(),
        }
    }
}

/// An open adapter.
pub struct Gpu {
    adapter: wgpu::Adapter,
    capabilities: Capabilities,
    findings: Findings,
    /// The device for the next batches. After a loss it is replaced when another one can be opened.
    device: Mutex<Arc<Device>>,
    timeout: Mutex<Duration>,
    options: Options,
}

impl Gpu {
    /// Opens the first adapter whose name contains `part`, regardless of case. An empty `part` selects the
    /// most powerful adapter.
    pub fn open(part: &str) -> Result<Arc<Self>, OpenError> {
        Self::open_with(part, Options::default())
    }

    /// Like [`Self::open`], with these options.
    pub fn open_with(part: &str, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::on(adapter::find(part)?, options)
    }

    /// Opens every adapter, the most powerful first. Each result is an adapter or the reason why it cannot be
    /// used.
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
                elements: u64::MAX,
                batch_jobs: BATCH_JOBS,
                busy_jobs: if is_software && options.is_served { SERVED_JOBS } else { BATCH_JOBS },
                in_flight: 2,
                ..Limits::default()
            },
            is_isolated: false,
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

    /// A backend on this adapter. All backends share its device.
    pub fn backend(self: &Arc<Self>) -> Wgpu {
        Wgpu::new(Arc::clone(self))
    }

    /// What the backend is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The findings of the self-test.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The maximum number of bytes in a binding, and of workgroups in one dimension of a dispatch.
    pub fn binding_limits(&self) -> (u64, u32) {
        let limits = self.adapter.limits();
        (self.binding_bytes() as u64, limits.max_compute_workgroups_per_dimension)
    }

    /// Whether the device is implemented in software on the processor.
    pub fn is_software(&self) -> bool {
        self.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Destroys the device, as a driver may at any time. For tests of how batches survive that.
    pub fn lose_device(&self) {
        self.device().handle.destroy();
    }

    /// Sets the maximum time of later submissions.
    pub fn set_timeout(&self, timeout: Duration) {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    pub(crate) fn device(&self) -> Arc<Device> {
        Arc::clone(&self.device.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn timeout(&self) -> Duration {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The maximum number of bytes of one part of a segment; 0 to disable segments.
    pub(crate) fn segment_bytes(&self) -> usize {
        // Buffers are allocated with half as much again.
        if self.options.batches { (self.binding_bytes() / 2).min(SEGMENT_BYTES) } else { 0 }
    }

    /// The maximum number of bytes of one tensor in a binding.
    pub(crate) fn window(&self) -> usize {
        self.options.window.min(self.binding_bytes().saturating_sub(WINDOW_ROOM))
    }

    fn binding_bytes(&self) -> usize {
        let limits = self.adapter.limits();
        usize::try_from(limits.max_storage_buffer_binding_size.min(limits.max_buffer_size))
            .unwrap_or(usize::MAX)
    }

    /// Replaces a device that is no longer usable. The old one is never dropped, because dropping a busy
    /// device waits for it.
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
