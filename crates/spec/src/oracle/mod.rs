//! The oracle: it executes the semantics of a spec.
//!
//! [`read`] evaluates the read at the coordinates of each axis, eight at a time. The list of what they read
//! and the strides of both tensors are enough to write the output, row by row ([`rows`]). No code here knows
//! an operator or interprets elements; it moves bytes.

mod layout;
mod plan;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dmlcts_model::Signature;
use thiserror::Error;

pub use plan::Plan;

use crate::{AlternativeReading, Question, Semantics, program::Values};
use layout::Axis;
use read::CompiledRead;
use rows::Segment;

/// The semantics and alternative readings of an operator, compiled.
#[derive(Debug)]
pub(crate) struct Oracle {
    /// The index of the member that chooses the branch.
    by: Option<usize>,
    branches: Vec<(Option<i64>, CompiledRead)>,
    /// The reads of readings 1, 2 and so on, for the axes that raise their question.
    alternatives: Vec<CompiledRead>,
    /// The index of the scalar member for the fill.
    fill: Option<usize>,
}

impl Oracle {
    /// Compiles the semantics and the readings.
    pub(crate) fn new(
        signature: &Arc<Signature>,
        semantics: &Semantics,
        readings: &[AlternativeReading],
        questions: &[Question],
    ) -> Self {
        let branches = semantics.branches.iter();
        let alternatives = readings.iter().filter_map(|reading| {
            let question = questions.get(reading.question)?;
            Some(CompiledRead::new(signature, &reading.term, Some(&question.term)))
        });
        Self {
            by: semantics.by,
            branches: branches
                .map(|branch| (branch.value, CompiledRead::new(signature, &branch.term, None)))
                .collect(),
            alternatives: alternatives.collect(),
            fill: semantics.fill,
        }
    }
}

/// Memory that planning and executing reuse.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    values: Values,
    axes: Vec<Axis>,
    /// What the coordinates of each axis read, axis by axis.
    list: Vec<u32>,
    segments: Vec<Segment>,
}

/// The reason why the semantics gave no output.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OracleError {
    /// The desc lacks something that a plan needs, such as the sizes of a tensor. The spec lacks a clause
    /// that rules this out.
    #[error("the desc cannot be executed, since {0}; a clause should forbid it")]
    NotExecutable(&'static str),
    /// The semantics have no branch for the value of the desc's mode member.
    #[error("the semantics do not say what is read in mode {0}")]
    NoBranch(i64),
    /// The operator has fewer alternative readings.
    #[error("there is no reading {0}")]
    NoReading(usize),
    /// The read is undefined, for instance because it divides by zero.
    #[error("what output coordinate {coordinate} reads on axis {axis} is undefined")]
    Undefined {
        /// The axis.
        axis: usize,
        /// The output coordinate on it.
        coordinate: u64,
    },
    /// The read is outside the input.
    #[error(
        "output coordinate {coordinate} reads coordinate {read} on axis {axis}, where the input has {size}"
    )]
    OutsideInput {
        /// The axis.
        axis: usize,
        /// The output coordinate on it.
        coordinate: u64,
        /// The input coordinate that it reads, saturated at 64 bits.
        read: i64,
        /// The size of the input on this axis.
        size: u64,
    },
    /// The input ends before the last element that is read.
    #[error("the input is too short: {needed} bytes are read, {given} were given")]
    ShortInput {
        /// The number of bytes up to the end of the last element that is read; saturating.
        needed: u64,
        /// The number of bytes in the input.
        given: u64,
    },
    /// The output ends before the last element that is written.
    #[error("the output is too short: {needed} bytes are written, {given} were given")]
    ShortOutput {
        /// The number of bytes up to the end of the last element that is written; saturating.
        needed: u64,
        /// The number of bytes in the output.
        given: u64,
    },
}
