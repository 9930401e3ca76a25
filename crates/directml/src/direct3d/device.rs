//! A device: Direct3D 12's and DirectML's, what it supports, the operators that it compiled, and lanes that are free.
//!
//! Everything that holds on to the Direct3D 12 device is reached from here. On Windows there is one such device an adapter and
//! process, and creating one fails for as long as anything holds on to a removed one. So dropping this is what makes a fresh one
//! possible.

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
    fault::{Call, Fault, code, given},
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

/// So many compiled operators are kept.
const OPERATORS: usize = 4096;

/// Objects of DirectML that may be used from several threads at a time.
#[derive(Debug)]
pub(super) struct Shared<T>(pub(super) T);

// SAFETY: made from devices, command recorders, operators and compiled operators alone, which the pages call thread-safe.
unsafe impl Send for Shared<IDMLDevice> {}
// SAFETY: the same.
unsafe impl Sync for Shared<IDMLDevice> {}
// SAFETY: the same.
unsafe impl Send for Shared<IDMLCommandRecorder> {}
// SAFETY: the same.
unsafe impl Sync for Shared<IDMLCommandRecorder> {}
// SAFETY: the same.
unsafe impl Send for Shared<IDMLCompiledOperator> {}
// SAFETY: the same.
unsafe impl Sync for Shared<IDMLCompiledOperator> {}

/// A compiled operator, and what it asks for.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(super) operator: Shared<IDMLCompiledOperator>,
    pub(super) properties: DML_BINDING_PROPERTIES,
    pub(super) owns_input: bool,
    pub(super) alignments: [u32; 2],
    /// Its persistent resource, where it needs one: all of the buffer.
    pub(super) persistent: Option<ID3D12Resource>,
    stage: Mutex<Stage>,
}

/// How far an operator is with its initialisation, which happens once.
#[derive(Debug)]
enum Stage {
    New,
    /// A flight has taken it upon itself. Where that does not start, this is the operator's end.
    Claimed,
    /// It is ready as soon as this is done.
    Initialized(Submission),
}

/// Compiled operators, by what they were compiled from.
pub(crate) type Operators = HashMap<Marshalled, Arc<Compiled>>;

impl Compiled {
    /// Nothing where the operator is new: whoever asks has to initialise it, and nobody else will. Else the submission that
    /// initialises it.
    pub(super) fn claim(&self) -> Result<Option<Submission>, Fault> {
        let mut stage = self.stage();
        match &*stage {
            Stage::New => {
                *stage = Stage::Claimed;
                Ok(None)
            }
            Stage::Claimed => {
                Err(Fault::Impossible("the flight that was to initialise an operator did not start"))
            }
            Stage::Initialized(submission) => Ok(Some(submission.clone())),
        }
    }

