//! A lane: a queue, a command list and the buffers of one flight. It is reused for the next flight, so that a
//! steady run allocates nothing.

use std::{
    mem::{self, ManuallyDrop, transmute_copy},
    os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle},
    ptr, slice,
    time::{Duration, Instant},
};

use dmlcts_model::Phase;
use windows::{
    Win32::{
        Foundation::{HANDLE, WAIT_FAILED, WAIT_OBJECT_0},
        Graphics::{
            Direct3D12::{
                D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_QUEUE_DESC,
                D3D12_COMMAND_QUEUE_FLAG_DISABLE_GPU_TIMEOUT, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
                D3D12_FENCE_FLAG_NONE, D3D12_HEAP_FLAG_NONE, D3D12_HEAP_PROPERTIES, D3D12_HEAP_TYPE,
                D3D12_HEAP_TYPE_DEFAULT, D3D12_HEAP_TYPE_READBACK, D3D12_HEAP_TYPE_UPLOAD, D3D12_RANGE,
                D3D12_RESOURCE_BARRIER, D3D12_RESOURCE_BARRIER_0, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                D3D12_RESOURCE_BARRIER_TYPE_TRANSITION, D3D12_RESOURCE_BARRIER_TYPE_UAV, D3D12_RESOURCE_DESC,
                D3D12_RESOURCE_DIMENSION_BUFFER, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                D3D12_RESOURCE_FLAG_NONE, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST,
                D3D12_RESOURCE_STATE_GENERIC_READ, D3D12_RESOURCE_STATES, D3D12_RESOURCE_TRANSITION_BARRIER,
                D3D12_RESOURCE_UAV_BARRIER, D3D12_TEXTURE_LAYOUT_ROW_MAJOR, ID3D12CommandAllocator,
                ID3D12CommandList, ID3D12CommandQueue, ID3D12Device, ID3D12Fence, ID3D12GraphicsCommandList,
                ID3D12PipelineState, ID3D12Resource,
            },
            Dxgi::Common::{DXGI_FORMAT_UNKNOWN, DXGI_SAMPLE_DESC},
        },
        System::Threading::{CreateEventW, WaitForSingleObject},
    },
    core::{Error, Interface},
};

use super::{
    descriptors::{DescriptorPart, Heaps},
    fault::{Call, FlightFault, given},
};

/// Buffers of more bytes than this are not kept.
const KEPT: u64 = 64 << 20;
/// The sizes of buffers are multiples of this.
const GRAIN: u64 = 64 << 10;

/// The resources of a flight on a device.
pub(crate) struct Lane {
    pub(super) list: ID3D12GraphicsCommandList,
    /// The upload buffer.
    pub(super) upload: Buffer,
    /// The readback buffer.
    pub(super) readback: Buffer,
    pub(super) inputs: Buffer,
    pub(super) outputs: Buffer,
    /// The buffer for temporary resources.
    pub(super) scratch: Buffer,
    descriptors: Option<DescriptorPart>,
    allocator: ID3D12CommandAllocator,
    pub(super) queue: ID3D12CommandQueue,
    fence: ID3D12Fence,
    event: OwnedHandle,
    /// Whether the command list is open for recording.
    is_open: bool,
    /// The number of submitted command lists.
    pub(super) submissions: u64,
    device: ID3D12Device,
}

/// A submitted command list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Submission {
    fence: ID3D12Fence,
    number: u64,
}

/// A buffer that grows.
pub(super) struct Buffer {
    kind: D3D12_HEAP_TYPE,
    resource: Option<ID3D12Resource>,
    bytes: u64,
}

