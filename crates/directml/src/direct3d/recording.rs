//! Records the command list of a flight: copies, barriers and dispatches.

use std::{ops::Range, ptr};

use dmlcts_model::Phase;
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_DESC, DML_BINDING_TYPE_BUFFER, DML_BINDING_TYPE_BUFFER_ARRAY, DML_BINDING_TYPE_NONE,
            IDMLBindingTable, IDMLDispatchable,
        },
        Graphics::Direct3D12::{
            D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE,
            D3D12_RESOURCE_STATE_UNORDERED_ACCESS, ID3D12DescriptorHeap, ID3D12Resource,
        },
    },
    core::Interface,
};

use super::{
    descriptors::DescriptorPart,
    device::{Compiled, Device},
    fault::{Call, FlightFault},
    initializing::Initializing,
    lane::{Lane, transition, written},
};
use crate::raw::{
    D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_GPU_DESCRIPTOR_HANDLE, DML_BINDING_TABLE_DESC,
    DML_BUFFER_ARRAY_BINDING, DML_BUFFER_BINDING,
};

/// A command list during recording.
pub(super) struct Recording<'a> {
    lane: &'a Lane,
    device: &'a Device,
    inputs: &'a ID3D12Resource,
    outputs: &'a ID3D12Resource,
    scratch: &'a ID3D12Resource,
    heap: ID3D12DescriptorHeap,
    step: u32,
    next: u32,
    table: Option<IDMLBindingTable>,
}

impl<'a> Recording<'a> {
    pub(super) fn new(device: &'a Device, lane: &'a mut Lane, descriptors: u32) -> Result<Self, FlightFault> {
        let (DescriptorPart { heap, first, .. }, step) = lane.descriptors(&device.heaps, descriptors)?;
        lane.open()?;
        let lane = &*lane;
        // SAFETY: the list is open, and the lane keeps the heap alive.
        unsafe { lane.list.SetDescriptorHeaps(&[Some(heap.clone())]) };
        Ok(Self {
            device,
            inputs: lane.inputs.resource()?,
            outputs: lane.outputs.resource()?,
            scratch: lane.scratch.resource()?,
            lane,
            heap,
            step,
            next: first,
            table: None,
        })
    }

