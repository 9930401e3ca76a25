//! The DirectML device. It creates all other objects. After its removal, calls that create, bind or record
//! fail or have no effect.

use std::{
    ffi::c_void,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI32, Ordering},
    },
};

use dmlcts_directml::raw;
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_TABLE_DESC, DML_EXECUTION_FLAGS, DML_FEATURE, DML_GRAPH_DESC, DML_OPERATOR_DESC,
            IDMLBindingTable, IDMLCommandRecorder, IDMLCompiledOperator, IDMLDevice_Impl, IDMLDevice1,
            IDMLDevice1_Impl, IDMLOperator, IDMLOperatorInitializer, IDMLPageable,
        },
        Foundation::{E_INVALIDARG, E_NOTIMPL, E_OUTOFMEMORY, E_POINTER},
        Graphics::{
            Direct3D12::{
                D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, D3D12_HEAP_FLAG_NONE, D3D12_HEAP_PROPERTIES,
                D3D12_HEAP_TYPE, D3D12_RESOURCE_DESC, D3D12_RESOURCE_DIMENSION_BUFFER, D3D12_RESOURCE_FLAGS,
                D3D12_RESOURCE_STATES, D3D12_TEXTURE_LAYOUT_ROW_MAJOR, ID3D12Device, ID3D12InfoQueue,
                ID3D12Resource,
            },
            Dxgi::{Common::DXGI_SAMPLE_DESC, DXGI_ERROR_DEVICE_REMOVED, DXGI_ERROR_UNSUPPORTED},
        },
    },
    core::{ComObject, GUID, HRESULT, IUnknownImpl, Ref, Result, implement},
};

use super::{
    ended, hand_over,
    initializer::Initializer,
    messages::{Messages, queue},
    object, operator,
    record::Recorder,
    removal, say,
    table::Table,
};
use crate::{
    descriptors::DescriptorsInUse,
    misbehaviour::{Call, Fault, Misbehaviour},
    operator::Operator,
};

/// Implements `IDMLDevice`, `IDMLDevice1` and the `ID3D12InfoQueue` of the debug layer. With the real debug
/// layer, the Direct3D device implements that queue.
#[implement(IDMLDevice1, ID3D12InfoQueue)]
pub(super) struct Device {
    pub(super) d3d12: ID3D12Device,
    pub(super) misbehaviour: Arc<Misbehaviour>,
    /// The reason for the removal, as an `HRESULT`; 0 until the device is removed.
    removed: AtomicI32,
    /// Resources that recorded commands use but no client holds. They must outlive the execution of the
    /// commands, so they live as long as the device.
    kept: Mutex<Vec<ID3D12Resource>>,
    /// The descriptors of dispatches that may not have been executed yet.
    pub(super) taken: Mutex<DescriptorsInUse>,
    pub(super) messages: Messages,
}

object!(Device_Impl);
queue!(Device_Impl);

impl Device {
    /// `debug_layer` is the number of times that the debug layer stores each message; 0 means no debug layer.
    pub(super) fn new(d3d12: ID3D12Device, misbehaviour: Arc<Misbehaviour>, debug_layer: usize) -> Self {
        let messages = Messages::new(debug_layer);
        Self {
            d3d12,
            misbehaviour,
            removed: AtomicI32::new(0),
            kept: Mutex::default(),
            taken: Mutex::default(),
            messages,
        }
    }

    /// Removes the device, so that later calls on it fail. Only the first reason is kept. According to
    /// DirectML's documentation, this does not remove the Direct3D device.
    pub(super) fn remove(&self, reason: HRESULT, why: &str) {
        if self.removed.compare_exchange(0, reason.0, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            say(format_args!("the device is removed: {why}"));
            self.messages.add(&format!("the device is removed: {why}"));
        }
    }

    /// Whether both references are to the same device.
    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Whether the device has not been removed.
    pub(super) fn works(&self) -> bool {
        self.removed.load(Ordering::Acquire) == 0
    }

    /// Starts a call that can fail: counts it, and makes it fail if that is configured. Returns any other
    /// fault, which the caller must carry out.
    pub(super) fn begin(&self, call: Call) -> Result<Option<Fault>> {
        if !self.works() {
            return Err(DXGI_ERROR_DEVICE_REMOVED.into());
        }
        let fault = self.misbehaviour.next(call);
        if let Some(Fault::DeviceRemoved | Fault::Direct3dRemoved) = fault {
            self.remove(DXGI_ERROR_DEVICE_REMOVED, "it was told to do so");
        }
        // Removing the Direct3D device takes a while. The DirectML device is already removed, so calls of
        // other threads are not counted in the meantime.
        if fault == Some(Fault::Direct3dRemoved) {
            removal::remove(&self.d3d12);
        }
        if fault == Some(Fault::Complain) {
            self.messages.add(&format!("{call:?}: it was told to complain"));
        }
        ended(call, fault).inspect_err(|_| self.messages.add(&format!("{call:?}: it was told to fail")))
    }

