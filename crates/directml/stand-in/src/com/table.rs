//! The binding table: the resources that a dispatch reads and writes. The bind methods check each binding and
//! write a descriptor for it.

use std::{
    ops, ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use dmlcts_directml::raw;
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_DESC, DML_BINDING_TABLE_DESC, IDMLBindingTable, IDMLBindingTable_Impl,
            IDMLDispatchable,
        },
        Foundation::E_INVALIDARG,
        Graphics::{
            Direct3D12::{
                D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT, D3D12_CONSTANT_BUFFER_VIEW_DESC,
                D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_RESOURCE_DIMENSION_BUFFER,
                D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, ID3D12Resource,
            },
            Dxgi::DXGI_ERROR_DEVICE_REMOVED,
        },
    },
    core::{ComObject, Interface, Result, implement},
};

use super::{child, device::Device, initializer::Initializer, operator::Compiled, watch};
use crate::{barriers::Use, binding::Part, initialization::Place, misbehaviour::Call};

/// The required alignment of the offset of a temporary or persistent resource, in bytes.
const RESOURCE_ALIGNMENT: u64 = raw::DML_TEMPORARY_BUFFER_ALIGNMENT as u64;
const _: () = assert!(raw::DML_TEMPORARY_BUFFER_ALIGNMENT == raw::DML_PERSISTENT_BUFFER_ALIGNMENT);

/// The size and the offset of a constant buffer are multiples of this number of bytes. A constant buffer has
/// at most [`MOST_BLOCKS`] such blocks.
const BLOCK: u64 = D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT as u64;
const MOST_BLOCKS: u64 = 256;

/// The number of tables created so far.
static TABLES: AtomicU64 = AtomicU64::new(0);

/// Implements `IDMLBindingTable`.
#[implement(IDMLBindingTable)]
pub(super) struct Table {
    pub(super) device: ComObject<Device>,
    /// Unique in the process, and never reused.
    pub(super) number: u64,
    bindings: Mutex<Bindings>,
}

child!(Table_Impl);

/// The bound resources, and the object that they are bound for.
pub(super) struct Bindings {
    pub(super) target: Target,
    heap: D3D12_CPU_DESCRIPTOR_HANDLE,
    /// The number of descriptors that the client provides.
    size: u32,
    pub(super) inputs: Vec<Option<Range>>,
    pub(super) outputs: Vec<Option<Range>>,
    pub(super) temporary: Option<Range>,
    pub(super) persistent: Option<Range>,
}

/// The object that is dispatched.
#[derive(Clone)]
pub(super) enum Target {
    Compiled(ComObject<Compiled>),
    Initializer(ComObject<Initializer>),
}

/// A byte range of a buffer.
#[derive(Clone)]
pub(super) struct Range {
    pub(super) resource: ID3D12Resource,
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Target {
    pub(super) fn of(dispatchable: &IDMLDispatchable) -> Result<Self> {
        match dispatchable.cast_object::<Compiled>() {
            Ok(compiled) => Ok(Self::Compiled(compiled)),
            Err(_) => dispatchable.cast_object().map(Self::Initializer),
        }
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Compiled(one), Self::Compiled(other)) => ptr::eq(&raw const **one, &raw const **other),
            (Self::Initializer(one), Self::Initializer(other)) => {
                ptr::eq(&raw const **one, &raw const **other)
            }
            _ => false,
        }
    }

    /// The number of inputs, which is also the number of outputs. Each has a descriptor. The descriptors of
    /// the temporary and the persistent resource follow.
    fn count(&self) -> usize {
        match self {
            Self::Compiled(_) => 1,
            Self::Initializer(initializer) => initializer.work().operators.len(),
        }
    }

    fn descriptors(&self) -> u32 {
        match self {
            Self::Compiled(_) => 4,
            Self::Initializer(_) => 2 * self.count() as u32 + 1,
        }
    }

    fn temporary_size(&self) -> u64 {
        match self {
            Self::Compiled(compiled) => compiled.temporary_size(),
            Self::Initializer(initializer) => initializer.temporary_size(),
        }
    }
}

impl Table {
    /// # Safety
    ///
    /// `desc` and the dispatchable in it are null or valid for reads.
    pub(super) unsafe fn new(device: ComObject<Device>, desc: *const DML_BINDING_TABLE_DESC) -> Result<Self> {
        // SAFETY: the caller guarantees that `desc` and the dispatchable in it are null or valid.
        let bindings = unsafe { Bindings::new(desc) }?;
        let number = TABLES.fetch_add(1, Ordering::Relaxed);
        Ok(Self { device, number, bindings: Mutex::new(bindings) })
    }

