//! The statement of a profile's run on its backend's conformance, as a summary contains it.

use dmlcts_runner::{Class, Conformity, ReservationKind, Statement, Verdict, Withheld};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a backend conforms to the profile that the header names, or why the run makes no statement. The
/// answers to open questions are in the totals; they are part of the statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementForm {
    /// Whether it conforms; absent if the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Conformity::ALL.map(Conformity::id)))]
    pub conformity: Option<String>,
    /// Why the run makes no statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// The cases that the statement does not cover, and the differences that were allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReservationForm>,
    /// The unexpected results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailingForm>,
    /// The number of cases that were left out, because only a level above the profile's makes them valid.
    #[serde(default)]
    pub above: u64,
    /// The number of invalid descs that bare arrays cannot express.
    #[serde(default)]
    pub unsayable: u64,
}

/// Cases that a statement does not cover, or differences that were allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservationForm {
    /// The reason: a missing capability, a known failure, cases that were only created although the profile
    /// runs them, or allowed differences.
    #[schemars(extend("enum" = ReservationKind::ALL.map(ReservationKind::id)))]
    pub kind: String,
    /// The subject: an operator, a known failure, or the differences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The number of cases. For allowed differences, the number of runs of an operator.
    pub cases: u64,
}

/// Cases with the same unexpected result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingForm {
    /// Their operator.
    pub operator: String,
    /// Their verdict.
    #[schemars(extend("enum" = Verdict::ALL.map(Verdict::id)))]
    pub verdict: String,
    /// The class of their failure. Absent if there are too many classes to count separately, or if a known
    /// failure passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Class::ALL.map(Class::id)))]
    pub class: Option<String>,
    /// The number of cases.
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