    /// Creates a committed buffer of `size` bytes.
    pub(super) fn buffer(
        &self,
        heap: D3D12_HEAP_TYPE,
        size: u64,
        flags: D3D12_RESOURCE_FLAGS,
        state: D3D12_RESOURCE_STATES,
    ) -> Result<ID3D12Resource> {
        let properties = D3D12_HEAP_PROPERTIES { Type: heap, ..Default::default() };
        let desc = D3D12_RESOURCE_DESC {
            Dimension: D3D12_RESOURCE_DIMENSION_BUFFER,
            Width: size,
            Height: 1,
            DepthOrArraySize: 1,
            MipLevels: 1,
            SampleDesc: DXGI_SAMPLE_DESC { Count: 1, Quality: 0 },
            Layout: D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
            Flags: flags,
            ..Default::default()
        };
        let mut made = None;
        // SAFETY: all pointers are to values that live until the call returns.
        unsafe {
            self.d3d12.CreateCommittedResource(
                &raw const properties,
                D3D12_HEAP_FLAG_NONE,
                &raw const desc,
                state,
                None,
                &raw mut made,
            )?;
        }
        made.ok_or_else(|| E_OUTOFMEMORY.into())
    }

    /// The distance between adjacent descriptors in a heap, in bytes.
    pub(super) fn step(&self) -> usize {
        // SAFETY: the device is alive, because `self` holds a reference.
        let step =
            unsafe { self.d3d12.GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV) };
        step as usize
    }

    /// Holds a reference to a resource until the device is dropped.
    pub(super) fn keep(&self, resource: &ID3D12Resource) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(resource.clone());
    }
}

impl IDMLDevice_Impl for Device_Impl {
    fn CheckFeatureSupport(
        &self,
        feature: DML_FEATURE,
        query_size: u32,
        query: *const c_void,
        answer_size: u32,
        answer: *mut c_void,
    ) -> Result<()> {
        let abilities = &self.misbehaviour.abilities;
        match raw::DML_FEATURE(feature.0) {
            raw::DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT => {
                self.begin(Call::Types)?;
                // SAFETY: the client guarantees that each pointer is null or valid for the size that is
                // passed with it.
                let (query, answer) = unsafe {
                    query_and_answer::<
                        raw::DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
                        raw::DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
                    >((query_size, query), (answer_size, answer))
                }?;
                answer.IsSupported = abilities.supports(query.DataType).into();
            }
            raw::DML_FEATURE_FEATURE_LEVELS => {
                self.begin(Call::Levels)?;
                // SAFETY: as above.
                let (query, answer) = unsafe {
                    query_and_answer::<
                        raw::DML_FEATURE_QUERY_FEATURE_LEVELS,
                        raw::DML_FEATURE_DATA_FEATURE_LEVELS,
                    >((query_size, query), (answer_size, answer))
                }?;
                // SAFETY: the client guarantees that the array is null or has `RequestedFeatureLevelCount`
                // levels.
                let asked = unsafe {
                    crate::tensor::list(query.RequestedFeatureLevels, query.RequestedFeatureLevelCount)
                }
                .filter(|asked| asked.iter().all(|level| level.0 <= abilities.known.0))
                .ok_or(E_INVALIDARG)?;
                let highest =
                    asked.into_iter().filter(|level| abilities.has(*level)).max_by_key(|level| level.0);
                answer.MaxSupportedFeatureLevel = highest.ok_or(DXGI_ERROR_UNSUPPORTED)?;
            }
            _ => return Err(DXGI_ERROR_UNSUPPORTED.into()),
        }
        Ok(())
    }

