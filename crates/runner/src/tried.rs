//! What was tried with a failure that passes alone: it tells state that earlier cases leave from chance.

use dmlcts_model::Case;

use crate::Rate;

/// What was tried with a flake, and how often it failed each time.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Alone, in a backend that ran other cases alone before.
    pub alone: Rate,
    /// Alone, with other data.
    pub other_data: Rate,
    /// As the first case of a fresh backend.
    pub fresh: Rate,
    /// In a fresh backend after the cases that came before it in the run; `None` if there were none.
    pub replayed: Option<Replayed>,
}

/// What a case did after the cases before it, in a fresh backend.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The number of cases before it: the nearest by index that belong to the run.
    pub cases: usize,
    /// How often it failed after them, one at a time.
    pub after: Rate,
    /// How often it failed together with them in one batch.
    pub beside: Rate,
    /// The shortest list of cases that were found to make it fail, in order. Empty if it did not fail each
    /// time.
    pub needs: Vec<Case>,
    /// Whether these cases must be in one batch with it, and not only before it.
    pub in_one_batch: bool,
    /// Which data of the last of these cases its wrong elements are.
    pub data: Option<DataOf>,
}

/// Data of another case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataOf {
    /// The element at the same place of its output.
    Output,
    /// The element at the same place of its input.
    Input,
}

impl Rate {
    /// Whether it failed each time.
    pub fn is_always(self) -> bool {
        self.runs > 0 && self.failed == self.runs
    }
}
