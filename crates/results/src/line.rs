//! The lines of a results file as JSON. The JSON Schema is generated from these types and from those of the
//! header.

use dmlcts_diagnose::{Finding, LeftOut};
use dmlcts_model::FeatureLevel;
use dmlcts_runner::{CutPart, Ending};
use dmlcts_spec::Library;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CaseForm, FindingForm, Header, StatementForm, TotalsForm, UnknownName, convert::Names};

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Line<'a> {
    /// The first line.
    Header(Box<Header>),
    /// The result of a case.
    #[serde(borrow)]
    Case(Box<CaseForm<'a>>),
    /// The totals of all cases so far.
    Checkpoint(Box<TotalsForm>),
    /// The last line.
    Summary(Box<SummaryForm>),
}

impl<'a> CaseForm<'a> {
    /// The case of a line of a results file. `None` if it is a line of another kind.
    pub fn of_line(line: &'a [u8]) -> Option<Self> {
        match serde_json::from_slice(line.trim_ascii_end()).ok()? {
            Line::Case(case) => Some(*case),
            Line::Header(_) | Line::Checkpoint(_) | Line::Summary(_) => None,
        }
    }
}

/// How a run ended, and its totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryForm {
    /// Why it ended.
    pub ending: Ending,
    /// The program's exit code.
    pub exit_code: u8,
    /// Why the backend was lost, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// How processes of the backend ended badly after they were told to end, if some did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_end: Option<String>,
    /// Cases that were started and never answered, as ranges: the first case, and the one after the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abandoned: Vec<(u64, u64)>,
    /// The parts that ended early, if parts were joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutPart>,
    /// The number of obligations of the spec that were met, for the operators that had any case.
    pub obligations_met: u64,
    /// The number of obligations of these operators.
    pub obligations: u64,
    /// The statement on the backend's conformance, if the run is of a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementForm>,
    /// The totals of the cases.
    pub totals: TotalsForm,
    /// The failures by cause, the most severe first. Files of earlier versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingForm>,
    /// What the limits on explaining the failures left out.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

impl SummaryForm {
    /// Checks the values that serde does not.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.totals.check()?;
        self.findings.iter().try_for_each(FindingForm::check)
    }

    /// The findings of a run whose strategies have these names, without the tensors of any case.
    ///
    /// # Errors
    ///
    /// A finding has a name that this program's spec does not have.
    pub fn findings(
        &self,
        library: &'static Library,
        strategies: &[String],
        level: FeatureLevel,
    ) -> Result<Vec<Finding>, UnknownName> {
        let names = Names { library, strategies };
        self.findings.iter().map(|form| form.finding(level, names)).collect()
    }
}
