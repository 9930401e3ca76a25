//! The COM objects of created and compiled operators.

use std::sync::Arc;

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{
            DML_BINDING_PROPERTIES, IDMLCompiledOperator, IDMLCompiledOperator_Impl, IDMLDispatchable_Impl,
            IDMLOperator, IDMLOperator_Impl, IDMLPageable_Impl,
        },
        Foundation::{E_INVALIDARG, E_OUTOFMEMORY},
    },
    core::{ComObject, Interface, Result, implement},
};

use super::{child, device::Device, say};
use crate::{initialization::Initialization, moves::MOST_MOVES, operator::Operator};

/// The number of bytes in a persistent resource that PADDING1's value fills, repeated. It is a multiple of
/// every element size.
pub(super) const VALUES: u64 = 256;

/// Implements `IDMLOperator`.
#[implement(IDMLOperator)]
pub(super) struct Created {
    pub(super) device: ComObject<Device>,
    /// `None` if the desc is invalid and was accepted only because every desc is accepted.
    pub(super) operator: Option<Arc<Operator>>,
}

child!(Created_Impl);
impl IDMLOperator_Impl for Created_Impl {}

/// Implements `IDMLCompiledOperator`.
#[implement(IDMLCompiledOperator)]
pub(super) struct Compiled {
    pub(super) device: ComObject<Device>,
    /// `None` for the same reason as in [`Created`].
    pub(super) operator: Option<Arc<Operator>>,
    /// Whether an initialiser was dispatched for the operator. Every operator needs this once, with or
    /// without a persistent resource.
    pub(super) initialization: Initialization,
}

child!(Compiled_Impl);
impl IDMLPageable_Impl for Compiled_Impl {}
impl IDMLCompiledOperator_Impl for Compiled_Impl {}

impl Compiled {
    /// Fails if the operator is from another library or another device. Also fails if it needs more copies
    /// than the stand-in supports, and reports that on standard error.
    pub(super) fn new(device: ComObject<Device>, operator: &IDMLOperator) -> Result<Self> {
        let created = operator.cast_object_ref::<Created>()?;
        if !created.device.is(&device) {
            return Err(E_INVALIDARG.into());
        }
        let operator = created.operator.clone();
        if operator.as_ref().is_some_and(|operator| operator.is_too_large()) {
            let why = format!(
                "an operator takes more than {MOST_MOVES} copies, which is too large for the stand-in"
            );
            say(format_args!("{why}"));
            device.messages.add(&why);
            return Err(E_OUTOFMEMORY.into());
        }
        Ok(Self { device, operator, initialization: Initialization::default() })
    }

    /// The size of an owned input, in bytes. It is stored at the start of the persistent resource.
    pub(super) fn owned_size(&self) -> u64 {
        let owned = self.operator.as_ref().filter(|operator| operator.input.owned);
        owned.map_or(0, |operator| operator.input.total_size.next_multiple_of(VALUES))
    }

    /// The required size of the persistent resource, in bytes: an owned input, followed by the padding value.
    pub(super) fn persistent_size(&self) -> u64 {
        let value = self.operator.as_ref().is_some_and(|operator| !operator.value.is_empty());
        self.owned_size() + if value { VALUES } else { 0 }
    }

    /// The required size of the temporary resource, in bytes. It has room for the whole input, which is
    /// copied through it.
    pub(super) fn temporary_size(&self) -> u64 {
        let through = self.operator.as_ref().filter(|operator| operator.temporary);
        through.map_or(0, |operator| operator.input.total_size.next_multiple_of(4))
    }
}

impl IDMLDispatchable_Impl for Compiled_Impl {
    fn GetBindingProperties(&self) -> DML_BINDING_PROPERTIES {
        DML_BINDING_PROPERTIES {
            // Input, output, temporary and persistent resource.
            RequiredDescriptorCount: 4,
            TemporaryResourceSize: self.temporary_size(),
            PersistentResourceSize: self.persistent_size(),
        }
    }
}
