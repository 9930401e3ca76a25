//! The command recorder: records operators as copies in a client's command list.
//!
//! A client passes bound resources in the state UNORDERED_ACCESS or COMMON, and finds them in
//! UNORDERED_ACCESS afterwards. Copies need other states, so each copy is recorded between transition
//! barriers. These barriers also order the copy after all earlier commands. The module `watch` checks
//! separately whether the client's own barriers order them.

use std::{mem::ManuallyDrop, sync::PoisonError};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            IDMLBindingTable, IDMLCommandRecorder, IDMLCommandRecorder_Impl, IDMLDispatchable,
        },
        Graphics::{
            Direct3D12::{
                D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_BARRIER, D3D12_RESOURCE_BARRIER_0,
                D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                D3D12_RESOURCE_FLAG_NONE, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST,
                D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                D3D12_RESOURCE_STATES, D3D12_RESOURCE_TRANSITION_BARRIER, ID3D12CommandList,
                ID3D12GraphicsCommandList, ID3D12Resource,
            },
            Dxgi::DXGI_ERROR_DEVICE_REMOVED,
        },
    },
    core::{ComObject, HRESULT, Interface, Ref, implement},
};

use super::{
    child,
    device::Device,
    initializer::Initializer,
    operator::{Compiled, VALUES},
    say,
    table::{Bindings, Range, Table, Target},
    watch::{self, barrier_unseen, copy_unseen},
};
use crate::{
    misbehaviour::{Call, Fault},
    moves::{MOST_MOVES, Source},
};

/// The size of a copy in bytes, and the number of copies that keep a device busy. On a CPU, copying 64 MiB
/// takes ten milliseconds.
const BUSY: (u64, usize) = (64 << 20, 6000);

/// Implements `IDMLCommandRecorder`.
#[implement(IDMLCommandRecorder)]
pub(super) struct Recorder {
    pub(super) device: ComObject<Device>,
}

child!(Recorder_Impl);

/// Why the device is removed.
struct Removal(HRESULT, String);

impl From<windows::core::Error> for Removal {
    fn from(error: windows::core::Error) -> Self {
        Self(error.code(), "Direct3D 12 failed".to_owned())
    }
}

fn removal<T>(why: &str) -> Result<T, Removal> {
    Err(Removal(DXGI_ERROR_DEVICE_REMOVED, why.to_owned()))
}

impl IDMLCommandRecorder_Impl for Recorder_Impl {
    fn RecordDispatch(
        &self,
        list: Ref<ID3D12CommandList>,
        dispatchable: Ref<IDMLDispatchable>,
        bindings: Ref<IDMLBindingTable>,
    ) {
        if !self.device.works() {
            return;
        }
        let record = || -> Result<(), Removal> {
            let list = Copies { list: list.ok()?.cast()?, device: &self.device };
            let target = Target::of(dispatchable.ok()?)?;
            let table = bindings.ok()?.cast_object_ref::<Table>()?;
            let bindings = table.bindings();
            if !target.same(&bindings.target) {
                return removal("the binding table is for something else");
            }
            list.take(table, &bindings).or_else(removal)?;
            watch::dispatch(&list.list, &self.device, &bindings.uses()).or_else(|why| removal(&why))?;
            let begin = |call| {
                let begun = self.device.begin(call);
                begun.map_err(|error| Removal(error.code(), "it was told to fail".to_owned()))
            };
            match &target {
                Target::Compiled(compiled) => list.execute(compiled, &bindings, begin(Call::Dispatch)?),
                Target::Initializer(initializer) => {
                    begin(Call::InitializerDispatch)?;
                    list.initialize(initializer, &bindings)
                }
            }
        };
        if let Err(Removal(reason, why)) = record() {
            self.device.remove(reason, &format!("dispatching: {why}"));
        }
    }
}

/// A command list, and the device that records into it.
struct Copies<'a> {
    list: ID3D12GraphicsCommandList,
    device: &'a Device,
}