impl Lane {
    pub(super) fn new(device: &ID3D12Device) -> Result<Self, FlightFault> {
        // Windows would remove a device that is busy for about two seconds, as it may be with a large case.
        // Flights have a timeout of their own instead.
        let desc = D3D12_COMMAND_QUEUE_DESC {
            Type: D3D12_COMMAND_LIST_TYPE_DIRECT,
            Flags: D3D12_COMMAND_QUEUE_FLAG_DISABLE_GPU_TIMEOUT,
            ..Default::default()
        };
        // SAFETY: the device and all arguments of these calls are alive.
        let objects = unsafe {
            let create = || {
                let queue: ID3D12CommandQueue = device.CreateCommandQueue(&raw const desc)?;
                let allocator: ID3D12CommandAllocator =
                    device.CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT)?;
                let list: ID3D12GraphicsCommandList =
                    device.CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, &allocator, None)?;
                list.Close()?;
                let fence: ID3D12Fence = device.CreateFence(0, D3D12_FENCE_FLAG_NONE)?;
                let event = CreateEventW(None, false, false, None)?;
                Ok((queue, allocator, list, fence, event))
            };
            create()
        };
        let (queue, allocator, list, fence, event) = objects.call(Phase::Bind, "creating a command queue")?;
        // SAFETY: the handle was just created and has no other owner.
        let event = unsafe { OwnedHandle::from_raw_handle(event.0) };
        let empty = |kind| Buffer { kind, resource: None, bytes: 0 };
        Ok(Self {
            list,
            upload: empty(D3D12_HEAP_TYPE_UPLOAD),
            readback: empty(D3D12_HEAP_TYPE_READBACK),
            inputs: empty(D3D12_HEAP_TYPE_DEFAULT),
            outputs: empty(D3D12_HEAP_TYPE_DEFAULT),
            scratch: empty(D3D12_HEAP_TYPE_DEFAULT),
            descriptors: None,
            allocator,
            queue,
            fence,
            event,
            is_open: false,
            submissions: 0,
            device: device.clone(),
        })
    }

    /// Makes the buffers at least this large. Nothing may be in flight.
    pub(super) fn reserve(&mut self, inputs: u64, outputs: u64, scratch: u64) -> Result<(), FlightFault> {
        let both = inputs + outputs;
        for (buffer, bytes) in [
            (&mut self.upload, both),
            (&mut self.readback, both),
            (&mut self.inputs, inputs),
            (&mut self.outputs, outputs),
            (&mut self.scratch, scratch),
        ] {
            buffer.reserve(&self.device, bytes)?;
        }
        Ok(())
    }

    /// Frees memory that only large cases need. Nothing may be in flight.
    pub(super) fn shrink(&mut self) {
        for buffer in
            [&mut self.upload, &mut self.readback, &mut self.inputs, &mut self.outputs, &mut self.scratch]
        {
            if buffer.bytes > KEPT {
                (buffer.resource, buffer.bytes) = (None, 0);
            }
        }
    }

    /// At least this many shader-visible descriptors, and the distance between two of them in bytes. Their
    /// earlier content is lost.
    pub(super) fn descriptors(
        &mut self,
        heaps: &Heaps,
        count: u32,
    ) -> Result<(DescriptorPart, u32), FlightFault> {
        let part = match self.descriptors.take() {
            Some(part) if part.count >= count => part,
            _ => heaps.part(&self.device, count)?,
        };
        self.descriptors = Some(part.clone());
        // SAFETY: the device is alive.
        let step =
            unsafe { self.device.GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV) };
        Ok((part, step))
    }

    /// Opens the command list for recording. Nothing may be in flight.
    pub(super) fn open(&mut self) -> Result<(), FlightFault> {
        // SAFETY: the last recording has been executed, or never will be.
        let opened = unsafe {
            self.allocator
                .Reset()
                .and_then(|()| self.list.Reset(&self.allocator, None::<&ID3D12PipelineState>))
        };
        self.is_open = opened.is_ok();
        opened.call(Phase::Execute, "resetting the command list")
    }

    /// Discards a recording that was not submitted. `false` if the lane is no longer usable.
    pub(super) fn discard(&mut self) -> bool {
        // SAFETY: the list is open, and the recorded commands are never executed.
        !mem::take(&mut self.is_open) || unsafe { self.list.Close() }.is_ok()
    }

    /// Executes the recording after the awaited submissions.
    pub(super) fn submit(&mut self, awaited: &[Submission]) -> Result<Submission, FlightFault> {
        self.is_open = false;
        // SAFETY: this lane owns all recorded resources, or its flight keeps them alive until the fence is
        // reached.
        unsafe {
            for Submission { fence, number } in awaited {
                if fence.GetCompletedValue() < *number {
                    self.queue.Wait(fence, *number).call(Phase::Execute, "ID3D12CommandQueue::Wait")?;
                }
            }
            self.list.Close().call(Phase::Execute, "closing the command list")?;
            let list: ID3D12CommandList = self.list.cast().call(Phase::Execute, "the command list")?;
            self.submissions += 1;
            self.queue.ExecuteCommandLists(&[Some(list)]);
            self.queue
                .Signal(&self.fence, self.submissions)
                .call(Phase::Execute, "ID3D12CommandQueue::Signal")?;
        }
        Ok(Submission { fence: self.fence.clone(), number: self.submissions })
    }

    /// Waits until the last submission is done or its device is removed. `false` if neither happens in time.
    pub(super) fn wait(&self, timeout: Duration) -> Result<bool, FlightFault> {
        if self.is_done() {
            return Ok(true);
        }
        let (start, event) = (Instant::now(), HANDLE(self.event.as_raw_handle()));
        // SAFETY: fence and event are alive.
        unsafe { self.fence.SetEventOnCompletion(self.submissions, event) }
            .call(Phase::Execute, "ID3D12Fence::SetEventOnCompletion")?;
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            let milliseconds = u32::try_from(left.as_millis()).unwrap_or(u32::MAX - 1);
            // SAFETY: the event is alive.
            match unsafe { WaitForSingleObject(event, milliseconds) } {
                // The event may belong to an earlier submission, whose wait timed out.
                WAIT_OBJECT_0 if !self.is_done() => {}
                WAIT_FAILED => return Err(Error::from_thread()).call(Phase::Execute, "WaitForSingleObject"),
                _ => return Ok(self.is_done()),
            }
        }
    }

    /// Whether nothing is in flight on the lane.
    pub(super) fn is_done(&self) -> bool {
        // SAFETY: the fence is alive.
        unsafe { self.fence.GetCompletedValue() >= self.submissions }
    }
}

