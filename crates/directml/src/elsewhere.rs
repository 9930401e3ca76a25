//! Replaces DirectML on systems other than Windows: opening it returns an error.

use std::{convert::Infallible, sync::Arc};

use dmlcts_backend::{Backend, Batch, Capabilities, Pipelined};
use dmlcts_model::FeatureLevel;

use crate::{Adapter, OpenError, Options};

/// DirectML on a device: not available on this system.
#[derive(Debug)]
pub struct DirectMl(Infallible);

/// A backend on a device: not available on this system.
#[derive(Debug)]
pub struct DirectMlBackend(Infallible);

impl DirectMl {
    /// Returns the error that this is not Windows.
    pub fn open(_: &Options) -> Result<Arc<Self>, OpenError> {
        Err(OpenError::NotWindows)
    }

    /// The available adapters with their names: an error on this system.
    pub fn adapters() -> Result<Vec<(Adapter, String)>, OpenError> {
        Err(OpenError::NotWindows)
    }

    /// A backend on this device.
    pub fn backend(self: &Arc<Self>) -> DirectMlBackend {
        match self.0 {}
    }

    /// What it is and what it supports.
    pub fn capabilities(&self) -> &Capabilities {
        match self.0 {}
    }
}

impl Backend for DirectMlBackend {
    fn capabilities(&self) -> &Capabilities {
        match self.0 {}
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {
        match self.0 {}
    }

    fn run(&mut self, _: &mut Batch) {
        match self.0 {}
    }
}

impl Pipelined for DirectMlBackend {
    fn start(&mut self, _: &mut Batch) {
        match self.0 {}
    }

    fn finish(&mut self, _: &mut Batch) {
        match self.0 {}
    }
}
