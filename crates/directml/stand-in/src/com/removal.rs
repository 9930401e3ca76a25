//! Removal of the Direct3D device, with its consequences on Windows.
//!
//! On Windows, Direct3D creates no device on an adapter while the process holds a reference to a removed one.
//! Wine has no such limit, so it would not expose a client that keeps a removed device. Each device that is
//! removed here therefore carries a private data object, which is dropped with the device. Until then, the
//! stand-in creates no other device.

use std::sync::atomic::{AtomicUsize, Ordering};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::IDMLObject,
        Graphics::Direct3D12::{
            D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_QUEUE_DESC, ID3D12CommandAllocator,
            ID3D12CommandList, ID3D12CommandQueue, ID3D12Device, ID3D12Device5, ID3D12GraphicsCommandList,
        },
    },
    core::{GUID, Interface, Result, implement},
};

use super::{object, say};

/// The number of removed devices that are still referenced.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The private data GUID of a device's [`Mark`].
static MARK: GUID = GUID::from_u128(0x6d1e_8f5c_93a0_4b7e_a1c2_5f0d_8e64_b973);

/// The private data object of a removed device.
#[implement(IDMLObject)]
struct Mark;

object!(Mark_Impl);

impl Drop for Mark {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Whether a removed device is still referenced.
pub(super) fn is_held() -> bool {
    HELD.load(Ordering::Acquire) > 0
}

/// Removes a Direct3D device, if the Direct3D implementation allows it.
pub(super) fn remove(device: &ID3D12Device) {
    // SAFETY: the device is alive, because `device` is a reference to it.
    let is_removed = || unsafe { device.GetDeviceRemovedReason() }.is_err();
    if is_removed() {
        return;
    }
    HELD.fetch_add(1, Ordering::AcqRel);
    let mark: IDMLObject = Mark.into();
    // SAFETY: the device is alive, and adds its own reference to the mark.
    if unsafe { device.SetPrivateDataInterface(&raw const MARK, &mark) }.is_err() {
        say(format_args!("the device carries nothing: nobody will know whether it is held"));
    }
    drop(mark);
    if let Ok(device) = device.cast::<ID3D12Device5>() {
        // SAFETY: the device is alive.
        unsafe { device.RemoveDevice() };
    }
    // Wine 10 does not implement `RemoveDevice`. It treats a device as removed if an open command list is
    // executed.
    if !is_removed()
        && let Err(error) = misuse(device)
    {
        say(format_args!("Direct3D's device cannot be misused: {error}"));
    }
    if !is_removed() {
        say(format_args!("Direct3D's device cannot be removed: only DirectML's is"));
    }
}

/// Executes an open command list on a new queue, which is invalid.
fn misuse(device: &ID3D12Device) -> Result<()> {
    let desc = D3D12_COMMAND_QUEUE_DESC { Type: D3D12_COMMAND_LIST_TYPE_DIRECT, ..Default::default() };
    // SAFETY: the device and all arguments are alive during the calls. The list is empty, so executing it has
    // no effect.
    unsafe {
        let queue: ID3D12CommandQueue = device.CreateCommandQueue(&raw const desc)?;
        let allocator: ID3D12CommandAllocator =
            device.CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT)?;
        let list: ID3D12GraphicsCommandList =
            device.CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, &allocator, None)?;
        queue.ExecuteCommandLists(&[Some(list.cast::<ID3D12CommandList>()?)]);
    }
    Ok(())
}
