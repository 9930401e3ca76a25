//! Seeing what a client records beside dispatches: its copies and its barriers.
//!
//! A library is told of neither. So a few functions of Direct3D's command lists are replaced, for the whole
//! process: each looks at what it is asked, and goes on to the function that it replaces. That takes that all
//! lists have one table of functions, as Wine's have; where a list has another, it is said that nothing is
//! judged. What a list has recorded is kept by the list itself, until it is recorded anew or gone.

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

/// Under which name a list carries its [`Watched`].
static WATCHED: GUID = GUID::from_u128(0x1f0c_27d3_5ab4_4e19_9c66_0b7e_d1a3_48f2);

/// What was there before.
static REPLACED: OnceLock<Functions> = OnceLock::new();

type Reset = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void) -> HRESULT;
type CopyBufferRegion = unsafe extern "system" fn(*mut c_void, *mut c_void, u64, *mut c_void, u64, u64);
type CopyResource = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void);
type ResourceBarrier = unsafe extern "system" fn(*mut c_void, u32, *const D3D12_RESOURCE_BARRIER);

/// Functions of command lists.
#[derive(Clone, Copy)]
struct Functions {
    reset: Reset,
    copy_buffer_region: CopyBufferRegion,
    copy_resource: CopyResource,
    resource_barrier: ResourceBarrier,
}

/// What a list carries.
#[implement(IDMLObject)]
#[derive(Default)]
struct Watched(Mutex<State>);

object!(Watched_Impl);

#[derive(Default)]
struct State {
    recorded: Recorded,
    /// Whose dispatches are in the list.
    device: Option<ComObject<Device>>,
    /// What was wrong before there were any.
    mistake: Option<String>,
}

/// Replaces the functions, unless that was done before. Nobody may be told more of why it cannot be done than
/// that it cannot.
pub(super) fn begin(device: &ID3D12Device) -> Result<()> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if REPLACED.get().is_some() {
        return Ok(());
    }
    // SAFETY: the device is alive, as is the allocator.
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
    // SAFETY: the table lies there, and stays readable, and executable where it shares a page with code.
    unsafe { VirtualProtect(table.cast(), size, PAGE_EXECUTE_READWRITE, &raw mut protection)? };
    REPLACED.get_or_init(|| Functions::of(&list));
    // SAFETY: the table can be written to, one aligned pointer at a time, and what it points at then takes
    // and does the same.
    unsafe {
        (&raw mut (*table).Reset).write_volatile(reset);
        (&raw mut (*table).CopyBufferRegion).write_volatile(copy_buffer_region);
        (&raw mut (*table).CopyResource).write_volatile(copy_resource);
        (&raw mut (*table).ResourceBarrier).write_volatile(resource_barrier);
        VirtualProtect(table.cast(), size, protection, &raw mut protection)
    }
}

/// Notes a dispatch of a device. The error says which barrier is missing, be it before it or already before
/// what came earlier.
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

/// A buffer; nothing where it is none, or where there is none.
pub(super) fn buffer(resource: &ID3D12Resource) -> Option<Buffer> {
    let mut heap = D3D12_HEAP_PROPERTIES::default();
    // SAFETY: questions to a resource, and `heap` is a place for the answer.
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

/// `CopyBufferRegion` of a list, unseen.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn copy_unseen(
    list: &ID3D12GraphicsCommandList,
    (to, at): (&ID3D12Resource, u64),
    (from, start): (&ID3D12Resource, u64),
    length: u64,
) {
    let copy = Functions::before(list).copy_buffer_region;
    // SAFETY: the caller says so.
    unsafe { copy(list.as_raw(), to.as_raw(), at, from.as_raw(), start, length) };
}

/// `ResourceBarrier` of a list, unseen.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn barrier_unseen(list: &ID3D12GraphicsCommandList, barrier: &D3D12_RESOURCE_BARRIER) {
    // SAFETY: the caller says so.
    unsafe { (Functions::before(list).resource_barrier)(list.as_raw(), 1, barrier) };
}

