//! Observes the copies and barriers that a client records in addition to dispatches.
//!
//! Direct3D does not notify a DirectML library of them. Some functions in the vtable of Direct3D's command
//! lists are therefore replaced, for the whole process. Each replacement inspects its arguments and calls the
//! original function.
//!
//! This requires that all command lists share one vtable, as they do in Wine. If a list has another vtable,
//! its barriers are not checked, and standard error reports that. The record of a command list is private
//! data of the list; it lives until the list is reset or destroyed.

use std::{
    ffi::c_void,
    sync::{Mutex, Once, OnceLock, PoisonError},
};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::IDMLObject,
        Graphics::{
            Direct3D12::{
                D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_HEAP_PROPERTIES, D3D12_HEAP_TYPE_READBACK,
                D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_BARRIER, D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
                D3D12_RESOURCE_BARRIER_TYPE_TRANSITION, D3D12_RESOURCE_BARRIER_TYPE_UAV,
                D3D12_RESOURCE_DIMENSION_BUFFER, D3D12_RESOURCE_STATE_COPY_DEST,
                D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_GENERIC_READ,
                D3D12_RESOURCE_STATE_UNORDERED_ACCESS, ID3D12CommandAllocator, ID3D12Device,
                ID3D12GraphicsCommandList, ID3D12GraphicsCommandList_Vtbl, ID3D12Resource,
            },
            Dxgi::DXGI_ERROR_DEVICE_REMOVED,
        },
        System::Memory::{PAGE_EXECUTE_READWRITE, PAGE_PROTECTION_FLAGS, VirtualProtect},
    },
    core::{ComObject, GUID, HRESULT, IUnknown, Interface, Result, implement},
};

use super::{device::Device, object, requested, say};
use crate::{
    barriers::{Buffer, Heap, Recorded, States, Use},
    misbehaviour::{Call, Fault},
};

const _: () = assert!(
    States::UNORDERED_ACCESS.0 == D3D12_RESOURCE_STATE_UNORDERED_ACCESS.0
        && States::COPY_DEST.0 == D3D12_RESOURCE_STATE_COPY_DEST.0
        && States::COPY_SOURCE.0 == D3D12_RESOURCE_STATE_COPY_SOURCE.0
        && States::GENERIC_READ.0 == D3D12_RESOURCE_STATE_GENERIC_READ.0
);

/// The private data GUID of a command list's [`Watched`].
static WATCHED: GUID = GUID::from_u128(0x1f0c_27d3_5ab4_4e19_9c66_0b7e_d1a3_48f2);

/// The original functions.
static REPLACED: OnceLock<Functions> = OnceLock::new();

type Reset = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void) -> HRESULT;
type CopyBufferRegion = unsafe extern "system" fn(*mut c_void, *mut c_void, u64, *mut c_void, u64, u64);
type CopyResource = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void);
type ResourceBarrier = unsafe extern "system" fn(*mut c_void, u32, *const D3D12_RESOURCE_BARRIER);

/// The functions of a command list's vtable that are replaced.
#[derive(Clone, Copy)]
struct Functions {
    reset: Reset,
    copy_buffer_region: CopyBufferRegion,
    copy_resource: CopyResource,
    resource_barrier: ResourceBarrier,
}

/// The private data object of a command list.
#[implement(IDMLObject)]
#[derive(Default)]
struct Watched(Mutex<State>);

object!(Watched_Impl);

#[derive(Default)]
struct State {
    recorded: Recorded,
    /// The device whose dispatches are in the list.
    device: Option<ComObject<Device>>,
    /// The first mistake that was recorded before the first dispatch.
    mistake: Option<String>,
}

/// Replaces the functions, once per process. The error may contain no reason.
pub(super) fn begin(device: &ID3D12Device) -> Result<()> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if REPLACED.get().is_some() {
        return Ok(());
    }
    // SAFETY: the device and the allocator are alive.
    let list = unsafe {
        let allocator: ID3D12CommandAllocator =
            device.CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT)?;
        let list: ID3D12GraphicsCommandList =
            device.CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, &allocator, None)?;
        list.Close()?;
        list
    };
    let table = (&raw const *list.vtable()).cast_mut();
    let size = size_of::<ID3D12GraphicsCommandList_Vtbl>();
    let mut protection = PAGE_PROTECTION_FLAGS(0);
    // SAFETY: the vtable has `size` bytes. It stays readable, and code that shares a page with it stays
    // executable.
    unsafe { VirtualProtect(table.cast(), size, PAGE_EXECUTE_READWRITE, &raw mut protection)? };
    REPLACED.get_or_init(|| Functions::of(&list));
    // SAFETY: the vtable is writable, and each write stores one aligned pointer. The new functions have the
    // signatures and the effects of the original ones.
    unsafe {
        (&raw mut (*table).Reset).write_volatile(reset);
        (&raw mut (*table).CopyBufferRegion).write_volatile(copy_buffer_region);
        (&raw mut (*table).CopyResource).write_volatile(copy_resource);
        (&raw mut (*table).ResourceBarrier).write_volatile(resource_barrier);
        VirtualProtect(table.cast(), size, protection, &raw mut protection)
    }
}

