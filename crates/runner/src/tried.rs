//! What was tried with a failure that passes alone: it tells state that earlier cases leave from chance.

use dmlcts_model::Case;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rate;

/// What was tried with a flake, and how often it failed each time.
///
/// In memory, the cases that it needs are `Case`s. In a file, they are lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tried")]
pub struct Tried<C = Case> {
    /// Alone, in a backend that ran other cases alone before.
    pub alone: Rate,
    /// Alone, with other data.
    pub other_data: Rate,
    /// As the first case of a fresh backend.
    pub fresh: Rate,
    /// In a fresh backend after the cases that came before it in the run; `None` if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed<C>>,
}

/// What a case did after the cases before it, in a fresh backend.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
#[schemars(rename = "Replayed")]
pub struct Replayed<C = Case> {
    /// The number of cases before it: the nearest by index that belong to the run.
    pub cases: usize,
    /// How often it failed after them, one at a time.
    pub after: Rate,
    /// How often it failed together with them in one batch.
    pub beside: Rate,
    /// The shortest list of cases that were found to make it fail, in order. Empty if it did not fail each
    /// time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<C>,
    /// Whether these cases must be in one batch with it, and not only before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_one_batch: bool,
    /// Which data of the last of these cases its wrong elements are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataOf>,
}

/// Data of another case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataOf {
    /// The element at the same place of its output.
    Output,
    /// The element at the same place of its input.
    Input,
}

impl<C> Tried<C> {
    /// The same with other values for the cases.
    ///
    /// # Errors
    ///
    /// A case has no such value.
    pub fn try_map<D, E>(&self, value: impl FnMut(&C) -> Result<D, E>) -> Result<Tried<D>, E> {
        let Self { alone, other_data, fresh, replayed } = self;
        let replayed = replayed.as_ref().map(|replayed| {
            let Replayed { cases, after, beside, needs, in_one_batch, data } = replayed;
            let needs: Result<Vec<D>, E> = needs.iter().map(value).collect();
            let (cases, after, beside, in_one_batch, data) = (*cases, *after, *beside, *in_one_batch, *data);
            Ok(Replayed { cases, after, beside, needs: needs?, in_one_batch, data })
        });
        Ok(Tried { alone: *alone, other_data: *other_data, fresh: *fresh, replayed: replayed.transpose()? })
    }
}

impl Rate {
    /// Whether it failed each time.
    pub fn is_always(self) -> bool {
        self.runs > 0 && self.failed == self.runs
    }
}