impl Buffer {
    fn reserve(&mut self, device: &ID3D12Device, bytes: u64) -> Result<(), FlightFault> {
        if self.bytes >= bytes && self.resource.is_some() {
            return Ok(());
        }
        (self.resource, self.bytes) = (None, 0);
        // Half as much room again avoids frequent growth.
        let room = if bytes < KEPT / 2 { bytes + bytes / 2 } else { bytes };
        let room = room.max(1).next_multiple_of(GRAIN);
        self.resource = Some(buffer(device, self.kind, room)?);
        self.bytes = room;
        Ok(())
    }

    /// The resource, which exists since the first [`Lane::reserve`].
    pub(super) fn resource(&self) -> Result<&ID3D12Resource, FlightFault> {
        self.resource.as_ref().ok_or(FlightFault::Impossible("a buffer was used before it was made"))
    }

    /// Passes the first bytes to `write`, if the host can access them.
    pub(super) fn write(&mut self, bytes: u64, write: impl FnOnce(&mut [u8])) -> Result<(), FlightFault> {
        self.mapped(bytes, &D3D12_RANGE { Begin: 0, End: 0 }, |start, length| {
            // SAFETY: this many bytes are mapped, `self` is borrowed mutably, and the device reads them only
            // in later submissions.
            write(unsafe { slice::from_raw_parts_mut(start, length) });
            length
        })
    }

