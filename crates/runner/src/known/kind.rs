//! The words of a person about a finding: its status and its kind.

use dmlcts_model::named_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Class;

named_enum! {
    /// Whether the failures of a finding are expected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Status: id {
        /// Nobody accepted it yet: its failures are unexpected.
        New = "new",
        /// Its failures are expected.
        Known = "known",
        /// Its cases passed once: a failure is unexpected, and is reported as regressed.
        Fixed = "fixed",
    }
}

named_enum! {
    /// The kind of cause of a finding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum CauseKind: id {
        /// The backend is wrong.
        Bug = "bug",
        /// The backend does not support the cases, and its declaration cannot express that.
        Unsupported = "unsupported",
        /// The pages can be read in another way.
        Question = "question",
    }
}

impl CauseKind {
    /// The kind of failures of a class that nobody examined yet.
    pub fn of(class: Class) -> Self {
        if class == Class::Undeclared { Self::Unsupported } else { Self::Bug }
    }
}
