//! Memory that judging and planning reuse.

use crate::{oracle, program, program::Values};

/// Memory that judging and planning reuse. Create one per thread and pass it to every call.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) values: Values,
    pub(crate) judge: program::Memory,
    pub(crate) oracle: oracle::Memory,
}

impl Scratch {
    /// The memory for evaluating programs.
    pub fn values(&mut self) -> &mut Values {
        &mut self.values
    }
}