    /// Notes that whoever claimed it has submitted its initialisation.
    pub(super) fn initialized(&self, submission: Submission) {
        *self.stage() = Stage::Initialized(submission);
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device of Direct3D 12, and DirectML on it.
pub(crate) struct Device {
    // Dropped in this order: what was created from a device before the device.
    lanes: Mutex<Vec<Lane>>,
    pub(super) heaps: Heaps,
    /// For everybody, so only such as are initialised: until then an operator is known to nobody but whoever compiled it.
    operators: Mutex<Operators>,
    pub(super) recorder: Shared<IDMLCommandRecorder>,
    pub(super) directml: Shared<IDMLDevice>,
    pub(super) direct3d: ID3D12Device,
    flags: DML_EXECUTION_FLAGS,
    pub(super) layers: Layers,
    /// The batches that lost work with it.
    pub(crate) losses: Arc<Losses>,
    /// Whether it did not finish something in time.
    is_late: AtomicBool,
    pub(crate) adapter: String,
    pub(crate) driver: String,
    /// Wine unloads Vulkan under a device whose adapter is gone.
    _handle: IDXGIAdapter1,
}

impl Device {
    /// A device on the adapter that is meant.
    pub(crate) fn open(library: &Library, options: &Options) -> Result<Self, OpenError> {
        let found = adapter::find(&options.adapter)?;
        let name = &found.name;
        let layer = options.debug.then(debug::switch_on);
        let mut direct3d: Option<ID3D12Device> = None;
        // SAFETY: the adapter is alive, and `direct3d` is a place for one interface.
        let created = unsafe { D3D12CreateDevice(&found.handle, D3D_FEATURE_LEVEL_11_0, &raw mut direct3d) };
        let direct3d = created
            .and_then(|()| given(direct3d))
            .map_err(|error| failed("D3D12CreateDevice", name, &error))?;
        Self::on(library, options, direct3d, found, layer)
    }

    /// The same on a device of Direct3D 12, whose debug `layer` was switched on, or could not be, where it was to be.
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
            return Err(OpenError::removed(&adapter, code(&error)));
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

    /// Why it was removed or given up, if it was.
    pub(crate) fn removal(&self, phase: Phase) -> Result<(), Fault> {
        if self.is_late() {
            return Err(Fault::Late);
        }
        // SAFETY: both devices are alive.
        let results =
            unsafe { [self.direct3d.GetDeviceRemovedReason(), self.directml.0.GetDeviceRemovedReason()] };
        for result in results {
            result.map_err(|error| Fault::Removed {
                phase,
                reason: code(&error),
                said: self.layers.heard(),
            })?;
        }
        Ok(())
    }

    /// A fault with what the debug layers say of it, where nobody asked them yet.
    pub(super) fn explained(&self, mut fault: Fault) -> Fault {
        if let Fault::Failed { said: said @ None, .. } | Fault::Removed { said: said @ None, .. } = &mut fault
        {
            *said = self.layers.heard();
        }
        fault
    }

    /// Whether it was given up.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Gives it up, since it does not finish, and removes it, so that whatever is under way on it ends. On Wine 10 nothing does:
    /// there, removing a device is not implemented.
    pub(crate) fn give_up(&self) {
        self.is_late.store(true, Ordering::Relaxed);
        if let Ok(device) = self.direct3d.cast::<ID3D12Device5>() {
            // SAFETY: the device is alive.
            unsafe { device.RemoveDevice() };
        }
    }

    /// Creates an operator. What was created is gone with the device and not before.
    pub(crate) fn create(&self, desc: &Marshalled) -> Result<IDMLOperator, Fault> {
        let _turn = self.layers.listen();
        let mut operator: Option<IDMLOperator> = None;
        let created = desc.with(|desc| {
            // SAFETY: the desc is laid out as the header has it, and all that it points at lives as long as the call;
            // `operator` is a place for one interface.
            unsafe { self.directml.0.CreateOperator(std::ptr::from_ref(desc).cast(), &raw mut operator) }
        });
        let created = created.and_then(|()| given(operator)).call(Phase::Create, "CreateOperator");
        created.map_err(|fault| self.explained(fault))
    }

    /// Creates and compiles an operator, or gives one that was compiled from the same desc, be it one of the caller's `own`. An
    /// operator that owns its input has it for good, so that each is a fresh one.
    pub(crate) fn compile(&self, desc: &Marshalled, own: &mut Operators) -> Result<Arc<Compiled>, Fault> {
        if let Some(compiled) = own.get(desc).or(self.operators().get(desc)) {
            return Ok(Arc::clone(compiled));
        }
        let operator = self.create(desc)?;
        let turn = self.layers.listen();
        let mut compiled: Option<IDMLCompiledOperator> = None;
        // SAFETY: the operator is alive, and `compiled` is a place for one interface.
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

    /// Gives to everybody what was one's own, as far as it is initialised.
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

    /// A lane that is free, or a new one.
    pub(crate) fn lane(&self) -> Result<Lane, Fault> {
        let free = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| Lane::new(&self.direct3d), Ok)
    }

    /// How many command lists were executed by the lanes that are free.
    #[cfg(test)]
    pub(super) fn submissions(&self) -> u64 {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().map(|lane| lane.submissions).sum()
    }

    /// How many lanes are free.
    #[cfg(test)]
    pub(super) fn free_lanes(&self) -> usize {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes back a lane on which nothing is under way.
    pub(crate) fn give_back(&self, mut lane: Lane) {
        lane.shrink();
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
    }
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        Self::Lost(error.to_string())
    }
}