/// A copy of `length` bytes, from an offset in one buffer to an offset in another.
struct Piece {
    to: u64,
    from: u64,
    length: u64,
}

impl Copies<'_> {
    /// Reserves the table's descriptors for a dispatch. Fails if another dispatch uses them.
    fn take(&self, table: &Table, bindings: &Bindings) -> Result<(), &'static str> {
        let mut taken = self.device.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.take(self.list.as_raw().addr(), table.number, bindings.descriptors(self.device))
    }

    /// Fills the persistent resource of each operator: first the owned input, then the padding value.
    fn initialize(&self, initializer: &Initializer, bindings: &Bindings) -> Result<(), Removal> {
        let work = initializer.work();
        for (index, compiled) in work.operators.iter().enumerate() {
            let Some(operator) = &compiled.operator else { return removal("the desc was invalid") };
            if compiled.persistent_size() == 0 {
                compiled.initialization.begin(None).or_else(removal)?;
                continue;
            }
            let Some(persistent) = &bindings.outputs[index] else { return removal("an output is not bound") };
            compiled.initialization.begin(Some(persistent.place())).or_else(removal)?;
            if operator.input.owned {
                let Some(input) = &bindings.inputs[index] else {
                    return removal("an owned input is not bound");
                };
                self.copy(persistent, input, &[Piece { to: 0, from: 0, length: operator.input.total_size }])?;
            }
            if let Some(values) = work.values.as_ref().filter(|_| !operator.value.is_empty()) {
                let Some(temporary) = &bindings.temporary else {
                    return removal("no temporary resource is bound");
                };
                // A client must not rely on the contents of a temporary resource, so they are overwritten.
                let piece = |to| [Piece { to, from: index as u64 * VALUES, length: VALUES }];
                self.regions(temporary, values, 0, &piece(0));
                self.regions(persistent, values, 0, &piece(compiled.owned_size()));
            }
        }
        Ok(())
    }

    /// Records the copies of an operator, and then the fault of this dispatch.
    fn execute(&self, compiled: &Compiled, bindings: &Bindings, fault: Option<Fault>) -> Result<(), Removal> {
        let Some(operator) = &compiled.operator else { return removal("the desc was invalid") };
        let persistent = bindings.persistent.as_ref().filter(|_| compiled.persistent_size() > 0);
        compiled.initialization.check(persistent.map(Range::place)).or_else(removal)?;
        let Some(output) = &bindings.outputs[0] else { return removal("the output is not bound") };
        let bound = if operator.input.owned { persistent } else { bindings.inputs[0].as_ref() };
        let Some(bound) = bound else { return removal("the input is not bound") };
        let mut input = bound;
        if operator.temporary {
            let Some(temporary) = &bindings.temporary else {
                return removal("no temporary resource is bound");
            };
            self.copy(temporary, bound, &[Piece { to: 0, from: 0, length: operator.input.total_size }])?;
            input = temporary;
        }

        let Some(mut moves) = operator.moves(MOST_MOVES) else {
            return removal("an operator was compiled that takes too many copies");
        };
        if fault == Some(Fault::MissingElement)
            && let Some(last) = moves.last_mut()
        {
            last.length -= operator.output.element;
        }
        let (mut pieces, mut values) = (Vec::new(), Vec::new());
        for step in moves.iter().filter(|step| step.length > 0) {
            match step.source {
                Source::Input(from) => pieces.push(Piece { to: step.to, from, length: step.length }),
                Source::Value => {
                    for done in (0..step.length).step_by(VALUES as usize) {
                        let length = (step.length - done).min(VALUES);
                        values.push(Piece { to: step.to + done, from: compiled.owned_size(), length });
                    }
                }
            }
        }
        self.copy(output, input, &pieces)?;
        if !values.is_empty() {
            let Some(persistent) = persistent else { return removal("no persistent resource is bound") };
            self.copy(output, persistent, &values)?;
        }

        let element = operator.output.element;
        match fault {
            Some(Fault::WrongElement) => self.spoil(output, 0, element)?,
            Some(Fault::Outside) => self.spoil(output, output.size, 4)?,
            Some(Fault::InputChanged) => self.spoil(bound, 0, element)?,
            Some(Fault::Hang) => self.take_long()?,
            _ => {}
        }
        Ok(())
    }

    /// Overwrites `length` bytes with values that no test expects. Fails if they are outside of the resource.
    fn spoil(&self, range: &Range, at: u64, length: u64) -> Result<(), Removal> {
        // SAFETY: the resource is alive, because `range` holds a reference.
        let width = unsafe { range.resource.GetDesc() }.Width;
        if range.offset + at + length > width {
            return removal("it was told to write where there is no memory");
        }
        let marks = self.device.upload(&[0xDB; 8])?;
        self.device.keep(&marks);
        self.regions(range, &marks, 0, &[Piece { to: at, from: 0, length }]);
        Ok(())
    }

    /// Keeps the device busy for a long time. No command that can be recorded here waits forever.
    fn take_long(&self) -> Result<(), Removal> {
        let (bytes, times) = BUSY;
        let buffer = || {
            let heap = D3D12_HEAP_TYPE_DEFAULT;
            self.device.buffer(heap, bytes, D3D12_RESOURCE_FLAG_NONE, D3D12_RESOURCE_STATE_COMMON)
        };
        let (from, to) = (buffer()?, buffer()?);
        for _ in 0..times {
            // SAFETY: both buffers have `bytes` bytes, and are promoted from COMMON to the states that the
            // copy needs.
            unsafe { copy_unseen(&self.list, (&to, 0), (&from, 0), bytes) };
        }
        self.device.keep(&from);
        self.device.keep(&to);
        say(format_args!("a dispatch takes long: it was told to do so"));
        Ok(())
    }

    /// Copies from one bound range to another.
    fn copy(&self, to: &Range, from: &Range, pieces: &[Piece]) -> Result<(), Removal> {
        if to.resource == from.resource {
            return removal("the stand-in cannot copy within one resource");
        }
        self.state(&from.resource, D3D12_RESOURCE_STATE_COPY_SOURCE, true);
        self.regions(to, &from.resource, from.offset, pieces);
        self.state(&from.resource, D3D12_RESOURCE_STATE_COPY_SOURCE, false);
        Ok(())
    }

    /// Copies from a buffer that is already in a state for copying from it.
    fn regions(&self, to: &Range, from: &ID3D12Resource, offset: u64, pieces: &[Piece]) {
        self.state(&to.resource, D3D12_RESOURCE_STATE_COPY_DEST, true);
        for piece in pieces {
            // SAFETY: both places were checked against the bound ranges, and the ranges against their
            // buffers.
            unsafe {
                copy_unseen(
                    &self.list,
                    (&to.resource, to.offset + piece.to),
                    (from, offset + piece.from),
                    piece.length,
                );
            }
        }
        self.state(&to.resource, D3D12_RESOURCE_STATE_COPY_DEST, false);
    }

    /// Records a transition of a resource from UNORDERED_ACCESS to `state`, or back if `there` is false.
    fn state(&self, resource: &ID3D12Resource, state: D3D12_RESOURCE_STATES, there: bool) {
        let usual = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
        let (before, after) = if there { (usual, state) } else { (state, usual) };
        // SAFETY: the bitwise copy of the interface pointer is neither used nor dropped after the call.
        let borrowed = unsafe { std::mem::transmute_copy(resource) };
        let barrier = D3D12_RESOURCE_BARRIER {
            Type: D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
            Anonymous: D3D12_RESOURCE_BARRIER_0 {
                Transition: ManuallyDrop::new(D3D12_RESOURCE_TRANSITION_BARRIER {
                    pResource: borrowed,
                    Subresource: D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                    StateBefore: before,
                    StateAfter: after,
                }),
            },
            ..Default::default()
        };
        // SAFETY: the barrier is a transition, which matches its `Type`.
        unsafe { barrier_unseen(&self.list, &barrier) };
    }
}
