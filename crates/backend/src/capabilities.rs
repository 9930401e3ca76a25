//! What a backend declares before it sees a case.

use std::ops::RangeInclusive;

use dmlcts_model::{DataType, FeatureLevel};

/// What a backend is, and what it supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// As on the command line: `reference`.
    pub name: String,
    /// The backend's own version.
    pub version: String,
    /// The device that computes, in its maker's words; empty where there is none to name.
    pub device: String,
    /// The driver and its version; empty where there is none.
    pub driver: String,
    /// The highest feature level supported.
    pub feature_level: FeatureLevel,
    /// Whether [`crate::Backend::set_feature_level`] works.
    pub can_set_feature_level: bool,
    /// The operators that it has, as the pages spell them; `None` where it has whatever it is asked for.
    pub operators: Option<Vec<String>>,
    /// The data types that its operators can be created with.
    pub data_types: Vec<DataType>,
    /// The data types that an operator cannot be created with, although others can.
    pub lacks: Vec<Lack>,
    /// The dimension counts that its operators can be created with.
    pub ranks: RangeInclusive<u32>,
    /// What it cannot exceed.
    pub limits: Limits,
    /// Whether it works on copies of a batch's inputs, as a backend in another process does, so that it cannot write to them. The runner
    /// does not check inputs then.
    pub is_apart: bool,
}

/// What one operator lacks of what a backend has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The operator, as the pages spell it.
    pub operator: String,
    /// The data types that it cannot be created with.
    pub data_types: Vec<DataType>,
}

/// Sizes that a backend cannot exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest tensor, in bytes, that it can run.
    pub tensor_bytes: u64,
    /// The most jobs that it wants in a batch.
    pub batch_jobs: usize,
    /// How many jobs keep it busy for so long that handing them over does not count. A batch has about as many, where
    /// there are enough of them.
    pub busy_jobs: usize,
    /// How many batches it takes before it must finish the first one; see [`crate::Pipelined::start`]. At least 1.
    pub in_flight: usize,
    /// Where the lists of a desc reach the backend as bare arrays, as in C: the greatest count that goes with them. Such a
    /// backend is not told of a greater one, since it may believe it, and cannot be told that a list has another length
    /// than its count says; it answers both with [`Outcome::Unsupported`](dmlcts_model::Outcome). `None` where every list
    /// has a length of its own.
    pub bare_arrays: Option<u32>,
}

/// For a backend that works while it is waited for: handing a batch over costs it nothing, and the memory of so few jobs
/// stays in a core's cache.
impl Default for Limits {
    fn default() -> Self {
        Self { tensor_bytes: u64::MAX, batch_jobs: 4096, busy_jobs: 96, in_flight: 1, bare_arrays: None }
    }
}