    /// Passes the first bytes to `read`, if the host can access them.
    pub(super) fn read<T>(&mut self, bytes: u64, read: impl FnOnce(&[u8]) -> T) -> Result<T, FlightFault> {
        let mut result = None;
        let range = D3D12_RANGE { Begin: 0, End: bytes.min(self.bytes) as usize };
        self.mapped(bytes, &range, |start, length| {
            // SAFETY: this many bytes are mapped, and the submission that wrote them is done.
            result = Some(read(unsafe { slice::from_raw_parts(start, length) }));
            0
        })?;
        result.ok_or(FlightFault::Impossible("a buffer was not mapped"))
    }

    /// Maps the first bytes while `act` runs, which returns the number of bytes that it wrote.
    fn mapped(
        &mut self,
        bytes: u64,
        read: &D3D12_RANGE,
        act: impl FnOnce(*mut u8, usize) -> usize,
    ) -> Result<(), FlightFault> {
        let length = bytes.min(self.bytes) as usize;
        let resource = self.resource()?;
        let mut start = ptr::null_mut();
        // SAFETY: a buffer has one subresource, and `start` has room for one address.
        unsafe { resource.Map(0, Some(read), Some(&raw mut start)) }
            .call(Phase::ReadBack, "ID3D12Resource::Map")?;
        if start.is_null() {
            return Err(FlightFault::Impossible("a buffer was mapped to no address"));
        }
        let written = D3D12_RANGE { Begin: 0, End: act(start.cast(), length) };
        // SAFETY: the resource is mapped, and no pointer into it remains.
        unsafe { resource.Unmap(0, Some(&raw const written)) };
        Ok(())
    }
}

