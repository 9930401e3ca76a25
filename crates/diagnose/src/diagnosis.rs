//! What a run came to, with its findings.

use std::time::Duration;

use dmlcts_runner::Summary;

use crate::{Finding, LeftOut};

/// What a run came to, with its findings.
#[derive(Debug)]
pub struct Diagnosis {
    /// The run.
    pub summary: Summary,
    /// The findings, the most severe first: every failure by its cause.
    pub findings: Vec<Finding>,
    /// What the limits on explaining failures left out.
    pub left_out: LeftOut,
    /// The time for the evidence of predicates. It is a part of the time for explaining failures.
    pub evidence: Duration,
}
