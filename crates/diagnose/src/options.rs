//! How the failures of a run are explained: limits, and the findings of earlier runs.

use crate::EarlierFinding;

/// How the failures of a run are explained.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// The number of cases that a finding may cost: experiments, repeats and shrinking. With 0, predicates
    /// follow from the cases of the run alone. With `None`, no predicates are looked for: each group of
    /// failures is a finding, which is shrunk.
    pub cases: Option<usize>,
    /// Whether to shrink a case of each finding.
    pub shrink: bool,
    /// Whether the time of a slow backend is a limit, too. Without it, results depend on the cases alone.
    pub limits_time: bool,
    /// The findings of earlier runs. A finding that is still there keeps its id, and its predicate if that is
    /// still exact.
    pub earlier: Vec<EarlierFinding>,
}

impl ExplainOptions {
    /// The number of cases that a finding may cost by default.
    pub const USUAL_CASES: usize = 2_000;

    /// No predicate is looked for, and nothing is shrunk.
    pub const NONE: Self = Self { cases: None, shrink: false, limits_time: true, earlier: Vec::new() };
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { shrink: true, ..Self::NONE }
    }
}