/// A buffer of this many bytes. A buffer in device memory allows unordered access.
pub(super) fn buffer(
    device: &ID3D12Device,
    kind: D3D12_HEAP_TYPE,
    bytes: u64,
) -> Result<ID3D12Resource, FlightFault> {
    let heap = D3D12_HEAP_PROPERTIES { Type: kind, ..Default::default() };
    let (state, flags) = match kind {
        D3D12_HEAP_TYPE_UPLOAD => (D3D12_RESOURCE_STATE_GENERIC_READ, D3D12_RESOURCE_FLAG_NONE),
        D3D12_HEAP_TYPE_READBACK => (D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_FLAG_NONE),
        _ => (D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
    };
    let desc = D3D12_RESOURCE_DESC {
        Dimension: D3D12_RESOURCE_DIMENSION_BUFFER,
        Alignment: 0,
        Width: bytes,
        Height: 1,
        DepthOrArraySize: 1,
        MipLevels: 1,
        Format: DXGI_FORMAT_UNKNOWN,
        SampleDesc: DXGI_SAMPLE_DESC { Count: 1, Quality: 0 },
        Layout: D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
        Flags: flags,
    };
    let mut resource: Option<ID3D12Resource> = None;
    // SAFETY: the device is alive, and `resource` has room for one interface.
    let created = unsafe {
        device.CreateCommittedResource(
            &raw const heap,
            D3D12_HEAP_FLAG_NONE,
            &raw const desc,
            state,
            None,
            &raw mut resource,
        )
    };
    created.and_then(|()| given(resource)).call(Phase::Bind, "CreateCommittedResource")
}

/// A barrier for a buffer's transition between two states.
pub(super) fn transition(
    resource: &ID3D12Resource,
    before: D3D12_RESOURCE_STATES,
    after: D3D12_RESOURCE_STATES,
) -> D3D12_RESOURCE_BARRIER {
    D3D12_RESOURCE_BARRIER {
        Type: D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
        Anonymous: D3D12_RESOURCE_BARRIER_0 {
            Transition: ManuallyDrop::new(D3D12_RESOURCE_TRANSITION_BARRIER {
                pResource: borrowed(resource),
                Subresource: D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                StateBefore: before,
                StateAfter: after,
            }),
        },
        ..Default::default()
    }
}

/// A barrier that makes earlier writes visible to later commands.
pub(super) fn written() -> D3D12_RESOURCE_BARRIER {
    D3D12_RESOURCE_BARRIER {
        Type: D3D12_RESOURCE_BARRIER_TYPE_UAV,
        Anonymous: D3D12_RESOURCE_BARRIER_0 {
            UAV: ManuallyDrop::new(D3D12_RESOURCE_UAV_BARRIER { pResource: ManuallyDrop::new(None) }),
        },
        ..Default::default()
    }
}

/// A copy of the pointer without a reference count. The barrier ends before the borrow does.
fn borrowed(resource: &ID3D12Resource) -> ManuallyDrop<Option<ID3D12Resource>> {
    // SAFETY: an interface is a non-null pointer, and so is an optional one. This copy is never dropped.
    unsafe { transmute_copy(resource) }
}

#[cfg(test)]
mod tests {
    use windows::Win32::Graphics::{
        Direct3D::D3D_FEATURE_LEVEL_11_0, Direct3D12::D3D12CreateDevice, Dxgi::IDXGIAdapter1,
    };

    use super::*;
    use crate::direct3d::{
        adapter,
        testing::{LaneBlock, options},
    };

    const MOMENT: Duration = Duration::from_millis(300);
    const LONG: Duration = Duration::from_secs(30);

    /// A device and its adapter, which Wine requires to stay alive.
    fn device() -> (ID3D12Device, IDXGIAdapter1) {
        let found = adapter::find(&options().adapter).expect("there is such an adapter");
        let mut device: Option<ID3D12Device> = None;
        // SAFETY: the adapter is alive, and `device` has room for one interface.
        unsafe { D3D12CreateDevice(&found.handle, D3D_FEATURE_LEVEL_11_0, &raw mut device) }
            .expect("it works");
        (device.expect("there is a device"), found.handle)
    }

    fn submit(lane: &mut Lane, awaited: &[Submission]) -> Submission {
        lane.open().expect("nothing is under way");
        lane.submit(awaited).expect("the device is there")
    }

    /// This happens if a lane uses an operator that another lane is still initialising.
    #[test]
    fn a_lane_waits_for_what_another_has_submitted_until_that_is_done() {
        let (device, _adapter) = device();
        let mut lanes = [(); 4].map(|()| Lane::new(&device).expect("there is room"));
        let [first, second, bystander, late] = &mut lanes;
        let hold = LaneBlock::on(first, &device);
        let submission = submit(first, &[]);
        submit(second, std::slice::from_ref(&submission));
        submit(bystander, &[]);
        assert_eq!(bystander.wait(LONG), Ok(true), "it waits for nobody");
        assert_eq!([first.wait(MOMENT), second.wait(MOMENT)], [Ok(false), Ok(false)]);
        hold.release();
        assert_eq!([first.wait(LONG), second.wait(LONG)], [Ok(true), Ok(true)]);
        submit(late, &[submission]);
        assert_eq!(late.wait(LONG), Ok(true));
    }

    /// The event of a wait that timed out is set later, when no thread waits for it.
    #[test]
    fn a_wait_is_not_over_since_an_earlier_submission_is_done() {
        let (device, _adapter) = device();
        let mut lane = Lane::new(&device).expect("there is room");
        let hold = LaneBlock::on(&lane, &device);
        submit(&mut lane, &[]);
        assert_eq!(lane.wait(MOMENT), Ok(false));
        hold.release();
        // This loop does not wait on the event, which would consume it.
        while !lane.is_done() {
            std::thread::yield_now();
        }
        let hold = LaneBlock::on(&lane, &device);
        submit(&mut lane, &[]);
        assert_eq!(lane.wait(MOMENT), Ok(false));
        hold.release();
        assert_eq!(lane.wait(LONG), Ok(true));
    }

    #[test]
    fn a_lane_whose_recording_is_dropped_can_be_used_again() {
        let (device, _adapter) = device();
        let mut lane = Lane::new(&device).expect("there is room");
        assert!(lane.discard(), "nothing was recorded");
        for _ in 0..2 {
            lane.open().expect("nothing is under way");
            assert!(lane.discard());
            submit(&mut lane, &[]);
            assert_eq!(lane.wait(LONG), Ok(true));
            assert!(lane.discard());
        }
    }
}
