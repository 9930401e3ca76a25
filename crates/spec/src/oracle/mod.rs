//! The oracle: a spec's semantics, executed.
//!
//! On each axis the read is executed on whole stretches of output coordinates ([`read`]), which gives a map from
//! output to input coordinates: a few runs, or a table ([`map`]). From the maps and both tensors' strides comes a
//! movement of elements: loops that are joined where memory is contiguous ([`level`]) and gone through by rows
//! ([`gather`], [`rows`]). Tensors of a few elements take a shorter way ([`small`]). Nothing here knows an
//! operator, and nothing looks at what elements mean: bits are moved.

mod cycle;
mod gather;
mod layout;
mod level;
mod machine;
mod map;
mod movement;
mod plan;
mod read;
mod rows;
mod small;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dmlcts_model::Signature;
use thiserror::Error;

pub use plan::Plan;

use crate::{AlternativeReading, Question, Semantics, program::Values};
use layout::Axis;
use read::{CompiledRead, Fixed, ReadValues};

/// The semantics and alternative readings of an operator, compiled.
#[derive(Debug)]
pub(crate) struct Oracle {
    /// The place of the member that chooses among the branches.
    by: Option<usize>,
    branches: Vec<(Option<i64>, CompiledRead)>,
    /// What readings 1, 2 … read, on the axes where their question arises.
    alternatives: Vec<CompiledRead>,
    /// The place of the scalar that fills.
    fill: Option<usize>,
}

impl Oracle {
    /// Compiles.
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

/// Memory that planning and executing use over and over.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    values: Values,
    usual: Fixed,
    other: Fixed,
    read: ReadValues,
    axes: Vec<Axis>,
    small: small::Memory,
    tables: tables::Tables,
}

/// Why the semantics gave no output.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OracleError {
    /// The desc lacks what a plan needs, such as sizes on both sides: a spec whose clauses judge it valid
    /// forgets to say so.
    #[error("the desc cannot be executed, since {0}; a clause should forbid it")]
    NotExecutable(&'static str),
    /// No branch of the semantics is for what the desc's mode member holds.
    #[error("the semantics do not say what is read in mode {0}")]
    NoBranch(i64),
    /// There are fewer alternative readings.
    #[error("there is no reading {0}")]
    NoReading(usize),
    /// The read has no value, for instance because it divides by zero.
    #[error("what output coordinate {coordinate} reads on axis {axis} is undefined")]
    Undefined {
        /// The axis.
        axis: usize,
        /// The output coordinate on it.
        coordinate: u64,
    },
    /// The read leaves the input.
    #[error(
        "output coordinate {coordinate} reads coordinate {read} on axis {axis}, where the input has {size}"
    )]
    OutsideInput {
        /// The axis.
        axis: usize,
        /// The output coordinate on it.
        coordinate: u64,
        /// The input coordinate that it reads; saturating.
        read: i64,
        /// How many coordinates the input has there.
        size: u64,
    },
    /// The input ends before an element that is read.
    #[error("the input is too short: {needed} bytes are read, {given} were given")]
    ShortInput {
        /// Bytes from the start to the end of the last element that is read; saturating.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
    /// The output ends before an element that is written.
    #[error("the output is too short: {needed} bytes are written, {given} were given")]
    ShortOutput {
        /// Bytes from the start to the end of the last element that is written; saturating.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
}
