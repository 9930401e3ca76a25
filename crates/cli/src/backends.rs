//! The backends that this program knows, by the name on the command line.

use std::sync::Arc;

use dmlcts_reference::Reference;
use dmlcts_runner::Factory;

use crate::{arguments::unknown, problem::Problem};

/// Every name.
const NAMES: [&str; 1] = ["reference"];

/// What makes backends of this name.
pub(crate) fn factory(name: &str) -> Result<Arc<Factory>, Problem> {
    match name {
        "reference" => Ok(Arc::new(|| Ok(Box::new(Reference::backend())))),
        _ => Err(Problem::usage(unknown("backend", name, &NAMES), "name one of them behind --backend")),
    }
}
