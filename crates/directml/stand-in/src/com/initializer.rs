//! The initialiser: it fills the persistent resources of operators, which nothing else does.

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

/// `IDMLOperatorInitializer`.
#[implement(IDMLOperatorInitializer)]
pub(super) struct Initializer {
    pub(super) device: ComObject<Device>,
    work: Mutex<Work>,
}

child!(Initializer_Impl);
impl IDMLPageable_Impl for Initializer_Impl {}

/// Which operators, and their values.
#[derive(Default)]
pub(super) struct Work {
    pub(super) operators: Vec<ComObject<Compiled>>,
    /// [`VALUES`] bytes for each operator; `None` where none has a value.
    pub(super) values: Option<ID3D12Resource>,
}

impl Initializer {
    pub(super) fn new(device: ComObject<Device>) -> Self {
        Self { device, work: Mutex::default() }
    }

    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up other operators.
    ///
    /// # Safety
    ///
    /// `operators` is null, or so many lie there.
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
            // SAFETY: the caller says so.
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

    /// A buffer with each value over and over.
    fn upload(&self, values: &[&[u8]]) -> Result<ID3D12Resource> {
        let mut bytes = Vec::new();
        for value in values {
            let repeated = value.iter().chain(if value.is_empty() { &[0][..] } else { &[] });
            bytes.extend(repeated.copied().cycle().take(VALUES as usize));
        }
        self.device.upload(&bytes)
    }

    /// How much of a temporary resource it needs: values go through it.
    pub(super) fn temporary_size(&self) -> u64 {
        if self.work().values.is_some() { VALUES } else { 0 }
    }
}

impl Device {
    /// A buffer with these bytes, to copy from.
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<ID3D12Resource> {
        let size = bytes.len() as u64;
        let buffer = self.buffer(
            D3D12_HEAP_TYPE_UPLOAD,
            size,
            D3D12_RESOURCE_FLAG_NONE,
            D3D12_RESOURCE_STATE_GENERIC_READ,
        )?;
        let mut mapped = std::ptr::null_mut();
        // SAFETY: the buffer is as long as the bytes, and nothing else knows of it.
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
            // For each operator its input and its persistent resource; and a temporary one.
            RequiredDescriptorCount: 2 * operators + 1,
            TemporaryResourceSize: self.temporary_size(),
            PersistentResourceSize: 0,
        }
    }
}

impl IDMLOperatorInitializer_Impl for Initializer_Impl {
    fn Reset(&self, count: u32, operators: *const Option<IDMLCompiledOperator>) -> Result<()> {
        // SAFETY: the client says that so many operators lie there.
        unsafe { self.reset(count, operators) }
    }
}
