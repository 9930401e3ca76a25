//! What a finding's file says of its failures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CauseKind, Status};
use crate::Class;

/// What a finding's file says of its failures, except the selector of its cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFailure {
    /// The file.
    pub file: String,
    /// The id.
    pub id: String,
    /// A description of its cases: the predicate, or the number of listed cases.
    pub cases: String,
    /// The classes of their failures, the most severe first.
    pub classes: Vec<Class>,
    /// Whether the failures are expected.
    pub status: Status,
    /// The kind of cause.
    pub kind: CauseKind,
    /// Whether some of the cases may pass.
    #[serde(default, rename = "partial", skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Whether a case fails from time to time, and may pass.
    #[serde(default, rename = "flaky", skip_serializing_if = "std::ops::Not::not")]
    pub is_flaky: bool,
    /// Why they fail; empty if nobody said it.
    pub reason: String,
    /// The address of an issue about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl KnownFailure {
    /// Whether a failure of this class is one of these.
    pub(crate) fn covers(&self, class: Class) -> bool {
        self.classes.iter().any(|own| own.covers(class))
    }

    /// The classes in words: `wrong-value or nan-canonicalised`.
    pub fn class_ids(&self) -> String {
        self.classes.iter().map(|class| class.id()).collect::<Vec<_>>().join(" or ")
    }
}
