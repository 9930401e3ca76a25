//! Removing Direct3D's device for real, and what Windows makes of that.
//!
//! On Windows, Direct3D creates no device on an adapter while anything in the process holds on to a removed
//! one. Wine creates as many as it is asked for, and a client that keeps a removed device would never be
//! found out. So each device that is removed here carries something that is dropped with it, and until then
//! no other device of the stand-in is created.

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

/// How many removed devices are held by somebody.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Under which name a device carries its [`Mark`].
static MARK: GUID = GUID::from_u128(0x6d1e_8f5c_93a0_4b7e_a1c2_5f0d_8e64_b973);

/// What a removed device carries.
#[implement(IDMLObject)]
struct Mark;

object!(Mark_Impl);

impl Drop for Mark {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Whether anybody holds on to a device that was removed.
pub(super) fn is_held() -> bool {
    HELD.load(Ordering::Acquire) > 0
}

/// Removes a device, as far as that can be done here.
pub(super) fn remove(device: &ID3D12Device) {
    // SAFETY: a question to a device that is alive.
    let is_removed = || unsafe { device.GetDeviceRemovedReason() }.is_err();
    if is_removed() {
        return;
    }
    HELD.fetch_add(1, Ordering::AcqRel);
    let mark: IDMLObject = Mark.into();
    // SAFETY: the device is alive, and takes a reference of its own.
    if unsafe { device.SetPrivateDataInterface(&raw const MARK, &mark) }.is_err() {
        say(format_args!("the device carries nothing: nobody will know whether it is held"));
    }
    drop(mark);
    if let Ok(device) = device.cast::<ID3D12Device5>() {
        // SAFETY: the device is alive.
        unsafe { device.RemoveDevice() };
    }
    // Wine 10 does not implement that, but takes its device for removed where a command list is executed that
    // is still open.
    if !is_removed()
        && let Err(error) = misuse(device)
    {
        say(format_args!("Direct3D's device cannot be misused: {error}"));
    }
    if !is_removed() {
        say(format_args!("Direct3D's device cannot be removed: only DirectML's is"));
    }
}

/// Executes a command list that is still open, with a queue of its own.
fn misuse(device: &ID3D12Device) -> Result<()> {
    let desc = D3D12_COMMAND_QUEUE_DESC { Type: D3D12_COMMAND_LIST_TYPE_DIRECT, ..Default::default() };
    // SAFETY: the device is alive, as is all that is handed to these calls. The list is empty, so that
    // nothing would happen if it were executed.
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