    /// Copies the upload to the buffers that operators access.
    ///
    /// Temporary and persistent resources need no transition. A buffer that the list has not used yet is in
    /// the state COMMON. From there, a dispatch promotes it to UNORDERED_ACCESS, and a copy to COPY_DEST
    /// (<https://learn.microsoft.com/windows/ai/directml/dml-barriers>).
    pub(super) fn arrive(&self, inputs: u64, outputs: u64) {
        let (copied, used) = (D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        let Ok(upload) = self.lane.upload.resource() else { return };
        // SAFETY: the list is open. The buffers are large enough for these bytes, and the lane keeps all of
        // them alive.
        unsafe {
            let list = &self.lane.list;
            list.CopyBufferRegion(self.inputs, 0, upload, 0, inputs);
            list.CopyBufferRegion(self.outputs, 0, upload, inputs, outputs);
            list.ResourceBarrier(&[
                transition(self.inputs, copied, used),
                transition(self.outputs, copied, used),
            ]);
        }
    }

    /// Copies the buffers to the readback buffer.
    pub(super) fn leave(&self, inputs: u64, outputs: u64) {
        let (used, copied) = (D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        let Ok(readback) = self.lane.readback.resource() else { return };
        // SAFETY: the list is open. The buffers are large enough for these bytes, and the lane keeps them
        // alive.
        unsafe {
            let list = &self.lane.list;
            list.ResourceBarrier(&[
                transition(self.inputs, used, copied),
                transition(self.outputs, used, copied),
            ]);
            list.CopyBufferRegion(readback, 0, self.inputs, 0, inputs);
            list.CopyBufferRegion(readback, inputs, self.outputs, 0, outputs);
        }
    }

    /// Makes earlier writes visible to later commands.
    pub(super) fn barrier(&self) {
        // SAFETY: the list is open.
        unsafe { self.lane.list.ResourceBarrier(&[written()]) };
    }

    pub(super) fn initialize(&mut self, initializing: &Initializing) -> Result<(), FlightFault> {
        let Initializing { dispatchable, descriptors, temporary, operators, input } = initializing;
        let table = self.bind_to(dispatchable, *descriptors)?;
        let owned = input.as_ref().map(|range| bind(self.inputs, range));
        let array = DML_BUFFER_ARRAY_BINDING {
            BindingCount: 1,
            Bindings: owned.as_ref().map_or(ptr::null(), ptr::from_ref),
        };
        let inputs =
            [DML_BINDING_DESC { Type: DML_BINDING_TYPE_BUFFER_ARRAY, Desc: ptr::from_ref(&array).cast() }];
        let buffers: Vec<_> = operators.iter().map(|operator| persistent(operator)).collect();
        let outputs: Vec<_> = buffers.iter().map(Option::as_ref).map(binding).collect();
        // SAFETY: the memory behind the bindings outlives these calls. The lane and the operators keep the
        // buffers alive.
        unsafe {
            table.BindInputs(owned.is_some().then_some(&inputs));
            table.BindOutputs(Some(&outputs));
        }
        self.bind_temporary(&table, temporary);
        self.record(dispatchable, &table)
    }

    /// Records a run of an operator, whose tensors are these parts of the two buffers.
    pub(super) fn dispatch(
        &mut self,
        operator: &Compiled,
        input: &Range<u64>,
        output: &Range<u64>,
        temporary: &Range<u64>,
    ) -> Result<(), FlightFault> {
        let dispatchable: IDMLDispatchable =
            operator.operator.0.cast().call(Phase::Bind, "IDMLDispatchable")?;
        let table = self.bind_to(&dispatchable, operator.properties.RequiredDescriptorCount)?;
        let input = bind(self.inputs, input);
        let output = bind(self.outputs, output);
        // An input that the operator owns was bound at its initialisation.
        let input = binding((!operator.owns_input).then_some(&input));
        // SAFETY: the memory behind the bindings outlives these calls. The lane keeps the buffers alive.
        unsafe {
            table.BindInputs(Some(&[input]));
            table.BindOutputs(Some(&[binding(Some(&output))]));
        }
        self.bind_temporary(&table, temporary);
        if let Some(buffer) = persistent(operator) {
            let desc = binding(Some(&buffer));
            // SAFETY: the memory behind the binding outlives this call. The operator keeps the buffer alive.
            unsafe { table.BindPersistentResource(Some(&raw const desc)) };
        }
        self.record(&dispatchable, &table)
    }

    /// Resets the binding table for another dispatchable, with unused descriptors.
    fn bind_to(
        &mut self,
        dispatchable: &IDMLDispatchable,
        descriptors: u32,
    ) -> Result<IDMLBindingTable, FlightFault> {
        // SAFETY: the heap is alive.
        let (host, device) = unsafe {
            (self.heap.GetCPUDescriptorHandleForHeapStart(), self.heap.GetGPUDescriptorHandleForHeapStart())
        };
        let offset = u64::from(self.next) * u64::from(self.step);
        self.next += descriptors;
        let desc = DML_BINDING_TABLE_DESC {
            Dispatchable: dispatchable.as_raw().cast(),
            CPUDescriptorHandle: D3D12_CPU_DESCRIPTOR_HANDLE { ptr: host.ptr + offset as usize },
            GPUDescriptorHandle: D3D12_GPU_DESCRIPTOR_HANDLE { ptr: device.ptr + offset },
            SizeInDescriptors: descriptors,
        };
        let desc = Some((&raw const desc).cast());
        if let Some(table) = &self.table {
            // SAFETY: the desc has the layout of the header. The heap and the dispatchable are alive, and the
            // heap has enough descriptors.
            unsafe { table.Reset(desc) }
                .call(Phase::Bind, "IDMLBindingTable::Reset")
                .map_err(|fault| self.device.explained(fault))?;
            return Ok(table.clone());
        }
        // SAFETY: as above.
        let table: IDMLBindingTable = unsafe { self.device.directml.0.CreateBindingTable(desc) }
            .call(Phase::Bind, "CreateBindingTable")
            .map_err(|fault| self.device.explained(fault))?;
        self.table = Some(table.clone());
        Ok(table)
    }

    fn bind_temporary(&self, table: &IDMLBindingTable, range: &Range<u64>) {
        if !range.is_empty() {
            let buffer = bind(self.scratch, range);
            let desc = binding(Some(&buffer));
            // SAFETY: the memory behind the binding outlives this call. The lane keeps the buffer alive.
            unsafe { table.BindTemporaryResource(Some(&raw const desc)) };
        }
    }

    /// Records a dispatch, unless its bindings removed the device: the binding calls themselves return no
    /// error.
    fn record(&self, dispatchable: &IDMLDispatchable, table: &IDMLBindingTable) -> Result<(), FlightFault> {
        self.device.removal(Phase::Bind)?;
        // SAFETY: the list is open and has the heap of the table's descriptors. The flight keeps the
        // dispatchable alive.
        unsafe { self.device.recorder.0.RecordDispatch(&self.lane.list, dispatchable, table) };
        Ok(())
    }
}

fn persistent(operator: &Compiled) -> Option<DML_BUFFER_BINDING> {
    let buffer = operator.persistent.as_ref()?;
    Some(bind(buffer, &(0..operator.properties.PersistentResourceSize)))
}

fn bind(buffer: &ID3D12Resource, range: &Range<u64>) -> DML_BUFFER_BINDING {
    DML_BUFFER_BINDING {
        Buffer: buffer.as_raw().cast(),
        Offset: range.start,
        SizeInBytes: range.end - range.start,
    }
}

fn binding(buffer: Option<&DML_BUFFER_BINDING>) -> DML_BINDING_DESC {
    match buffer {
        Some(buffer) => {
            DML_BINDING_DESC { Type: DML_BINDING_TYPE_BUFFER, Desc: ptr::from_ref(buffer).cast() }
        }
        None => DML_BINDING_DESC { Type: DML_BINDING_TYPE_NONE, Desc: ptr::null() },
    }
}
