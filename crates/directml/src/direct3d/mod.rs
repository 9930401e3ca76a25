//! DirectML on Direct3D 12, on Windows.
//!
//! A [`DirectMl`] has one device at a time, which all of its backends share. A batch is taken apart into flights; a flight that
//! does not arrive takes its cases with it, and each of them tries again alone.

mod adapter;
mod backend;
mod debug;
mod device;
mod fault;
mod features;
mod flight;
mod initializing;
mod lane;
mod layout;
mod library;
mod recording;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::Phase;

pub use backend::DirectMlBackend;

use self::{device::Device, fault::Fault, features::Features, library::Library};
use crate::{Adapter, OpenError, Options, gate::Gate, marshal::MOST_DIMENSIONS};

/// Larger tensors are declared too large.
const TENSOR_BYTES: u64 = 1 << 30;
/// How long one flight may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long a removed device may keep a fresh one from being created.
const RENEWAL: Duration = Duration::from_secs(10);
/// So many cases keep a device busy for so long that handing them over does not count.
const BUSY_JOBS: usize = 480;

/// Each operator, and the feature level that brought it.
const OPERATORS: [(&str, u32); 3] = [("SLICE", 0x1000), ("SLICE1", 0x2100), ("PADDING1", 0x5000)];
/// From this level on, operators take one to eight dimensions; before, four or five.
const ANY_RANK: u32 = 0x3000;

/// DirectML on a device. Whoever has one makes backends of it.
pub struct DirectMl {
    library: Library,
    options: Options,
    capabilities: Capabilities,
    gate: Arc<Gate>,
    device: Mutex<Option<Arc<Device>>>,
}

impl fmt::Debug for DirectMl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectMl").field("library", &self.library).finish_non_exhaustive()
    }
}

impl DirectMl {
    /// Loads DirectML and opens a device.
    pub fn open(options: &Options) -> Result<Arc<Self>, OpenError> {
        let library = Library::load()?;
        let device = Device::open(&library, options)?;
        let capabilities = capabilities(&library, &device, options, Features::of(&device)?);
        Ok(Arc::new(Self {
            library,
            options: options.clone(),
            capabilities,
            gate: Arc::default(),
            device: Mutex::new(Some(Arc::new(device))),
        }))
    }

    /// What can be asked for here, and the names: the adapters that Direct3D 12 finds, the most powerful first, and then
    /// the software of Windows.
    pub fn adapters() -> Result<Vec<(Adapter, String)>, OpenError> {
        adapter::names()
    }

    /// A backend on this device.
    pub fn backend(self: &Arc<Self>) -> DirectMlBackend {
        DirectMlBackend::new(Arc::clone(self))
    }

    /// What it is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The device that there is, or a fresh one where it was removed.
    fn device(&self) -> Result<Arc<Device>, Fault> {
        let mut current = self.lock();
        if let Some(device) = current.as_ref() {
            if device.removal(Phase::Create).is_ok() {
                return Ok(Arc::clone(device));
            }
            *current = None;
        }
        let start = Instant::now();
        loop {
            // Others may still hold on to the removed one, which is given again until all of it is gone.
            let fault = match Device::open(&self.library, &self.options).map(Arc::new) {
                Ok(device) => match device.removal(Phase::Create) {
                    Ok(()) => return Ok(Arc::clone(current.insert(device))),
                    Err(_) => Fault::Lost("every device that is created is a removed one".to_owned()),
                },
                Err(error) => error.into(),
            };
            if start.elapsed() > RENEWAL {
                return Err(fault);
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// Whether there is no device that could be used.
    fn is_lost(&self) -> bool {
        self.lock().as_ref().is_none_or(|device| device.removal(Phase::Create).is_err())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Device>>> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn capabilities(library: &Library, device: &Device, options: &Options, features: Features) -> Capabilities {
    let Features { level, data_types, notes } = features;
    let version = if library.version.is_empty() { "of unknown version" } else { &library.version };
    let words = [format!("{version}, feature level {level}{}", options.words())];
    let versions: Vec<_> = words.into_iter().chain(notes).chain(device.layers.note.clone()).collect();
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
        ranks: if level.code() >= ANY_RANK { 1..=8 } else { 4..=5 },
        limits: Limits {
            tensor_bytes: TENSOR_BYTES,
            batch_jobs: BUSY_JOBS,
            busy_jobs: BUSY_JOBS,
            in_flight: 2,
            bare_arrays: Some(MOST_DIMENSIONS),
        },
    }
}
