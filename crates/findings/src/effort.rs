//! How much a search has done, in units that no machine changes.

use std::cell::Cell;

/// The work of searches, and the reason to end them early.
pub(crate) struct Effort<'a> {
    /// The candidates that were compared with a sample, times the size of the sample in words of 64 cases.
    examined: Cell<u64>,
    is_over: &'a dyn Fn() -> bool,
}

impl<'a> Effort<'a> {
    /// Nothing was done yet. `is_over` tells whether searches must end, with the rules that they have.
    pub(crate) fn new(is_over: &'a dyn Fn() -> bool) -> Self {
        Self { examined: Cell::new(0), is_over }
    }

    /// Counts candidates that were compared with a sample of this number of cases.
    pub(crate) fn count(&self, candidates: usize, cases: usize) {
        self.examined.set(self.examined.get() + (candidates * cases.div_ceil(64)) as u64);
    }

    /// The work so far.
    pub(crate) fn examined(&self) -> u64 {
        self.examined.get()
    }

    /// Whether searches must end.
    pub(crate) fn is_over(&self) -> bool {
        (self.is_over)()
    }
}