    pub(super) fn bindings(&self) -> MutexGuard<'_, Bindings> {
        self.bindings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs a bind call. If it fails, removes the device.
    fn bind(
        &self,
        call: Call,
        what: &str,
        act: impl FnOnce(&mut Bindings, &Device) -> std::result::Result<(), String>,
    ) {
        if !self.device.works() {
            return;
        }
        if let Err(error) = self.device.begin(call) {
            self.device.remove(error.code(), &format!("{what}: it was told to fail"));
            return;
        }
        if let Err(why) = act(&mut self.bindings(), &self.device) {
            self.device.remove(DXGI_ERROR_DEVICE_REMOVED, &format!("{what}: {why}"));
        }
    }
}

impl Bindings {
    /// # Safety
    ///
    /// The requirements of [`Table::new`] apply.
    unsafe fn new(desc: *const DML_BINDING_TABLE_DESC) -> Result<Self> {
        // SAFETY: the caller guarantees that `desc` and the dispatchable in it are null or valid.
        let desc = unsafe { desc.as_ref() }.ok_or(E_INVALIDARG)?;
        let target = Target::of(desc.Dispatchable.as_ref().ok_or(E_INVALIDARG)?)?;
        let no_heap = desc.CPUDescriptorHandle.ptr == 0 || desc.GPUDescriptorHandle.ptr == 0;
        if no_heap || desc.SizeInDescriptors < target.descriptors() {
            return Err(E_INVALIDARG.into());
        }
        let count = target.count();
        Ok(Self {
            target,
            heap: desc.CPUDescriptorHandle,
            size: desc.SizeInDescriptors,
            inputs: vec![None; count],
            outputs: vec![None; count],
            temporary: None,
            persistent: None,
        })
    }

    fn inputs(&mut self, bound: Vec<Bound>, device: &Device) -> std::result::Result<(), String> {
        let target = self.target.clone();
        match target {
            Target::Compiled(compiled) => {
                let [bound] = <[Bound; 1]>::try_from(bound).map_err(|_| "the operator has one".to_owned())?;
                let Some(operator) = &compiled.operator else {
                    return Err("the desc was invalid".to_owned());
                };
                let input = &operator.input;
                self.inputs[0] = match bound {
                    Bound::Nothing if input.owned => None,
                    _ if input.owned => {
                        return Err("it was bound when the operator was initialised".to_owned());
                    }
                    Bound::Part(range) => {
                        Some(range.checked(input.total_size, tensor_alignment(input.alignment, device))?)
                    }
                    _ => return Err("it takes a buffer".to_owned()),
                };
                self.describe(device, 0, self.inputs[0].as_ref());
            }
            Target::Initializer(initializer) => {
                let operators = initializer.work().operators.clone();
                if bound.is_empty() {
                    return Ok(());
                }
                if bound.len() != operators.len() {
                    return Err("there are not as many as operators".to_owned());
                }
                for (index, (bound, compiled)) in bound.into_iter().zip(operators).enumerate() {
                    let owned = compiled.operator.as_ref().map(|operator| &operator.input);
                    let owned = owned.filter(|input| input.owned);
                    let part = match bound {
                        Bound::Nothing => None,
                        Bound::Parts(parts) => {
                            let [part] = <[Option<Range>; 1]>::try_from(parts)
                                .map_err(|_| "the operator has one input".to_owned())?;
                            part
                        }
                        Bound::Part(_) => return Err("it takes an array of buffers".to_owned()),
                    };
                    self.inputs[index] = match (part, owned) {
                        (None, None) => None,
                        (Some(range), Some(input)) => {
                            Some(range.checked(input.total_size, tensor_alignment(input.alignment, device))?)
                        }
                        (None, Some(_)) => return Err("an owned input is not bound".to_owned()),
                        (Some(_), None) => return Err("no input is owned".to_owned()),
                    };
                    self.describe(device, 2 * index, self.inputs[index].as_ref());
                }
            }
        }
        Ok(())
    }

    fn outputs(&mut self, bound: Vec<Bound>, device: &Device) -> std::result::Result<(), String> {
        let target = self.target.clone();
        if bound.len() != target.count() {
            return Err("there are not as many as outputs".to_owned());
        }
        for (index, bound) in bound.into_iter().enumerate() {
            let (needed, alignment) = match &target {
                Target::Compiled(compiled) => {
                    let Some(operator) = &compiled.operator else {
                        return Err("the desc was invalid".to_owned());
                    };
                    (operator.output.total_size, tensor_alignment(operator.output.alignment, device))
                }
                Target::Initializer(initializer) => {
                    (initializer.work().operators[index].persistent_size(), RESOURCE_ALIGNMENT)
                }
            };
            self.outputs[index] = bound.checked(needed, alignment)?;
            self.describe(device, 2 * index + 1, self.outputs[index].as_ref());
        }
        Ok(())
    }

