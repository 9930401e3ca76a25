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
    create::width_of,
    device::Device,
};

/// The most bytes of one part of a segment.
const SEGMENT_BYTES: usize = 64 << 20;

/// An adapter that is in use.
pub struct Gpu {
    adapter: wgpu::Adapter,
    capabilities: Capabilities,
    /// What batches run on from now on; after a loss, none until one is opened again.
    device: Mutex<Arc<Device>>,
    timeout: Duration,
}

impl Gpu {
    /// Opens the first adapter whose name contains `part`, whatever its case; an empty one means the most powerful.
    pub fn open(part: &str) -> Result<Arc<Self>, OpenError> {
        let adapter = adapter::find(part)?;
        let info = adapter.get_info();
        let device = Device::open(&adapter)
            .map_err(|reason| OpenError::NoDevice { adapter: info.name.clone(), reason })?;
        let capabilities = Capabilities {
            name: "wgpu".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            device: info.name.clone(),
            driver: adapter::driver(&info),
            feature_level: FeatureLevel::NEWEST,
            can_set_feature_level: false,
            data_types: DataType::all().filter(|data_type| width_of(*data_type).is_some()).collect(),
            ranks: 1..=8,
            limits: Limits { tensor_bytes: 64 << 10, ..Limits::default() },
        };
        let device = Mutex::new(Arc::new(device));
        Ok(Arc::new(Self { adapter, capabilities, device, timeout: Duration::from_secs(60) }))
    }

    /// A backend on this adapter. All of them share its device.
    pub fn backend(self: &Arc<Self>) -> Wgpu {
        Wgpu::new(Arc::clone(self))
    }

    /// What it is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    pub(crate) fn device(&self) -> Arc<Device> {
        Arc::clone(&self.device.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn segment_bytes(&self) -> usize {
        let binding = self.adapter.limits().max_storage_buffer_binding_size;
        // Buffers have half as much room again.
        (usize::try_from(binding).unwrap_or(usize::MAX) / 2).min(SEGMENT_BYTES)
    }

    /// Opens another device in place of one that is of no use any more. The old one is never dropped: dropping a device
    /// that is busy waits for it.
    pub(crate) fn abandon(&self, device: &Arc<Device>) {
        let mut current = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, device) {
            return;
        }
        if let Ok(fresh) = Device::open(&self.adapter) {
            std::mem::forget(std::mem::replace(&mut *current, Arc::new(fresh)));
        }
    }
}