/// Records a dispatch of a device. The error describes the missing barrier, before this dispatch or before an
/// earlier command.
pub(super) fn dispatch(
    list: &ID3D12GraphicsCommandList,
    device: &ComObject<Device>,
    uses: &[Use],
) -> std::result::Result<(), String> {
    static SAID: Once = Once::new();
    if !is_watched(list) {
        SAID.call_once(|| {
            say(format_args!("barriers are not judged: command lists have tables of functions of their own"));
        });
        return Ok(());
    }
    let noted = with(list, |state| {
        state.device = Some(device.clone());
        state.mistake.take().map_or_else(|| state.recorded.dispatch(uses), Err)
    });
    noted.unwrap_or_else(|error| Err(format!("the command list carries nothing: {error}")))
}

/// The address and the heap of a buffer. Returns `None` if the resource is not a buffer.
pub(super) fn buffer(resource: &ID3D12Resource) -> Option<Buffer> {
    let mut heap = D3D12_HEAP_PROPERTIES::default();
    // SAFETY: the resource is alive, and `heap` is valid for writes.
    let (desc, known) =
        unsafe { (resource.GetDesc(), resource.GetHeapProperties(Some(&raw mut heap), None)) };
    let heap = match heap.Type {
        D3D12_HEAP_TYPE_UPLOAD if known.is_ok() => Heap::Upload,
        D3D12_HEAP_TYPE_READBACK if known.is_ok() => Heap::Readback,
        _ => Heap::Default,
    };
    let is_buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    is_buffer.then(|| Buffer { address: resource.as_raw().addr(), heap })
}

/// Calls the original `CopyBufferRegion` of a list, so that the copy is not observed.
///
/// # Safety
///
/// The requirements of `CopyBufferRegion` apply.
pub(super) unsafe fn copy_unseen(
    list: &ID3D12GraphicsCommandList,
    (to, at): (&ID3D12Resource, u64),
    (from, start): (&ID3D12Resource, u64),
    length: u64,
) {
    let copy = Functions::before(list).copy_buffer_region;
    // SAFETY: the caller guarantees the requirements of `CopyBufferRegion`.
    unsafe { copy(list.as_raw(), to.as_raw(), at, from.as_raw(), start, length) };
}

/// Calls the original `ResourceBarrier` of a list, so that the barrier is not observed.
///
/// # Safety
///
/// The requirements of `ResourceBarrier` apply.
pub(super) unsafe fn barrier_unseen(list: &ID3D12GraphicsCommandList, barrier: &D3D12_RESOURCE_BARRIER) {
    // SAFETY: the caller guarantees the requirements of `ResourceBarrier`.
    unsafe { (Functions::before(list).resource_barrier)(list.as_raw(), 1, barrier) };
}

/// Whether the list's vtable has the replaced functions.
fn is_watched(list: &ID3D12GraphicsCommandList) -> bool {
    std::ptr::fn_addr_eq(list.vtable().ResourceBarrier, resource_barrier as ResourceBarrier)
}

impl Functions {
    fn of(list: &ID3D12GraphicsCommandList) -> Self {
        let table = list.vtable();
        Self {
            reset: table.Reset,
            copy_buffer_region: table.CopyBufferRegion,
            copy_resource: table.CopyResource,
            resource_barrier: table.ResourceBarrier,
        }
    }

    /// Direct3D's original functions.
    fn before(list: &ID3D12GraphicsCommandList) -> Self {
        match REPLACED.get() {
            Some(functions) if is_watched(list) => *functions,
            _ => Self::of(list),
        }
    }
}

impl State {
    /// Removes the device if `result` is an error. Before the first dispatch the device is unknown, so the
    /// error is stored until then.
    fn note(&mut self, result: std::result::Result<(), String>) {
        let Err(why) = result else { return };
        match &self.device {
            Some(device) => device.remove(DXGI_ERROR_DEVICE_REMOVED, &format!("barriers: {why}")),
            None => _ = self.mistake.get_or_insert(format!("barriers: {why}")),
        }
    }
}

/// Calls `act` with the record of a list. Attaches an empty record if the list has none.
fn with<T>(list: &ID3D12GraphicsCommandList, act: impl FnOnce(&mut State) -> T) -> Result<T> {
    let mut carried: Option<IUnknown> = None;
    let mut size = size_of_val(&carried) as u32;
    // SAFETY: `carried` has room for a pointer. The private data of this GUID is an interface, and the call
    // returns a new reference to it.
    let found =
        unsafe { list.GetPrivateData(&raw const WATCHED, &raw mut size, Some((&raw mut carried).cast())) };
    let watched = if let Some(carried) = carried.filter(|_| found.is_ok()) {
        carried.cast_object::<Watched>()?
    } else {
        let watched = ComObject::new(Watched::default());
        // SAFETY: the list is alive, and adds its own reference to the object.
        unsafe { list.SetPrivateDataInterface(&raw const WATCHED, &watched.to_interface::<IDMLObject>())? };
        watched
    };
    let mut state = watched.0.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(act(&mut state))
}

