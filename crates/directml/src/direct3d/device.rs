//! A device of Direct3D 12 and of DirectML, with its compiled operators and its free lanes.
//!
//! This object owns every reference to the Direct3D 12 device. Windows has one such device for each adapter
//! and process, and creating one fails while anything holds a removed one. So this object must be dropped
//! before a fresh device can be created.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use dmlcts_model::{ErrorCode, Phase};
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_PROPERTIES, DML_EXECUTION_FLAGS, IDMLCommandRecorder, IDMLCompiledOperator,
            IDMLDevice, IDMLOperator,
        },
        Graphics::{
            Direct3D::D3D_FEATURE_LEVEL_11_0,
            Direct3D12::{
                D3D12_HEAP_TYPE_DEFAULT, D3D12CreateDevice, ID3D12Device, ID3D12Device5, ID3D12Resource,
            },
            Dxgi::IDXGIAdapter1,
        },
    },
    core::Interface,
};

use super::{
    adapter::{self, FoundAdapter, failed},
    debug::{self, Layers},
    descriptors::Heaps,
    fault::{Call, FlightFault, code, given},
    lane::{Lane, Submission, buffer},
    library::Library,
};
use crate::{
    OpenError, Options,
    loss::Losses,
    marshal::Marshalled,
    raw::{
        DML_CREATE_DEVICE_FLAG_NONE, DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION,
        DML_EXECUTION_FLAG_DISABLE_META_COMMANDS,
    },
};

/// The maximum number of compiled operators that are kept.
const OPERATORS: usize = 4096;

/// Objects of DirectML that several threads may use at a time.
#[derive(Debug)]
pub(super) struct Shared<T>(pub(super) T);

// SAFETY: the type only holds devices, command recorders and compiled operators, which the pages call
// thread-safe.
unsafe impl Send for Shared<IDMLDevice> {}
// SAFETY: as above.
unsafe impl Sync for Shared<IDMLDevice> {}
// SAFETY: as above.
unsafe impl Send for Shared<IDMLCommandRecorder> {}
// SAFETY: as above.
unsafe impl Sync for Shared<IDMLCommandRecorder> {}
// SAFETY: as above.
unsafe impl Send for Shared<IDMLCompiledOperator> {}
// SAFETY: as above.
unsafe impl Sync for Shared<IDMLCompiledOperator> {}

/// A compiled operator, with its requirements.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(super) operator: Shared<IDMLCompiledOperator>,
    pub(super) properties: DML_BINDING_PROPERTIES,
    pub(super) owns_input: bool,
    pub(super) alignments: [u32; 2],
    /// Its persistent resource, if it needs one: the whole buffer.
    pub(super) persistent: Option<ID3D12Resource>,
    stage: Mutex<Stage>,
}

/// The progress of an operator's initialisation, which happens once.
#[derive(Debug)]
enum Stage {
    New,
    /// A flight will initialise the operator. If that flight does not start, the operator is unusable.
    Claimed,
    /// The operator is ready when this submission is done.
    Initialized(Submission),
}

/// Compiled operators, by the descs that they were compiled from.
pub(crate) type Operators = HashMap<Marshalled, Arc<Compiled>>;

impl Compiled {
    /// Claims the initialisation of a new operator: returns `None`, and the caller must initialise it.
    /// Otherwise returns the submission that initialises the operator.
    pub(super) fn claim(&self) -> Result<Option<Submission>, FlightFault> {
        let mut stage = self.stage();
        match &*stage {
            Stage::New => {
                *stage = Stage::Claimed;
                Ok(None)
            }
            Stage::Claimed => {
                Err(FlightFault::Impossible("the flight that was to initialise an operator did not start"))
            }
            Stage::Initialized(submission) => Ok(Some(submission.clone())),
        }
    }