    fn CreateOperator(
        &self,
        desc: *const DML_OPERATOR_DESC,
        interface: *const GUID,
        place: *mut *mut c_void,
    ) -> Result<()> {
        if self.begin(Call::Create)? == Some(Fault::Nothing) {
            return Ok(());
        }
        // SAFETY: the client guarantees that the desc and everything that it points at are readable, and that
        // its arrays have the required lengths.
        let operator = match unsafe { Operator::read(desc.cast(), &self.misbehaviour.abilities) } {
            Ok(operator) => Some(Arc::new(operator)),
            Err(_) if self.misbehaviour.accepts_all => None,
            Err(why) => {
                if self.misbehaviour.says_reasons {
                    say(format_args!("a desc is refused: {why}"));
                }
                self.messages.add(&format!("a desc is refused: {why}"));
                return Err(E_INVALIDARG.into());
            }
        };
        let made = ComObject::new(operator::Created { device: self.to_object(), operator });
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&made.to_interface::<IDMLOperator>(), interface, place) }
    }

    fn CompileOperator(
        &self,
        operator: Ref<IDMLOperator>,
        flags: DML_EXECUTION_FLAGS,
        interface: *const GUID,
        place: *mut *mut c_void,
    ) -> Result<()> {
        if self.begin(Call::Compile)? == Some(Fault::Nothing) {
            return Ok(());
        }
        if self.misbehaviour.flags.is_some_and(|wanted| wanted.0 != flags.0) {
            self.messages.add(&format!("the execution flags are {}", flags.0));
            return Err(E_INVALIDARG.into());
        }
        let made = ComObject::new(operator::Compiled::new(self.to_object(), operator.ok()?)?);
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&made.to_interface::<IDMLCompiledOperator>(), interface, place) }
    }

    fn CreateOperatorInitializer(
        &self,
        count: u32,
        operators: *const Option<IDMLCompiledOperator>,
        interface: *const GUID,
        place: *mut *mut c_void,
    ) -> Result<()> {
        if self.begin(Call::Initialize)? == Some(Fault::Nothing) {
            return Ok(());
        }
        let made = ComObject::new(Initializer::new(self.to_object()));
        // SAFETY: the client guarantees that `operators` is null or points at `count` operators.
        unsafe { made.reset(count, operators) }?;
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&made.to_interface::<IDMLOperatorInitializer>(), interface, place) }
    }

    fn CreateCommandRecorder(&self, interface: *const GUID, place: *mut *mut c_void) -> Result<()> {
        if self.begin(Call::Recorder)? == Some(Fault::Nothing) {
            return Ok(());
        }
        let made = ComObject::new(Recorder { device: self.to_object() });
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&made.to_interface::<IDMLCommandRecorder>(), interface, place) }
    }

    fn CreateBindingTable(
        &self,
        desc: *const DML_BINDING_TABLE_DESC,
        interface: *const GUID,
        place: *mut *mut c_void,
    ) -> Result<()> {
        if self.begin(Call::Table)? == Some(Fault::Nothing) {
            return Ok(());
        }
        // SAFETY: the client guarantees that `desc` and the dispatchable in it are null or valid.
        let made = ComObject::new(unsafe { Table::new(self.to_object(), desc) }?);
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&made.to_interface::<IDMLBindingTable>(), interface, place) }
    }

    fn Evict(&self, _: u32, _: *const Option<IDMLPageable>) -> Result<()> {
        Ok(())
    }

    fn MakeResident(&self, _: u32, _: *const Option<IDMLPageable>) -> Result<()> {
        Ok(())
    }

    fn GetDeviceRemovedReason(&self) -> Result<()> {
        HRESULT(self.removed.load(Ordering::Acquire)).ok()
    }

    fn GetParentDevice(&self, interface: *const GUID, place: *mut *mut c_void) -> Result<()> {
        // SAFETY: the client guarantees that both pointers are null or valid.
        unsafe { hand_over(&self.d3d12, interface, place) }
    }
}

impl IDMLDevice1_Impl for Device_Impl {
    /// Not implemented: tests of single operators need no graphs.
    fn CompileGraph(
        &self,
        _: *const DML_GRAPH_DESC,
        _: DML_EXECUTION_FLAGS,
        _: *const GUID,
        _: *mut *mut c_void,
    ) -> Result<()> {
        Err(E_NOTIMPL.into())
    }
}

/// The query and the answer of `CheckFeatureSupport`, as these structs. Fails if a size differs from its
/// struct's size or a pointer is null.
///
/// # Safety
///
/// Each pointer is null, or valid for reads and writes of the size that is passed with it.
unsafe fn query_and_answer<'a, Q, A>(
    (query_size, query): (u32, *const c_void),
    (answer_size, answer): (u32, *mut c_void),
) -> Result<(&'a Q, &'a mut A)> {
    if query_size as usize != size_of::<Q>() || answer_size as usize != size_of::<A>() {
        return Err(E_INVALIDARG.into());
    }
    // SAFETY: the caller guarantees that the pointers are null or valid for these sizes, which are the
    // structs' sizes.
    match unsafe { (query.cast::<Q>().as_ref(), answer.cast::<A>().as_mut()) } {
        (Some(query), Some(answer)) => Ok((query, answer)),
        _ => Err(E_POINTER.into()),
    }
}
