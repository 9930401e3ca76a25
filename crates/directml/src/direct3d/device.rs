//! A device: Direct3D 12's and DirectML's, what it supports, the operators that it compiled, and lanes that are free.
//!
//! Everything that holds on to the Direct3D 12 device is reached from here. There is one such device an adapter and process,
//! and a removed one is given again until all that holds it is gone, so that dropping this is what makes a fresh one possible.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use dmlcts_model::{DataType, FeatureLevel, Phase};
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_PROPERTIES, DML_EXECUTION_FLAGS, DML_FEATURE, IDMLCommandRecorder,
            IDMLCompiledOperator, IDMLDevice, IDMLOperator,
        },
        Graphics::{
            Direct3D::D3D_FEATURE_LEVEL_11_0,
            Direct3D12::{
                D3D12_HEAP_TYPE_DEFAULT, D3D12CreateDevice, D3D12GetDebugInterface, ID3D12Debug,
                ID3D12Device, ID3D12Device5, ID3D12Resource,
            },
            Dxgi::IDXGIAdapter1,
        },
    },
    core::Interface,
};

use super::{
    adapter::{self, Found, failed},
    fault::{Call, Fault, code, given},
    lane::{Lane, Submission, buffer},
    library::Library,
};
use crate::{
    OpenError, Options,
    marshal::Marshalled,
    raw::{
        DML_CREATE_DEVICE_FLAG_DEBUG, DML_CREATE_DEVICE_FLAG_NONE,
        DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION, DML_EXECUTION_FLAG_DISABLE_META_COMMANDS,
        DML_FEATURE_DATA_FEATURE_LEVELS, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
        DML_FEATURE_FEATURE_LEVELS, DML_FEATURE_LEVEL, DML_FEATURE_LEVEL_1_0,
        DML_FEATURE_QUERY_FEATURE_LEVELS, DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
        DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, DML_TENSOR_DATA_TYPE,
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
    /// For everybody, so only such as are initialised: until then an operator is known to nobody but whoever compiled it.
    operators: Mutex<Operators>,
    pub(super) recorder: Shared<IDMLCommandRecorder>,
    pub(super) directml: Shared<IDMLDevice>,
    pub(super) direct3d: ID3D12Device,
    flags: DML_EXECUTION_FLAGS,
    /// Whether it was said of any job that it lost this device.
    pub(crate) is_told: Arc<AtomicBool>,
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
        if options.debug {
            let mut debug: Option<ID3D12Debug> = None;
            // SAFETY: `debug` is a place for one interface. The layer is switched on before any device is created on it.
            unsafe { D3D12GetDebugInterface(&raw mut debug) }
                .map_err(|error| failed("D3D12GetDebugInterface", name, &error))?;
            if let Some(debug) = debug {
                // SAFETY: the interface is alive.
                unsafe { debug.EnableDebugLayer() };
            }
        }
        let mut direct3d: Option<ID3D12Device> = None;
        // SAFETY: the adapter is alive, and `direct3d` is a place for one interface.
        let created = unsafe { D3D12CreateDevice(&found.handle, D3D_FEATURE_LEVEL_11_0, &raw mut direct3d) };
        let direct3d = created
            .and_then(|()| given(direct3d))
            .map_err(|error| failed("D3D12CreateDevice", name, &error))?;
        Self::on(library, options, direct3d, found)
    }

    fn on(
        library: &Library,
        options: &Options,
        direct3d: ID3D12Device,
        found: Found,
    ) -> Result<Self, OpenError> {
        let Found { handle, name: adapter, driver, .. } = found;
        // SAFETY: the device is alive.
        if let Err(error) = unsafe { direct3d.GetDeviceRemovedReason() } {
            return Err(OpenError::removed(&adapter, code(&error)));
        }
        let flags = if options.debug { DML_CREATE_DEVICE_FLAG_DEBUG } else { DML_CREATE_DEVICE_FLAG_NONE };
        let directml = library
            .create_device(&direct3d, flags)
            .map_err(|error| failed("DMLCreateDevice1", &adapter, &error))?;
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
            operators: Mutex::default(),
            recorder: Shared(recorder),
            directml: Shared(directml),
            direct3d,
            flags: DML_EXECUTION_FLAGS(execution),
            is_told: Arc::default(),
            adapter,
            driver,
            _handle: handle,
        })
    }

    /// The highest feature level that it supports.
    pub(crate) fn feature_level(&self) -> FeatureLevel {
        let levels: Vec<_> =
            FeatureLevel::all().iter().map(|level| DML_FEATURE_LEVEL(level.code() as i32)).collect();
        let query = DML_FEATURE_QUERY_FEATURE_LEVELS {
            RequestedFeatureLevelCount: levels.len() as u32,
            RequestedFeatureLevels: levels.as_ptr(),
        };
        let mut answer = DML_FEATURE_DATA_FEATURE_LEVELS { MaxSupportedFeatureLevel: DML_FEATURE_LEVEL_1_0 };
        // A library that is too old for the question is as old as the first level.
        let _ = self.check(DML_FEATURE_FEATURE_LEVELS.0, &query, &mut answer);
        let code = answer.MaxSupportedFeatureLevel.0 as u32;
        let known = FeatureLevel::all().iter().rev().find(|level| level.code() <= code);
        known.copied().unwrap_or(FeatureLevel::all()[0])
    }

    /// The data types that it supports.
    pub(crate) fn data_types(&self) -> Vec<DataType> {
        let is_supported = |data_type: &DataType| {
            let query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
                DataType: DML_TENSOR_DATA_TYPE(data_type.0 as i32),
            };
            let mut answer = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT { IsSupported: 0 };
            self.check(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT.0, &query, &mut answer).is_ok()
                && answer.IsSupported != 0
        };
        DataType::all().filter(is_supported).collect()
    }

    fn check<Q, A>(&self, feature: i32, query: &Q, answer: &mut A) -> windows::core::Result<()> {
        let (query_size, answer_size) = (size_of::<Q>() as u32, size_of::<A>() as u32);
        let query = std::ptr::from_ref(query).cast();
        // SAFETY: both are structs of the header, with their sizes; what the query points at outlives the call.
        unsafe {
            self.directml.0.CheckFeatureSupport(
                DML_FEATURE(feature),
                query_size,
                Some(query),
                answer_size,
                std::ptr::from_mut(answer).cast(),
            )
        }
    }

    /// Why it was removed, if it was.
    pub(crate) fn removal(&self, phase: Phase) -> Result<(), Fault> {
        // SAFETY: both devices are alive.
        let results =
            unsafe { [self.direct3d.GetDeviceRemovedReason(), self.directml.0.GetDeviceRemovedReason()] };
        for result in results {
            result.map_err(|error| Fault::Removed { phase, reason: code(&error) })?;
        }
        Ok(())
    }

    /// Removes it, so that whatever is under way on it ends.
    pub(crate) fn remove(&self) {
        if let Ok(device) = self.direct3d.cast::<ID3D12Device5>() {
            // SAFETY: the device is alive.
            unsafe { device.RemoveDevice() };
        }
    }

    /// Creates an operator. What was created is gone with the device and not before.
    pub(crate) fn create(&self, desc: &Marshalled) -> Result<IDMLOperator, Fault> {
        let mut operator: Option<IDMLOperator> = None;
        let created = desc.with(|desc| {
            // SAFETY: the desc is laid out as the header has it, and all that it points at lives as long as the call;
            // `operator` is a place for one interface.
            unsafe { self.directml.0.CreateOperator(std::ptr::from_ref(desc).cast(), &raw mut operator) }
        });
        created.and_then(|()| given(operator)).call(Phase::Create, "CreateOperator")
    }

    /// Creates and compiles an operator, or gives one that was compiled from the same desc, be it one of the caller's `own`. An
    /// operator that owns its input has it for good, so that each is a fresh one.
    pub(crate) fn compile(&self, desc: &Marshalled, own: &mut Operators) -> Result<Arc<Compiled>, Fault> {
        if let Some(compiled) = own.get(desc).or(self.operators().get(desc)) {
            return Ok(Arc::clone(compiled));
        }
        let operator = self.create(desc)?;
        let mut compiled: Option<IDMLCompiledOperator> = None;
        // SAFETY: the operator is alive, and `compiled` is a place for one interface.
        let operator = unsafe { self.directml.0.CompileOperator(&operator, self.flags, &raw mut compiled) }
            .and_then(|()| given(compiled))
            .call(Phase::Compile, "CompileOperator")?;
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
