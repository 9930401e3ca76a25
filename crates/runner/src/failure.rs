//! A case that failed, as a report shows it.
//!
//! A run keeps a [`Found`](crate::Found) of each failed case. A [`Failure`] is one of them that ran again
//! alone. A [`Group`] is the first such failure of its kind, with the number of the others.

use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome};
use dmlcts_spec::{Judgement, Operator};

use crate::{Class, Differences, Rate, RunKind, Tried, Verdict};

/// Failures that have their operator, their class and their clauses in common.
#[derive(Debug)]
pub struct Group {
    /// How many cases.
    pub cases: u64,
    /// How many of them were run again alone. The others are taken to fail each time, too.
    pub again: u64,
    /// The first of them.
    pub first: Failure,
}

/// A case that failed, and what is known of it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its index in the source.
    pub index: u64,
    /// The strategy that made it.
    pub strategy: String,
    /// The case.
    pub case: Case,
    /// Its operator.
    pub operator: &'static Operator,
    /// The feature level that it was judged at.
    pub level: FeatureLevel,
    /// What the spec says of its desc.
    pub judgement: Judgement,
    /// What was expected.
    pub expectation: Expectation,
    /// What the backend did when the case was run again alone.
    pub outcome: Outcome,
    /// What it comes to; a flake where it passed alone.
    pub verdict: Verdict,
    /// How often it failed, where it is a flake.
    pub rate: Option<Rate>,
    /// The number of operators that were alive when it was found, itself included; 0 if unknown.
    pub alive: u32,
    /// In which way it failed.
    pub class: Class,
    /// The memory of the run that went wrong, where there was one and it is not too large to keep.
    pub evidence: Option<Evidence>,
    /// Whether its output had other bytes when it ran again.
    pub bytes_vary: bool,
    /// What was tried with it, if it is a flake, or passes as the first case of a fresh backend.
    pub tried: Option<Box<Tried>>,
}

/// The memory of one run, and how it differs.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Which run of the operator this was.
    pub run: RunKind,
    /// `InputTensor`'s memory.
    pub input: Vec<u8>,
    /// `OutputTensor`'s memory as it should be.
    pub expected: Vec<u8>,
    /// `OutputTensor`'s memory as it is.
    pub actual: Vec<u8>,
    /// The elements that differ.
    pub differences: Differences,
}
