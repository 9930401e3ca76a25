//! The operator initialiser. No other object fills the persistent resources of operators.

use std::sync::{Mutex, MutexGuard, PoisonError};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_PROPERTIES, IDMLCompiledOperator, IDMLDispatchable_Impl, IDMLOperatorInitializer,
            IDMLOperatorInitializer_Impl, IDMLPageable_Impl,
        },
        Foundation::E_INVALIDARG,
        Graphics::Direct3D12::{
            D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_FLAG_NONE, D3D12_RESOURCE_STATE_GENERIC_READ,
            ID3D12Resource,
        },
    },
    core::{ComObject, Interface, Result, implement},
};

use super::{
    child,
    device::Device,
    operator::{Compiled, VALUES},
};

/// Implements `IDMLOperatorInitializer`.
#[implement(IDMLOperatorInitializer)]
pub(super) struct Initializer {
    pub(super) device: ComObject<Device>,
    work: Mutex<Work>,
}

child!(Initializer_Impl);
impl IDMLPageable_Impl for Initializer_Impl {}

/// The operators to initialise, and their padding values.
#[derive(Default)]
pub(super) struct Work {
    pub(super) operators: Vec<ComObject<Compiled>>,
    /// A buffer with [`VALUES`] bytes for each operator; `None` if no operator has a padding value.
    pub(super) values: Option<ID3D12Resource>,
}

impl Initializer {
    pub(super) fn new(device: ComObject<Device>) -> Self {
        Self { device, work: Mutex::default() }
    }

    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the operators to initialise.
    ///
    /// # Safety
    ///
    /// `operators` is null or points at `count` operators.
    pub(super) unsafe fn reset(
        &self,
        count: u32,
        operators: *const Option<IDMLCompiledOperator>,
    ) -> Result<()> {
        let mut work = Work::default();
        if count > 0 {
            if operators.is_null() {
                return Err(E_INVALIDARG.into());
            }
            // SAFETY: the pointer is not null, so the caller guarantees that it points at `count` operators.
            for operator in unsafe { std::slice::from_raw_parts(operators, count as usize) } {
                let compiled = operator.as_ref().ok_or(E_INVALIDARG)?.cast_object::<Compiled>()?;
                if !compiled.device.is(&self.device) {
                    return Err(E_INVALIDARG.into());
                }
                work.operators.push(compiled);
            }
        }
        let values: Vec<&[u8]> = work
            .operators
            .iter()
            .map(|compiled| compiled.operator.as_ref().map_or(&[][..], |operator| &operator.value))
            .collect();
        if values.iter().any(|value| !value.is_empty()) {
            work.values = Some(self.upload(&values)?);
        }
        *self.work() = work;
        Ok(())
    }

    /// Creates a buffer that repeats each value to [`VALUES`] bytes. An empty value becomes zeros.
    fn upload(&self, values: &[&[u8]]) -> Result<ID3D12Resource> {
        let mut bytes = Vec::new();
        for value in values {
            let repeated = value.iter().chain(if value.is_empty() { &[0][..] } else { &[] });
            bytes.extend(repeated.copied().cycle().take(VALUES as usize));
        }
        self.device.upload(&bytes)
    }

    /// The required size of the temporary resource, in bytes. Initialising padding values writes to it.
    pub(super) fn temporary_size(&self) -> u64 {
        if self.work().values.is_some() { VALUES } else { 0 }
    }
}

impl Device {
    /// Creates an upload buffer with these bytes, as the source of copies.
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<ID3D12Resource> {
        let size = bytes.len() as u64;
        let buffer = self.buffer(
            D3D12_HEAP_TYPE_UPLOAD,
            size,
            D3D12_RESOURCE_FLAG_NONE,
            D3D12_RESOURCE_STATE_GENERIC_READ,
        )?;
        let mut mapped = std::ptr::null_mut();
        // SAFETY: the buffer has `bytes.len()` bytes, and no other reference to it exists.
        unsafe {
            buffer.Map(0, None, Some(&raw mut mapped))?;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.cast(), bytes.len());
            buffer.Unmap(0, None);
        }
        Ok(buffer)
    }
}

impl IDMLDispatchable_Impl for Initializer_Impl {
    fn GetBindingProperties(&self) -> DML_BINDING_PROPERTIES {
        let operators = self.work().operators.len() as u32;
        DML_BINDING_PROPERTIES {
            // An input and a persistent resource for each operator, and one temporary resource.
            RequiredDescriptorCount: 2 * operators + 1,
            TemporaryResourceSize: self.temporary_size(),
            PersistentResourceSize: 0,
        }
    }
}

impl IDMLOperatorInitializer_Impl for Initializer_Impl {
    fn Reset(&self, count: u32, operators: *const Option<IDMLCompiledOperator>) -> Result<()> {
        // SAFETY: the client guarantees that `operators` is null or points at `count` operators.
        unsafe { self.reset(count, operators) }
    }
}
