//! Memory that judging and planning use over and over.

use crate::{oracle, program, program::Values};

/// Memory that judging and planning use over and over: make one a thread, and pass it along.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) values: Values,
    pub(crate) judge: program::Memory,
    pub(crate) oracle: oracle::Memory,
}

impl Scratch {
    /// The memory that programs are evaluated in.
    pub fn values(&mut self) -> &mut Values {
        &mut self.values
    }
}
