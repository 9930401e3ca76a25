//! A backend that runs a closure on each batch.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate};
use dmlcts_model::FeatureLevel;
use dmlcts_reference::Reference;
use dmlcts_runner::Factory;

struct Closure<F> {
    capabilities: Capabilities,
    behave: Arc<F>,
}

impl<F: Fn(&mut Batch) + Send + Sync> Backend for Closure<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        (self.behave)(batch);
    }
}

/// A backend with the reference's declaration and the behaviour of a closure.
pub(crate) fn behaving(behave: impl Fn(&mut Batch) + Send + Sync + 'static) -> Arc<Factory> {
    let behave = Arc::new(behave);
    let reference = Reference::backend().capabilities().clone();
    let capabilities = Capabilities { name: "closure".to_owned(), can_set_feature_level: false, ..reference };
    Arc::new(move |_| {
        let behave = Arc::clone(&behave);
        Ok(Box::new(Immediate(Closure { capabilities: capabilities.clone(), behave })))
    })
}