    /// Records the submission that initialises the operator.
    pub(super) fn initialized(&self, submission: Submission) {
        *self.stage() = Stage::Initialized(submission);
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device of Direct3D 12, and DirectML on it.
pub(crate) struct Device {
    // The fields are dropped in this order, so everything that was created from a device is dropped before
    // the device.
    lanes: Mutex<Vec<Lane>>,
    pub(super) heaps: Heaps,
    /// The operators that all threads share. They are initialised: before that, only the thread that compiled
    /// an operator has it.
    operators: Mutex<Operators>,
    pub(super) recorder: Shared<IDMLCommandRecorder>,
    pub(super) directml: Shared<IDMLDevice>,
    pub(super) direct3d: ID3D12Device,
    flags: DML_EXECUTION_FLAGS,
    pub(super) layers: Layers,
    /// The losses of batches on this device.
    pub(crate) losses: Arc<Losses>,
    /// Whether the device was given up because it did not finish in time.
    is_late: AtomicBool,
    pub(crate) adapter: String,
    pub(crate) driver: String,
    /// The adapter. Wine unloads Vulkan under a device whose adapter was dropped.
    _handle: IDXGIAdapter1,
}

impl Device {
    /// Opens a device on the selected adapter.
    pub(crate) fn open(library: &Library, options: &Options) -> Result<Self, OpenError> {
        let found = adapter::find(&options.adapter)?;
        let name = &found.name;
        let layer = options.debug.then(debug::switch_on);
        let mut direct3d: Option<ID3D12Device> = None;
        // SAFETY: the adapter is alive, and `direct3d` has room for one interface.
        let created = unsafe { D3D12CreateDevice(&found.handle, D3D_FEATURE_LEVEL_11_0, &raw mut direct3d) };
        let direct3d = created
            .and_then(|()| given(direct3d))
            .map_err(|error| failed("D3D12CreateDevice", name, &error))?;
        Self::on(library, options, direct3d, found, layer)
    }

    /// Opens DirectML on a Direct3D 12 device. If debugging is requested, `layer` is the result of enabling
    /// Direct3D's debug layer.
    fn on(
        library: &Library,
        options: &Options,
        direct3d: ID3D12Device,
        found: FoundAdapter,
        layer: Option<Result<(), ErrorCode>>,
    ) -> Result<Self, OpenError> {
        let FoundAdapter { handle, name: adapter, driver, .. } = found;
        // SAFETY: the device is alive.
        if let Err(error) = unsafe { direct3d.GetDeviceRemovedReason() } {
            return Err(failed("GetDeviceRemovedReason", &adapter, &error));
        }
        let (directml, layers) = match layer {
            None => (library.create_device(&direct3d, DML_CREATE_DEVICE_FLAG_NONE), Layers::default()),
            Some(layer) => debug::create_device(library, &direct3d, layer)?,
        };
        let directml = directml.map_err(|error| failed(library.function(), &adapter, &error))?;
        // SAFETY: the device is alive.
        let recorder = unsafe { directml.CreateCommandRecorder() }
            .map_err(|error| failed("CreateCommandRecorder", &adapter, &error))?;
        let mut execution = 0;
        for (is_wanted, flag) in [
            (options.disable_metacommands, DML_EXECUTION_FLAG_DISABLE_META_COMMANDS),
            (options.half_precision, DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION),
        ] {
            execution |= if is_wanted { flag.0 } else { 0 };
        }
        Ok(Self {
            lanes: Mutex::default(),
            heaps: Heaps::default(),
            operators: Mutex::default(),
            recorder: Shared(recorder),
            directml: Shared(directml),
            direct3d,
            flags: DML_EXECUTION_FLAGS(execution),
            layers,
            losses: Arc::default(),
            is_late: AtomicBool::new(false),
            adapter,
            driver,
            _handle: handle,
        })
    }

    /// The fault of a device that was removed or given up.
    pub(crate) fn removal(&self, phase: Phase) -> Result<(), FlightFault> {
        if self.is_late() {
            return Err(FlightFault::Late);
        }
        // SAFETY: both devices are alive.
        let results =
            unsafe { [self.direct3d.GetDeviceRemovedReason(), self.directml.0.GetDeviceRemovedReason()] };
        for result in results {
            result.map_err(|error| FlightFault::Removed {
                phase,
                reason: code(&error),
                said: self.layers.newest_messages(),
            })?;
        }
        Ok(())
    }

    /// Adds the messages of the debug layers to a fault, unless it has them already.
    pub(super) fn explained(&self, mut fault: FlightFault) -> FlightFault {
        if let FlightFault::Failed { said: said @ None, .. }
        | FlightFault::Removed { said: said @ None, .. } = &mut fault
        {
            *said = self.layers.newest_messages();
        }
        fault
    }

    /// Whether the device was given up.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Gives up a device that does not finish, and removes it, which ends everything in flight on it. Wine 10
    /// does not implement the removal, so its work continues.
    pub(crate) fn give_up(&self) {
        self.is_late.store(true, Ordering::Relaxed);
        if let Ok(device) = self.direct3d.cast::<ID3D12Device5>() {
            // SAFETY: the device is alive.
            unsafe { device.RemoveDevice() };
        }
    }

    /// Creates an operator. It stays valid until the device is removed.
    pub(crate) fn create(&self, desc: &Marshalled) -> Result<IDMLOperator, FlightFault> {
        let _turn = self.layers.listen();
        let mut operator: Option<IDMLOperator> = None;
        let created = desc.with(|desc| {
            // SAFETY: the desc has the layout of the header, and the memory behind its pointers outlives the
            // call. `operator` has room for one interface.
            unsafe { self.directml.0.CreateOperator(std::ptr::from_ref(desc).cast(), &raw mut operator) }
        });
        let created = created.and_then(|()| given(operator)).call(Phase::Create, "CreateOperator");
        created.map_err(|fault| self.explained(fault))
    }

    /// Creates and compiles an operator, or returns one that was compiled from the same desc, which may be
    /// one of the caller's `own`. An operator that owns its input stays bound to it, so such an operator is
    /// always a new one.
    pub(crate) fn compile(
        &self,
        desc: &Marshalled,
        own: &mut Operators,
    ) -> Result<Arc<Compiled>, FlightFault> {
        if let Some(compiled) = own.get(desc).or(self.operators().get(desc)) {
            return Ok(Arc::clone(compiled));
        }
        let operator = self.create(desc)?;
        let turn = self.layers.listen();
        let mut compiled: Option<IDMLCompiledOperator> = None;
        // SAFETY: the operator is alive, and `compiled` has room for one interface.
        let operator = unsafe { self.directml.0.CompileOperator(&operator, self.flags, &raw mut compiled) }
            .and_then(|()| given(compiled))
            .call(Phase::Compile, "CompileOperator")
            .map_err(|fault| self.explained(fault))?;
        drop(turn);
        // SAFETY: the operator is alive.
        let properties = unsafe { operator.GetBindingProperties() };
        let persistent = match properties.PersistentResourceSize {
            0 => None,
            bytes => Some(buffer(&self.direct3d, D3D12_HEAP_TYPE_DEFAULT, bytes)?),
        };
        let compiled = Arc::new(Compiled {
            operator: Shared(operator),
            properties,
            owns_input: desc.owns_input(),
            alignments: desc.alignments(),
            persistent,
            stage: Mutex::new(Stage::New),
        });
        if !compiled.owns_input {
            own.insert(desc.clone(), Arc::clone(&compiled));
        }
        Ok(compiled)
    }

    /// Shares the caller's own operators with all threads, if they are initialised.
    pub(crate) fn share(&self, mut own: Operators) {
        own.retain(|_, compiled| matches!(*compiled.stage(), Stage::Initialized(_)));
        let mut operators = self.operators();
        if operators.len() + own.len() > OPERATORS {
            operators.clear();
        }
        operators.extend(own);
    }

    fn operators(&self) -> MutexGuard<'_, Operators> {
        self.operators.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A free lane, or a new one.
    pub(crate) fn lane(&self) -> Result<Lane, FlightFault> {
        let free = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| Lane::new(&self.direct3d), Ok)
    }

    /// The number of command lists that the free lanes executed.
    #[cfg(test)]
    pub(super) fn submissions(&self) -> u64 {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().map(|lane| lane.submissions).sum()
    }

    /// The number of free lanes.
    #[cfg(test)]
    pub(super) fn free_lanes(&self) -> usize {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes back a lane with nothing in flight.
    pub(crate) fn give_back(&self, mut lane: Lane) {
        lane.shrink();
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
    }
}

impl From<OpenError> for FlightFault {
    fn from(error: OpenError) -> Self {
        Self::Lost(error.to_string())
    }
}