/// Like [`with`], for the raw list pointer that a vtable function receives.
///
/// # Safety
///
/// `list` is a valid command list.
unsafe fn on(list: *mut c_void, act: impl FnOnce(&mut State)) {
    // SAFETY: the caller guarantees that the list is valid.
    if let Some(list) = unsafe { ID3D12GraphicsCommandList::from_raw_borrowed(&list) } {
        // If a list cannot carry private data, `dispatch` reports that.
        let _ = with(list, act);
    }
}

/// Like [`buffer`], for the raw resource pointer that a vtable function receives.
///
/// # Safety
///
/// `resource` is null or a valid resource.
unsafe fn raw_buffer(resource: *mut c_void) -> Option<Buffer> {
    // SAFETY: the caller guarantees that the pointer is null or a valid resource.
    unsafe { ID3D12Resource::from_raw_borrowed(&resource) }.and_then(buffer)
}

/// The original functions. [`begin`] stores them before it installs the functions below.
fn replaced() -> Functions {
    *REPLACED.get().expect("it is set before its functions can be called")
}

unsafe extern "system" fn reset(list: *mut c_void, allocator: *mut c_void, pipeline: *mut c_void) -> HRESULT {
    // SAFETY: the arguments are the client's, passed on unchanged.
    let result = unsafe { (replaced().reset)(list, allocator, pipeline) };
    if result.is_ok() {
        // SAFETY: `list` is a command list, because only a command list's vtable has this function.
        unsafe { on(list, |state| *state = State::default()) };
    }
    result
}

unsafe extern "system" fn copy_buffer_region(
    list: *mut c_void,
    to: *mut c_void,
    at: u64,
    from: *mut c_void,
    start: u64,
    length: u64,
) {
    // SAFETY: `list` is a command list, because only a command list's vtable has this function. The arguments
    // are the client's, passed on unchanged.
    unsafe {
        on(list, |state| {
            let result = state.recorded.copy(raw_buffer(to), raw_buffer(from));
            state.note(result);
        });
        (replaced().copy_buffer_region)(list, to, at, from, start, length);
    }
}

unsafe extern "system" fn copy_resource(list: *mut c_void, to: *mut c_void, from: *mut c_void) {
    // SAFETY: as in `copy_buffer_region`.
    unsafe {
        on(list, |state| {
            let result = state.recorded.copy(raw_buffer(to), raw_buffer(from));
            state.note(result);
        });
        (replaced().copy_resource)(list, to, from);
    }
}

/// Passes on each barrier by itself. A barrier with the fault `lost` is neither observed nor passed on.
unsafe extern "system" fn resource_barrier(
    list: *mut c_void,
    count: u32,
    barriers: *const D3D12_RESOURCE_BARRIER,
) {
    for index in 0..count as usize {
        let is_lost = requested().is_ok_and(|told| told.next(Call::Barrier) == Some(Fault::Lost));
        if is_lost {
            continue;
        }
        // SAFETY: `list` is a command list, because only a command list's vtable has this function. The
        // client passes `count` barriers, and separate calls have the same effect as one call.
        unsafe {
            let barrier = barriers.add(index);
            on(list, |state| state.see(&*barrier));
            (replaced().resource_barrier)(list, 1, barrier);
        }
    }
}

impl State {
    /// # Safety
    ///
    /// The resource of the barrier is null or valid.
    unsafe fn see(&mut self, barrier: &D3D12_RESOURCE_BARRIER) {
        // SAFETY: `Type` names the union field that is valid.
        unsafe {
            match barrier.Type {
                D3D12_RESOURCE_BARRIER_TYPE_UAV => {
                    let resource = barrier.Anonymous.UAV.pResource.as_ref();
                    let address = resource.map(|resource| resource.as_raw().addr());
                    self.recorded.unordered_access_barrier(address);
                }
                D3D12_RESOURCE_BARRIER_TYPE_TRANSITION
                    if !barrier.Flags.contains(D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY) =>
                {
                    let transition = &barrier.Anonymous.Transition;
                    if let Some(buffer) = transition.pResource.as_ref().and_then(buffer) {
                        let [before, after] =
                            [transition.StateBefore, transition.StateAfter].map(|states| States(states.0));
                        let result = self.recorded.transition(buffer, before, after);
                        self.note(result);
                    }
                }
                _ => {}
            }
        }
    }
}