/// Whether what is recorded into a list is seen.
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

    /// Direct3D's own.
    fn before(list: &ID3D12GraphicsCommandList) -> Self {
        match REPLACED.get() {
            Some(functions) if is_watched(list) => *functions,
            _ => Self::of(list),
        }
    }
}

impl State {
    /// Has the device removed for a mistake; one that comes before it is known waits for it.
    fn note(&mut self, result: std::result::Result<(), String>) {
        let Err(why) = result else { return };
        match &self.device {
            Some(device) => device.remove(DXGI_ERROR_DEVICE_REMOVED, &format!("barriers: {why}")),
            None => _ = self.mistake.get_or_insert(format!("barriers: {why}")),
        }
    }
}

/// Does something with what a list carries; it gets it where it has nothing yet.
fn with<T>(list: &ID3D12GraphicsCommandList, act: impl FnOnce(&mut State) -> T) -> Result<T> {
    let mut carried: Option<IUnknown> = None;
    let mut size = size_of_val(&carried) as u32;
    // SAFETY: there is room for a pointer. What is carried under this name is an interface, of which a
    // reference is returned.
    let found =
        unsafe { list.GetPrivateData(&raw const WATCHED, &raw mut size, Some((&raw mut carried).cast())) };
    let watched = if let Some(carried) = carried.filter(|_| found.is_ok()) {
        carried.cast_object::<Watched>()?
    } else {
        let watched = ComObject::new(Watched::default());
        // SAFETY: the list is alive, and takes a reference of its own.
        unsafe { list.SetPrivateDataInterface(&raw const WATCHED, &watched.to_interface::<IDMLObject>())? };
        watched
    };
    let mut state = watched.0.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(act(&mut state))
}

/// The same, with a list as its functions are given it.
///
/// # Safety
///
/// It is a command list.
unsafe fn on(list: *mut c_void, act: impl FnOnce(&mut State)) {
    // SAFETY: the caller says so.
    if let Some(list) = unsafe { ID3D12GraphicsCommandList::from_raw_borrowed(&list) } {
        // One that can carry nothing is told of with its dispatches.
        let _ = with(list, act);
    }
}

/// The buffer of a resource as functions are given it.
///
/// # Safety
///
/// It is null, or a resource.
unsafe fn raw_buffer(resource: *mut c_void) -> Option<Buffer> {
    // SAFETY: the caller says so.
    unsafe { ID3D12Resource::from_raw_borrowed(&resource) }.and_then(buffer)
}

/// What is replaced; only [`begin`] makes the functions below known to anybody, when it is there.
fn replaced() -> Functions {
    *REPLACED.get().expect("it is set before its functions can be called")
}

unsafe extern "system" fn reset(list: *mut c_void, allocator: *mut c_void, pipeline: *mut c_void) -> HRESULT {
    // SAFETY: what the client hands over is handed on.
    let result = unsafe { (replaced().reset)(list, allocator, pipeline) };
    if result.is_ok() {
        // SAFETY: it is a list's function.
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
    // SAFETY: it is a list's function; what the client hands over is handed on.
    unsafe {
        on(list, |state| {
            let result = state.recorded.copy(raw_buffer(to), raw_buffer(from));
            state.note(result);
        });
        (replaced().copy_buffer_region)(list, to, at, from, start, length);
    }
}

unsafe extern "system" fn copy_resource(list: *mut c_void, to: *mut c_void, from: *mut c_void) {
    // SAFETY: the same.
    unsafe {
        on(list, |state| {
            let result = state.recorded.copy(raw_buffer(to), raw_buffer(from));
            state.note(result);
        });
        (replaced().copy_resource)(list, to, from);
    }
}

/// Those that are to be lost are neither seen nor handed on.
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
        // SAFETY: it is a list's function; so many barriers lie there, and many mean the same as each after
        // the other.
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
    /// The barrier's resource is null, or one.
    unsafe fn see(&mut self, barrier: &D3D12_RESOURCE_BARRIER) {
        // SAFETY: which of the structs it is, its type says.
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
