//! Operators, created and compiled.

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

/// How many bytes of a persistent resource hold PADDING1's value, over and over: a multiple of every element
/// size.
pub(super) const VALUES: u64 = 256;

/// `IDMLOperator`.
#[implement(IDMLOperator)]
pub(super) struct Created {
    pub(super) device: ComObject<Device>,
    /// `None` where it was accepted only because every desc is.
    pub(super) operator: Option<Arc<Operator>>,
}

child!(Created_Impl);
impl IDMLOperator_Impl for Created_Impl {}

/// `IDMLCompiledOperator`.
#[implement(IDMLCompiledOperator)]
pub(super) struct Compiled {
    pub(super) device: ComObject<Device>,
    /// As in [`Created`].
    pub(super) operator: Option<Arc<Operator>>,
    /// That an initialiser for it was dispatched, which each needs once, persistent resource or not.
    pub(super) initialization: Initialization,
}

child!(Compiled_Impl);
impl IDMLPageable_Impl for Compiled_Impl {}
impl IDMLCompiledOperator_Impl for Compiled_Impl {}

impl Compiled {
    /// Fails where the operator is none of this library's, or another device's; and where it takes more than
    /// the stand-in can do, which is said.
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

    /// Where in its persistent resource an owned input is, and how long that part is: at the start.
    pub(super) fn owned_size(&self) -> u64 {
        let owned = self.operator.as_ref().filter(|operator| operator.input.owned);
        owned.map_or(0, |operator| operator.input.total_size.next_multiple_of(VALUES))
    }

    /// How much of a persistent resource it needs: an owned input, and then its value.
    pub(super) fn persistent_size(&self) -> u64 {
        let value = self.operator.as_ref().is_some_and(|operator| !operator.value.is_empty());
        self.owned_size() + if value { VALUES } else { 0 }
    }

    /// How much of a temporary resource it needs: as much as its input.
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
