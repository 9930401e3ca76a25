//! The capabilities that a backend declares before it gets a case.

use std::{env, fmt, ops::RangeInclusive, sync::LazyLock, time::Duration};

use dmlcts_model::{DataType, FeatureLevel};

/// What a backend is and what it supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The name on the command line, such as `reference`.
    pub name: String,
    /// The backend's own version.
    pub version: String,
    /// The device that computes, in its maker's words; empty if there is none to name.
    pub device: String,
    /// The driver and its version; empty if there is none.
    pub driver: String,
    /// The highest feature level supported.
    pub feature_level: FeatureLevel,
    /// Whether [`crate::Backend::set_feature_level`] works.
    pub can_set_feature_level: bool,
    /// The supported operators, as the pages spell them; `None` for all.
    pub operators: Option<Vec<String>>,
    /// The supported data types.
    pub data_types: Vec<DataType>,
    /// The valid descs that the backend does not support, although it declares their operator, data types and
    /// rank.
    pub lacks: Vec<Lack>,
    /// The supported dimension counts.
    pub ranks: RangeInclusive<u32>,
    /// The limits on sizes and counts.
    pub limits: Limits,
    /// Whether the backend works on copies of a batch's inputs, as a backend in another process does, and so
    /// cannot write to the originals. The runner then does not check the inputs.
    pub is_isolated: bool,
}

impl Capabilities {
    /// All operators, data types of whole bytes, and ranks, at the newest feature level alone.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            device: String::new(),
            driver: String::new(),
            feature_level: FeatureLevel::NEWEST,
            can_set_feature_level: false,
            operators: None,
            data_types: DataType::all().filter(|data_type| data_type.element_size().is_some()).collect(),
            lacks: Vec::new(),
            ranks: 1..=8,
            limits: Limits::default(),
            is_isolated: false,
        }
    }

    /// As [`Self::new`], with the name and the version of the package for which Cargo runs this program.
    /// Without Cargo, the name is that of the program's file, without the hash that Cargo puts into it, and
    /// the version is `unknown`.
    pub fn of_program() -> &'static Self {
        static PROGRAM: LazyLock<Capabilities> = LazyLock::new(|| {
            let program = env::current_exe().unwrap_or_default();
            let program = program.file_stem().unwrap_or_default().to_string_lossy();
            let name = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| without_hash(&program).to_owned());
            Capabilities::new(name, env::var("CARGO_PKG_VERSION").unwrap_or_else(|_| "unknown".to_owned()))
        });
        &PROGRAM
    }
}

/// The name of a program without the hash that Cargo puts into it: `conformance-0123456789abcdef`.
fn without_hash(program: &str) -> &str {
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|letter| letter.is_ascii_hexdigit());
    program.rsplit_once('-').filter(|(_, hash)| is_hash(hash)).map_or(program, |(name, _)| name)
}

/// A kind of valid descs that a backend does not support, although it declares their operator, data types and
/// rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The operator, as the pages spell it.
    pub operator: String,
    /// The condition on its descs, in the language of the specs, such as `PaddingMode != CONSTANT`.
    pub condition: String,
    /// Why, in the author's words.
    pub reason: String,
}

impl fmt::Display for Lack {
    /// Such as `PADDING1 where PaddingMode != CONSTANT (constant only)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.descs(), self.reason)
    }
}

impl Lack {
    /// The descs without the reason, on one line: `PADDING1 where PaddingMode != CONSTANT`.
    pub fn descs(&self) -> String {
        let condition: Vec<&str> = self.condition.split_whitespace().collect();
        format!("{} where {}", self.operator, condition.join(" "))
    }
}

/// Limits on sizes and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest tensor that the backend can run, in bytes.
    pub tensor_bytes: u64,
    /// The largest tensor that the backend can run, in elements: the product of its sizes. Strides of 0 make
    /// tensors of many elements in few bytes, and a library without strides has to copy each element.
    pub elements: u64,
    /// The maximum number of jobs in a batch.
    pub batch_jobs: usize,
    /// The number of jobs that keeps the backend busy for much longer than handing them over takes. A batch
    /// has about this many jobs, if enough are left.
    pub busy_jobs: usize,
    /// The maximum number of batches that are started and not finished; see [`crate::Pipelined::start`]. At
    /// least 1.
    pub in_flight: usize,
    /// For a backend that gets the lists of a desc as bare arrays, as in C: the greatest count that it may
    /// get. It might trust a greater count, so it never gets one. It cannot be told that a list has another
    /// length than its count, either. Both kinds of descs have the outcome
    /// [`Outcome::Unsupported`](dmlcts_model::Outcome). `None` if every list carries its length.
    pub bare_arrays: Option<u32>,
    /// The time that creating an operator may take beyond the time limit of a case, at most
    /// [`Limits::LONGEST_CREATION`]. A backend that compiles each desc may need seconds, and does not hang.
    pub create_time: Duration,
}

impl Limits {
    /// The longest [`Limits::create_time`].
    pub const LONGEST_CREATION: Duration = Duration::from_secs(600);
}

/// For a backend in this thread: handing over a batch costs nothing, and the memory of this few jobs stays in
/// a core's cache.
impl Default for Limits {
    fn default() -> Self {
        Self {
            tensor_bytes: u64::MAX,
            elements: u64::MAX,
            batch_jobs: 4096,
            busy_jobs: 96,
            in_flight: 1,
            bare_arrays: None,
            create_time: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_is_named_without_the_hash() {
        let named = ["conformance-a76f8f653ef1ef79", "my-ops", "my-ops-a76f8f653ef1ef79"];
        assert_eq!(named.map(super::without_hash), ["conformance", "my-ops", "my-ops"]);
    }
}
