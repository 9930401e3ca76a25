//! The backends that this program knows, by the name on the command line.

use std::sync::Arc;

use dmlcts_reference::Reference;
use dmlcts_runner::{Factory, RunError};

use crate::{arguments::unknown, problem::Problem};

/// Every name.
const NAMES: &[&str] = &[
    "reference",
    #[cfg(feature = "wgpu")]
    "wgpu",
];

/// What makes backends of this name, which may be followed by a colon and which of several is meant.
pub(crate) fn factory(name: &str) -> Result<Arc<Factory>, Problem> {
    match name.split_once(':').unwrap_or((name, "")) {
        ("reference", "") => Ok(Arc::new(|| Ok(Box::new(Reference::backend())))),
        #[cfg(feature = "wgpu")]
        ("wgpu", adapter) => {
            let gpu =
                dmlcts_wgpu::Gpu::open(adapter).map_err(|error| RunError::Backend(error.to_string()))?;
            Ok(Arc::new(move || Ok(Box::new(gpu.backend()))))
        }
        _ => Err(Problem::usage(unknown("backend", name, NAMES), "name one of them behind --backend")),
    }
}
