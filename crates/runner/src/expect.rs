//! What a case expects of a backend: the spec's judgement, turned into an expectation and into bytes.

use dmlcts_backend::Capabilities;
use dmlcts_model::{Allowed, DataType, Desc, Expectation, FeatureLevel, List, MemberKind, Tensor, Value};
use dmlcts_spec::{Answer, IdSet, Operator, Scratch, ValidDesc};

use crate::Undeclared;

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

/// The reading, other than the first, whose output this is, of those that open questions allow.
#[expect(clippy::too_many_arguments, reason = "the parts of a worker that are borrowed one by one")]
pub(crate) fn another_reading(
    operator: &Operator,
    level: FeatureLevel,
    desc: &Desc,
    expectation: &Expectation,
    input: &[u8],
    actual: &[u8],
    scratch: &mut Scratch,
    memory: &mut Vec<u8>,
) -> Option<usize> {
    let output = desc.output.as_ref()?;
    readings(expectation).skip(1).find(|&reading| {
        memory.clear();
        memory.resize(actual.len(), 0);
        let valid: Result<ValidDesc<'_>, _> = operator.judge_valid(desc, level, scratch);
        valid.is_ok_and(|valid| {
            write_output(valid, reading, input, memory, scratch)
                && crate::compare::same_elements(output, memory, actual)
        })
    })
}

/// How much memory one run of a case takes: each byte lies in the batch and once more in what it is compared
/// with, and an output that several readings allow may be compared with another reading's.
pub(crate) fn bytes_of_a_run(input: &Tensor, output: &Tensor, expectation: &Expectation) -> u64 {
    let readings = if matches!(expectation, Expectation::Open(_)) { output.total_size } else { 0 };
    let twice = input.total_size.saturating_add(output.total_size).saturating_mul(2);
    twice.saturating_add(readings)
}

/// What a backend declared, made quick to ask.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// A bit for each code of a data type; codes of 64 and more are never declared.
    types: u64,
    /// Where not all of them.
    operators: Option<Vec<String>>,
    /// Operators that lack some of the types, and these types.
    lacks: Vec<(String, u64)>,
    ranks: std::ops::RangeInclusive<u32>,
    tensor_bytes: u64,
    bare_arrays: Option<u32>,
}

impl Declared {
    pub(crate) fn new(capabilities: &Capabilities) -> Self {
        let bits =
            |data_types: &[DataType]| data_types.iter().fold(0, |types, data_type| types | bit(*data_type));
        let types = bits(&capabilities.data_types);
        let lacks =
            capabilities.lacks.iter().map(|lack| (lack.operator.clone(), bits(&lack.data_types))).collect();
        let ranks = capabilities.ranks.clone();
        let operators = capabilities.operators.clone();
        let limits = &capabilities.limits;
        Self {
            types,
            operators,
            lacks,
            ranks,
            tensor_bytes: limits.tensor_bytes,
            bare_arrays: limits.bare_arrays,
        }
    }

    /// What of a desc the backend never said that it creates; `None` where it said so of the whole: by name, data type and
    /// rank, and by what arrays without a length can say.
    pub(crate) fn lacks(&self, desc: &Desc) -> Option<Undeclared> {
        if self.operators.as_ref().is_some_and(|names| !names.contains(&desc.signature.operator)) {
            return Some(Undeclared::Operator);
        }
        let lacking = self.lacks.iter().filter(|(operator, _)| *operator == desc.signature.operator);
        let types = lacking.fold(self.types, |types, (_, lacking)| types & !lacking);
        for tensor in desc.input.iter().chain(&desc.output) {
            if types & bit(tensor.data_type) == 0 {
                return Some(Undeclared::DataType);
            }
            if !self.ranks.contains(&tensor.dimension_count) {
                return Some(Undeclared::Rank);
            }
        }
        let is_said = self.bare_arrays.is_none_or(|most| is_said_by_bare_arrays(desc, most));
        (!is_said).then_some(Undeclared::BareArrays)
    }

    /// Whether no tensor is larger than the backend's limit.
    pub(crate) fn runs(&self, desc: &Desc) -> bool {
        desc.input.iter().chain(&desc.output).all(|tensor| tensor.total_size <= self.tensor_bytes)
    }
}

/// Whether every list is as long as its count says, and no count is greater than `most`.
fn is_said_by_bare_arrays(desc: &Desc, most: u32) -> bool {
    let is_said = |count: u32, list: Option<&List>| {
        count <= most && list.is_none_or(|list| u32::try_from(list.len()).is_ok_and(|length| length == count))
    };
    let tensors_are = desc.input.iter().chain(&desc.output).all(|tensor| {
        [&tensor.sizes, &tensor.strides]
            .into_iter()
            .all(|list| is_said(tensor.dimension_count, list.as_ref()))
    });
    // An operator has one count, which all of its lists go by.
    let members = || desc.signature.members.iter().zip(&desc.members);
    let count = members().find_map(|(member, value)| match (&member.kind, value) {
        (MemberKind::Count, Value::Integer(count)) => Some(*count as u32),
        _ => None,
    });
    let members_are = count.is_none_or(|count| {
        members().all(|(_, value)| match value {
            Value::List(list) => is_said(count, list.as_ref()),
            Value::Integer(_) | Value::Scalar(_) => true,
        })
    });
    tensors_are && members_are
}

fn bit(data_type: DataType) -> u64 {
    1_u64.checked_shl(data_type.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bare_arrays_cannot_say_is_not_declared() {
        let library = dmlcts_spec::Library::embedded();
        let said = |text: &str| {
            let case = dmlcts_model::line::parse(text, library.signatures()).expect(text);
            is_said_by_bare_arrays(&case.desc, 16)
        };
        assert!(said("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota"));
        assert!(said("SLICE UINT8 in=4 out=4 Offsets=null Sizes=4 Strides=1 fill=iota"));
        for text in [
            "SLICE UINT8 in=4 out=4 Offsets=0,0 Sizes=4 Strides=1 fill=iota",
            "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides= fill=iota",
            "SLICE UINT8 in=4 out=4 InputTensor.Strides=1,1 Offsets=0 Sizes=4 Strides=1 fill=iota",
            "SLICE UINT8 in=4 out=4,1 OutputTensor.DimensionCount=1 Offsets=0 Sizes=4 Strides=1 fill=iota",
            "SLICE UINT8 in=null out=null InputTensor.DimensionCount=17 Offsets=0 Sizes=4 Strides=1 DimensionCount=1 fill=iota",
            "SLICE UINT8 in=4 out=4 DimensionCount=17 Offsets=null Sizes=null Strides=null fill=iota",
        ] {
            assert!(!said(text), "{text}");
        }
    }
}
