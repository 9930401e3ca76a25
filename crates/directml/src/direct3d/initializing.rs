//! Initialisers: every compiled operator needs exactly one run of an initialiser before it is dispatched.

use std::{ops::Range, sync::Arc};

use dmlcts_model::Phase;
use windows::{
    Win32::AI::MachineLearning::DirectML::{IDMLCompiledOperator, IDMLDispatchable, IDMLOperatorInitializer},
    core::Interface,
};

use super::{
    device::{Compiled, Device},
    fault::{Call, FlightFault},
};
use crate::raw::DML_TEMPORARY_BUFFER_ALIGNMENT;

/// An initialiser with its bindings.
pub(super) struct Initializing {
    pub(super) dispatchable: IDMLDispatchable,
    pub(super) descriptors: u32,
    pub(super) temporary: Range<u64>,
    pub(super) operators: Vec<Arc<Compiled>>,
    /// The range of the input that the operator owns, if it owns one.
    pub(super) input: Option<Range<u64>>,
}

// SAFETY: only the thread that records its dispatch uses an initialiser. Afterwards it is only kept alive.
unsafe impl Send for Initializing {}

impl Initializing {
    pub(super) fn new(
        device: &Device,
        operators: Vec<Arc<Compiled>>,
        input: Option<Range<u64>>,
        room: &mut Room,
    ) -> Result<Self, FlightFault> {
        let handles: Vec<Option<IDMLCompiledOperator>> =
            operators.iter().map(|operator| Some(operator.operator.0.clone())).collect();
        // SAFETY: the operators are alive.
        let initializer: IDMLOperatorInitializer =
            unsafe { device.directml.0.CreateOperatorInitializer(Some(&handles)) }
                .call(Phase::Bind, "CreateOperatorInitializer")
                .map_err(|fault| device.explained(fault))?;
        let dispatchable: IDMLDispatchable = initializer.cast().call(Phase::Bind, "IDMLDispatchable")?;
        // SAFETY: the initialiser is alive.
        let properties = unsafe { dispatchable.GetBindingProperties() };
        Ok(Self {
            dispatchable,
            descriptors: properties.RequiredDescriptorCount,
            temporary: room.take(properties.TemporaryResourceSize),
            operators,
            input,
        })
    }
}

/// Deals out the scratch buffer.
pub(super) struct Room(pub(super) u64);

impl Room {
    pub(super) fn take(&mut self, bytes: u64) -> Range<u64> {
        let start = self.0;
        let alignment = u64::from(DML_TEMPORARY_BUFFER_ALIGNMENT);
        self.0 = start.saturating_add(bytes).checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        start..start.saturating_add(bytes)
    }
}