    /// The bound ranges, and whether a dispatch reads or writes each.
    pub(super) fn uses(&self) -> Vec<Use> {
        let [input, output] = match self.target {
            Target::Compiled(_) => ["the input", "the output"],
            Target::Initializer(_) => ["an initialiser's input", "an initialiser's output"],
        };
        let bound = |what, range: &Option<Range>, writes| {
            let Range { resource, offset, size } = range.as_ref()?;
            let buffer = watch::buffer(resource)?;
            Some(Use { what, buffer, bytes: *offset..offset + size, writes })
        };
        let inputs = self.inputs.iter().map(|range| bound(input, range, false));
        let outputs = self.outputs.iter().map(|range| bound(output, range, true));
        let temporary = bound("the temporary resource", &self.temporary, true);
        let persistent = bound("the persistent resource", &self.persistent, false);
        inputs.chain(outputs).chain([temporary, persistent]).flatten().collect()
    }

    /// The address range of the descriptors.
    pub(super) fn descriptors(&self, device: &Device) -> ops::Range<usize> {
        self.heap.ptr..self.heap.ptr + self.size as usize * device.step()
    }

    /// Writes the descriptor at an index of the table. It is a constant buffer descriptor for the first
    /// blocks of the range; nothing reads it.
    ///
    /// This kind of descriptor needs no view. lavapipe creates views only while it computes nothing, so a
    /// client would block at each view while the device is busy. It could prepare no other work in that time.
    fn describe(&self, device: &Device, place: usize, range: Option<&Range>) {
        let Some(range) = range.filter(|range| range.size > 0) else { return };
        let start = range.offset - range.offset % BLOCK;
        // SAFETY: the resource is alive, because `range` holds a reference.
        let (address, width) =
            unsafe { (range.resource.GetGPUVirtualAddress(), range.resource.GetDesc().Width) };
        let blocks = (range.offset + range.size - start).div_ceil(BLOCK).min((width - start) / BLOCK);
        let blocks = blocks.min(MOST_BLOCKS) as u32;
        if blocks == 0 {
            return;
        }
        let desc = D3D12_CONSTANT_BUFFER_VIEW_DESC {
            BufferLocation: address + start,
            SizeInBytes: blocks * BLOCK as u32,
        };
        // SAFETY: the blocks are inside the range's buffer. The index is inside the client's part of the
        // heap, because the number of descriptors was checked.
        unsafe {
            let handle = D3D12_CPU_DESCRIPTOR_HANDLE { ptr: self.heap.ptr + place * device.step() };
            device.d3d12.CreateConstantBufferView(Some(&raw const desc), handle);
        }
    }
}

impl Range {
    /// # Safety
    ///
    /// The `Buffer` of the binding is null or a valid resource.
    unsafe fn read(binding: &raw::DML_BUFFER_BINDING) -> Option<Self> {
        let resource = binding.Buffer.cast();
        // SAFETY: the caller guarantees that the pointer is null or a valid resource.
        let resource = unsafe { ID3D12Resource::from_raw_borrowed(&resource) }?.clone();
        Some(Self { resource, offset: binding.Offset, size: binding.SizeInBytes })
    }

    /// The range's resource and offset.
    pub(super) fn place(&self) -> Place {
        Place { resource: self.resource.as_raw().addr(), offset: self.offset }
    }

    /// Returns the range if it can be bound where `needed` bytes are required.
    fn checked(self, needed: u64, alignment: u64) -> std::result::Result<Self, String> {
        // SAFETY: the resource is alive, because `self` holds a reference.
        let desc = unsafe { self.resource.GetDesc() };
        let part = Part {
            offset: self.offset,
            size: self.size,
            buffer: desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER,
            unordered: desc.Flags.contains(D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            width: desc.Width,
        };
        match part.fault(needed, alignment) {
            Some(fault) => Err(fault),
            None => Ok(self),
        }
    }
}

/// A binding as the client passes it.
enum Bound {
    Nothing,
    Part(Range),
    Parts(Vec<Option<Range>>),
}

impl Bound {
    /// # Safety
    ///
    /// `bindings` is null or points at `count` bindings, and the pointers in them are null or valid for
    /// reads.
    unsafe fn read(count: u32, bindings: *const DML_BINDING_DESC) -> std::result::Result<Vec<Self>, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: the caller guarantees that `bindings` is null or points at `count` bindings.
        let bindings = unsafe { crate::tensor::list(bindings.cast::<raw::DML_BINDING_DESC>(), count) };
        let bindings = bindings.ok_or("the list is null")?;
        // SAFETY: the caller guarantees that the pointers in the bindings are null or valid.
        bindings.iter().map(|binding| unsafe { Self::read_one(binding) }).collect()
    }

