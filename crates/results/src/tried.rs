//! What was tried with a flake, in a results file.

use dmlcts_model::Case;
use dmlcts_runner::{DataOf, Rate, Replayed, Tried};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RateForm, UnknownName, convert::Names};

/// What was tried with a flake, and how often it failed each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriedForm {
    /// Alone, in a backend that ran other cases alone before.
    pub alone: RateForm,
    /// Alone, with other data.
    pub other_data: RateForm,
    /// As the first case of a fresh backend.
    pub fresh: RateForm,
    /// In a fresh backend after the cases that came before it in the run; left out if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedForm>,
}

/// What a case did after the cases before it, in a fresh backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedForm {
    /// The number of cases before it.
    pub cases: usize,
    /// How often it failed after them, one at a time.
    pub after: RateForm,
    /// How often it failed together with them in one batch.
    pub beside: RateForm,
    /// The shortest list of cases that were found to make it fail, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Whether these cases must be in one batch with it, and not only before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_one_batch: bool,
    /// The tensor of the last of these cases that holds its wrong elements, at the same places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataForm>,
}

/// A tensor of another case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataForm {
    /// Its output.
    Output,
    /// Its input.
    Input,
}

impl TriedForm {
    pub(crate) fn new(tried: &Tried) -> Self {
        let Tried { alone, other_data, fresh, replayed } = tried;
        Self {
            alone: (*alone).into(),
            other_data: (*other_data).into(),
            fresh: (*fresh).into(),
            replayed: replayed.as_ref().map(ReplayedForm::new),
        }
    }

    /// What was tried.
    ///
    /// # Errors
    ///
    /// A case has a name that this program's spec does not have.
    pub(crate) fn tried(&self, names: Names<'_>) -> Result<Tried, UnknownName> {
        let replayed = self.replayed.as_ref().map(|replayed| replayed.replayed(names));
        Ok(Tried {
            alone: self.alone.into(),
            other_data: self.other_data.into(),
            fresh: self.fresh.into(),
            replayed: replayed.transpose()?,
        })
    }
}

impl ReplayedForm {
    fn new(replayed: &Replayed) -> Self {
        let Replayed { cases, after, beside, needs, in_one_batch, data } = replayed;
        Self {
            cases: *cases,
            after: (*after).into(),
            beside: (*beside).into(),
            needs: needs.iter().map(ToString::to_string).collect(),
            in_one_batch: *in_one_batch,
            data: data.map(|data| match data {
                DataOf::Output => DataForm::Output,
                DataOf::Input => DataForm::Input,
            }),
        }
    }

    fn replayed(&self, names: Names<'_>) -> Result<Replayed, UnknownName> {
        let needs: Result<Vec<Case>, _> = self.needs.iter().map(|text| names.case(text)).collect();
        Ok(Replayed {
            cases: self.cases,
            after: self.after.into(),
            beside: self.beside.into(),
            needs: needs?,
            in_one_batch: self.in_one_batch,
            data: self.data.map(|data| match data {
                DataForm::Output => DataOf::Output,
                DataForm::Input => DataOf::Input,
            }),
        })
    }
}

impl From<Rate> for RateForm {
    fn from(Rate { failed, runs }: Rate) -> Self {
        Self { failed, runs }
    }
}

impl From<RateForm> for Rate {
    fn from(RateForm { failed, runs }: RateForm) -> Self {
        Self { failed, runs }
    }
}
