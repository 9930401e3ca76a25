//! The statement of a profile's run on its backend's conformance, as a summary contains it.

use dmlcts_profiles::{Conformity, Failing, Reservation, Statement, Withheld};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a backend conforms to the profile that the header names, or why the run makes no statement. The
/// answers to open questions are in the totals; they are part of the statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementForm {
    /// Whether it conforms; absent if the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conformity: Option<Conformity>,
    /// Why the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// The cases that the statement does not cover, and the differences that were allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Reservation>,
    /// The unexpected results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<Failing>,
    /// The number of cases that were left out, because only a level above the profile's makes them valid.
    #[serde(default)]
    pub above: u64,
    /// The number of invalid descs that bare arrays cannot express.
    #[serde(default)]
    pub unsayable: u64,
}

impl From<&Result<Statement, Withheld>> for StatementForm {
    fn from(stated: &Result<Statement, Withheld>) -> Self {
        let statement = match stated {
            Ok(statement) => statement,
            Err(withheld) => return Self { withheld: Some(withheld.to_string()), ..Self::default() },
        };
        Self {
            conformity: Some(statement.conformity),
            withheld: None,
            reservations: statement.reservations.clone(),
            failing: statement.failing.clone(),
            above: statement.above,
            unsayable: statement.unsayable,
        }
    }
}