    /// # Safety
    ///
    /// The pointers in the binding are null or valid for reads.
    unsafe fn read_one(binding: &raw::DML_BINDING_DESC) -> std::result::Result<Self, String> {
        // SAFETY: the caller guarantees that the pointers are null or valid, and `Type` names the struct at
        // `Desc`.
        unsafe {
            match binding.Type {
                raw::DML_BINDING_TYPE_NONE => Ok(Self::Nothing),
                raw::DML_BINDING_TYPE_BUFFER => {
                    let binding = binding.Desc.cast::<raw::DML_BUFFER_BINDING>().as_ref();
                    Ok(Range::read(binding.ok_or("the desc is null")?).map_or(Self::Nothing, Self::Part))
                }
                raw::DML_BINDING_TYPE_BUFFER_ARRAY => {
                    let array = binding.Desc.cast::<raw::DML_BUFFER_ARRAY_BINDING>().as_ref();
                    let array = array.ok_or("the desc is null")?;
                    let parts = crate::tensor::list(array.Bindings, array.BindingCount);
                    let parts = parts.ok_or("the array is null")?;
                    Ok(Self::Parts(parts.iter().map(|part| Range::read(part)).collect()))
                }
                _ => Err("its type has no name".to_owned()),
            }
        }
    }

    /// Returns the range if one buffer is bound and has the `needed` bytes. Returns `None` if nothing is
    /// bound and no bytes are needed.
    fn checked(self, needed: u64, alignment: u64) -> std::result::Result<Option<Range>, String> {
        match self {
            Self::Nothing if needed == 0 => Ok(None),
            Self::Nothing => Err(format!("nothing is bound, and {needed} bytes are needed")),
            Self::Part(range) => range.checked(needed, alignment).map(Some),
            Self::Parts(_) => Err("it takes one buffer".to_owned()),
        }
    }
}

/// The required alignment of a tensor's offset, in bytes. It is the maximum of the alignment that the desc
/// guarantees, DirectML's minimum of 16, and the configured alignment of the device.
fn tensor_alignment(promised: u32, device: &Device) -> u64 {
    promised.max(raw::DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT).max(device.misbehaviour.alignment).into()
}

impl IDMLBindingTable_Impl for Table_Impl {
    fn BindInputs(&self, count: u32, bindings: *const DML_BINDING_DESC) {
        // SAFETY: the client guarantees that `bindings` is null or points at `count` valid bindings.
        let bound = unsafe { Bound::read(count, bindings) };
        self.bind(Call::Inputs, "the inputs", |table, device| table.inputs(bound?, device));
    }

    fn BindOutputs(&self, count: u32, bindings: *const DML_BINDING_DESC) {
        // SAFETY: the client guarantees that `bindings` is null or points at `count` valid bindings.
        let bound = unsafe { Bound::read(count, bindings) };
        self.bind(Call::Outputs, "the outputs", |table, device| table.outputs(bound?, device));
    }

    fn BindTemporaryResource(&self, binding: *const DML_BINDING_DESC) {
        // SAFETY: the client guarantees that `binding` is null or points at a valid binding.
        let bound = unsafe { Bound::read((!binding.is_null()).into(), binding) };
        self.bind(Call::Temporary, "the temporary resource", |table, device| {
            let bound = bound?.pop().unwrap_or(Bound::Nothing);
            table.temporary = bound.checked(table.target.temporary_size(), RESOURCE_ALIGNMENT)?;
            table.describe(device, 2 * table.target.count(), table.temporary.as_ref());
            Ok(())
        });
    }

    fn BindPersistentResource(&self, binding: *const DML_BINDING_DESC) {
        // SAFETY: the client guarantees that `binding` is null or points at a valid binding.
        let bound = unsafe { Bound::read((!binding.is_null()).into(), binding) };
        self.bind(Call::Persistent, "the persistent resource", |table, device| {
            let bound = bound?.pop().unwrap_or(Bound::Nothing);
            match &table.target {
                Target::Compiled(compiled) => {
                    table.persistent = bound.checked(compiled.persistent_size(), RESOURCE_ALIGNMENT)?;
                    table.describe(device, 3, table.persistent.as_ref());
                }
                Target::Initializer(_) if matches!(bound, Bound::Nothing) => {}
                Target::Initializer(_) => return Err("an initialiser has none: it is an output".to_owned()),
            }
            Ok(())
        });
    }

    fn Reset(&self, desc: *const DML_BINDING_TABLE_DESC) -> Result<()> {
        self.device.begin(Call::Reset)?;
        // SAFETY: the client guarantees that `desc` and the dispatchable in it are null or valid.
        *self.bindings() = unsafe { Bindings::new(desc) }?;
        Ok(())
    }
}
