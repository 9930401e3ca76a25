//! What the run of a profile says of its backend, as a summary has it.

use dmlcts_runner::{Class, Conformity, ReservationKind, Statement, Verdict, Withheld};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a backend conforms to the profile that the header names, or why the run does not say so. Open
/// questions have their answers in the totals: they are a part of what is stated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementForm {
    /// Whether it conforms; absent where the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Conformity::ALL.map(Conformity::id)))]
    pub conformity: Option<String>,
    /// Why the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// What of the profile was not shown, or was forgiven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReservationForm>,
    /// What was unexpected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailingForm>,
    /// Cases that were not asked, since only a level above the profile's makes them valid.
    #[serde(default)]
    pub above: u64,
    /// Invalid descs that bare arrays cannot say to the backend.
    #[serde(default)]
    pub unsayable: u64,
}

/// Cases of which a statement does not say that they came to what the profile promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservationForm {
    /// Why not: what the backend does not have, a known failure, cases created only that the profile has run,
    /// differences that were allowed.
    #[schemars(extend("enum" = ReservationKind::ALL.map(ReservationKind::id)))]
    pub kind: String,
    /// What it is about: an operator, a known failure, the differences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// How many cases; of differences that were allowed, how many runs of an operator.
    pub cases: u64,
}

/// Cases that came to the same that was not expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingForm {
    /// Their operator.
    pub operator: String,
    /// What they came to.
    #[schemars(extend("enum" = Verdict::ALL.map(Verdict::id)))]
    pub verdict: String,
    /// In which way they failed; absent where there are too many ways to tell them apart, and where a known
    /// failure passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Class::ALL.map(Class::id)))]
    pub class: Option<String>,
    /// How many.
    pub cases: u64,
}

impl From<&Result<Statement, Withheld>> for StatementForm {
    fn from(stated: &Result<Statement, Withheld>) -> Self {
        let statement = match stated {
            Ok(statement) => statement,
            Err(withheld) => return Self { withheld: Some(withheld.to_string()), ..Self::default() },
        };
        let reservations = statement.reservations.iter().map(|reservation| ReservationForm {
            kind: reservation.kind.id().to_owned(),
            of: reservation.of.clone(),
            cases: reservation.cases,
        });
        let failing = statement.failing.iter().map(|failing| FailingForm {
            operator: failing.operator.clone(),
            verdict: failing.verdict.id().to_owned(),
            class: failing.class.map(|class| class.id().to_owned()),
            cases: failing.cases,
        });
        Self {
            conformity: Some(statement.conformity.id().to_owned()),
            withheld: None,
            reservations: reservations.collect(),
            failing: failing.collect(),
            above: statement.above,
            unsayable: statement.unsayable,
        }
    }
}
