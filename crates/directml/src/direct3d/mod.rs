//! DirectML on Direct3D 12, on Windows.
//!
//! A [`DirectMl`] has one device at a time, behind a gate, which all of its backends share. A batch is split
//! into flights. If a flight fails, each of its cases runs again alone.

mod adapter;
mod backend;
mod debug;
mod descriptors;
mod device;
mod fault;
mod features;
mod flight;
mod initializing;
mod lane;
mod layout;
mod library;
mod recording;
#[cfg(test)]
mod testing;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    thread::sleep,
    time::{Duration, Instant},
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::Phase;

pub use backend::DirectMlBackend;

use self::{
    device::Device,
    fault::FlightFault,
    features::Features,
    library::{Library, VARIABLE},
};
use crate::{
    Adapter, OpenError, Options,
    gate::{ExclusiveAccess, Gate},
    marshal::MOST_DIMENSIONS,
};

/// Tensors of more bytes than this are declared too large.
const TENSOR_BYTES: u64 = 1 << 30;
/// The maximum time of the attempts to open a fresh device after a removal: the driver may have to restart,
/// too.
const RENEWAL: Duration = Duration::from_secs(10);
/// The number of cases that keeps a device busy for much longer than handing them over takes.
const BUSY_JOBS: usize = 480;

/// The operators, each with the code of its first feature level.
const OPERATORS: [(&str, u32); 3] = [("SLICE", 0x1000), ("SLICE1", 0x2100), ("PADDING1", 0x5000)];
/// Since this feature level, operators support one to eight dimensions; before it, four or five.
const ANY_RANK: u32 = 0x3000;

/// DirectML on a device. It makes backends.
pub struct DirectMl {
    library: Library,
    options: Options,
    capabilities: Capabilities,
    gate: Arc<Gate<Arc<Device>>>,
    /// Why no fresh device could be opened.
    lost: OnceLock<String>,
}

impl fmt::Debug for DirectMl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectMl").field("library", &self.library).finish_non_exhaustive()
    }
}

impl DirectMl {
    /// Loads DirectML and opens a device.
    pub fn open(options: &Options) -> Result<Arc<Self>, OpenError> {
        Self::with(Library::load()?, options)
    }

    /// Opens a device with this library.
    fn with(library: Library, options: &Options) -> Result<Arc<Self>, OpenError> {
        let device = Device::open(&library, options)?;
        let capabilities = capabilities(&library, &device, options, Features::of(&device)?);
        Ok(Arc::new(Self {
            library,
            options: options.clone(),
            capabilities,
            gate: Arc::new(Gate::new(Arc::new(device))),
            lost: OnceLock::new(),
        }))
    }

    /// The available adapters with their names: first the adapters that Direct3D 12 finds, the most powerful
    /// first, and then WARP.
    pub fn adapters() -> Result<Vec<(Adapter, String)>, OpenError> {
        adapter::names()
    }

    /// A backend on this device.
    pub fn backend(self: &Arc<Self>) -> DirectMlBackend {
        DirectMlBackend::new(Arc::clone(self))
    }

    /// What the backend is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The current device, or a fresh one if it was removed. No other backend holds a removed device: the
    /// gate gives exclusive access only after all others have left it with everything that they started.
    fn renewed(&self, alone: &mut ExclusiveAccess<'_, Arc<Device>>) -> Result<Arc<Device>, FlightFault> {
        if let Some(device) = alone.device.as_ref().filter(|device| device.removal(Phase::Create).is_ok()) {
            return Ok(Arc::clone(device));
        }
        alone.device = None;
        let start = Instant::now();
        loop {
            if let Some(reason) = self.lost.get() {
                return Err(FlightFault::Lost(reason.clone()));
            }
            match Device::open(&self.library, &self.options).map(Arc::new) {
                Ok(device) if device.removal(Phase::Create).is_ok() => {
                    return Ok(Arc::clone(alone.device.insert(device)));
                }
                Ok(_) if start.elapsed() > RENEWAL => {
                    let reason = "every device that is created is a removed one".to_owned();
                    self.lost.get_or_init(|| reason);
                }
                Err(error) if start.elapsed() > RENEWAL => {
                    self.lost.get_or_init(|| error.to_string());
                }
                _ => sleep(Duration::from_millis(20)),
            }
        }
    }
}

fn capabilities(library: &Library, device: &Device, options: &Options, features: Features) -> Capabilities {
    let Features { level, data_types, notes } = features;
    let version = if library.version.is_empty() { "of unknown version" } else { &library.version };
    let words = [format!("{version}, feature level {level}{}", options.words())];
    let passed_over = library.passed_over.as_ref().map(|path| {
        format!("the one beside the program, and not `{}`, which {VARIABLE} names", path.display())
    });
    let notes = passed_over.into_iter().chain(notes).chain(device.layers.note.clone());
    let versions: Vec<_> = words.into_iter().chain(notes).collect();
    let name = if library.is_stand_in { "directml-stand-in" } else { "directml" };
    let driver = if device.driver.is_empty() { "unknown" } else { &device.driver };
    let operators = OPERATORS.iter().filter(|(_, since)| level.code() >= *since);
    Capabilities {
        name: name.to_owned(),
        version: versions.join("; "),
        device: device.adapter.clone(),
        driver: format!("{driver}; {}", library.path.display()),
        feature_level: level,
        can_set_feature_level: false,
        operators: Some(operators.map(|(name, _)| (*name).to_owned()).collect()),
        data_types,
        lacks: Vec::new(),
        ranks: if level.code() >= ANY_RANK { 1..=8 } else { 4..=5 },
        limits: Limits {
            tensor_bytes: TENSOR_BYTES,
            elements: u64::MAX,
            batch_jobs: BUSY_JOBS,
            busy_jobs: BUSY_JOBS,
            in_flight: 2,
            bare_arrays: Some(MOST_DIMENSIONS),
            ..Limits::default()
        },
        is_isolated: false,
    }
}
