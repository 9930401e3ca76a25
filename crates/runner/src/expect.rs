//! What a case expects of a backend: the spec's judgement, turned into an expectation and into bytes.

use dmlcts_backend::Capabilities;
use dmlcts_model::{Allowed, DataType, Desc, Expectation};
use dmlcts_spec::{Answer, IdSet, Operator, Scratch, ValidDesc};

/// The expectation of a desc that raises these questions: what every one of them allows is allowed. Where
/// several arise together, a refusal answers all of them, while the desc can be accepted only if each of them
/// lets it be.
pub(crate) fn open(operator: &Operator, questions: IdSet) -> Expectation {
    let mut allowed = Vec::new();
    let mut all_accept = true;
    for place in questions.iter() {
        let Some(question) = operator.questions().get(place) else { continue };
        all_accept &= question.allow.iter().any(|answer| *answer != Answer::Reject);
        for answer in &question.allow {
            let outcome = match answer {
                Answer::Reject => Allowed::Reject,
                Answer::Accept => Allowed::Accept,
                Answer::Reading(reading) => Allowed::Output(*reading),
            };
            if !allowed.contains(&outcome) {
                allowed.push(outcome);
            }
        }
    }
    if !all_accept {
        allowed.retain(|outcome| *outcome == Allowed::Reject);
    }
    Expectation::Open(allowed)
}

/// The readings that an expectation allows, in order; the spec's own semantics where it expects an output.
pub(crate) fn readings(expectation: &Expectation) -> impl Iterator<Item = usize> {
    let (plain, allowed) = match expectation {
        Expectation::Output => (Some(0), [].as_slice()),
        Expectation::Open(allowed) => (None, allowed.as_slice()),
        Expectation::Accept | Expectation::Reject => (None, [].as_slice()),
    };
    plain.into_iter().chain(allowed.iter().filter_map(|outcome| match outcome {
        Allowed::Output(reading) => Some(*reading),
        Allowed::Reject | Allowed::Accept => None,
    }))
}

/// Writes the elements that a reading of the semantics gives over `output`, and leaves everything between
/// them alone. `false` where the semantics give no output for this desc, or not within this memory.
pub(crate) fn write_output(
    valid: ValidDesc<'_>,
    reading: usize,
    input: &[u8],
    output: &mut [u8],
    scratch: &mut Scratch,
) -> bool {
    let plan = valid.operator().plan(valid, reading, scratch);
    plan.is_ok_and(|mut plan| plan.execute(input, output).is_ok())
}

/// What a backend declared, made quick to ask.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// A bit for each code of a data type; codes of 64 and more are never declared.
    types: u64,
    ranks: std::ops::RangeInclusive<u32>,
    tensor_bytes: u64,
}

impl Declared {
    pub(crate) fn new(capabilities: &Capabilities) -> Self {
        let types = capabilities.data_types.iter().fold(0, |types, data_type| types | bit(*data_type));
        let ranks = capabilities.ranks.clone();
        Self { types, ranks, tensor_bytes: capabilities.limits.tensor_bytes }
    }

    /// Whether the backend said that it creates operators like this one: data type and rank.
    pub(crate) fn creates(&self, desc: &Desc) -> bool {
        let tensors = || desc.input.iter().chain(&desc.output);
        tensors().all(|tensor| {
            self.types & bit(tensor.data_type) != 0 && self.ranks.contains(&tensor.dimension_count)
        })
    }

    /// Whether no tensor is larger than the backend's limit.
    pub(crate) fn runs(&self, desc: &Desc) -> bool {
        desc.input.iter().chain(&desc.output).all(|tensor| tensor.total_size <= self.tensor_bytes)
    }
}

fn bit(data_type: DataType) -> u64 {
    1_u64.checked_shl(data_type.0).unwrap_or(0)
}
