//! The expectation of a case: the spec's judgement, turned into an expectation and into bytes.

use dmlcts_backend::Capabilities;
use dmlcts_model::{Allowed, DataType, Desc, Expectation, FeatureLevel, List, MemberKind, Tensor, Value};
use dmlcts_spec::{Answer, IdSet, Judgement, Operator, Scratch, ValidDesc, Validity};

use crate::Undeclared;

/// The expectation of a desc by its judgement alone, as if any valid desc could run.
pub(crate) fn by_judgement(operator: &Operator, judgement: Judgement) -> Expectation {
    match judgement.validity() {
        Validity::Invalid => Expectation::Reject,
        Validity::Open => open(operator, judgement.questions),
        Validity::Valid => Expectation::Output,
    }
}

/// The expectation of a desc that raises these questions: every outcome that one of them allows. If several
/// questions arise together, a refusal answers all of them, but the desc may be accepted only if each of them
/// allows that.
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

/// The readings that an expectation allows, in order. For an expected output this is the spec's own
/// semantics.
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

/// Writes the elements of a reading's output over `output`, and leaves the memory between them alone. `false`
/// if the semantics give no output for this desc, or none that fits the memory.
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

/// The reading, other than the first, that gives this output, among those that the open questions allow.
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

/// The memory that one run of a case takes, in bytes. Each byte is in the batch and once more in the memory
/// for comparison. If several readings are allowed, the output may be compared with another reading's output,
/// too.
pub(crate) fn bytes_of_a_run(input: &Tensor, output: &Tensor, expectation: &Expectation) -> u64 {
    let readings = if matches!(expectation, Expectation::Open(_)) { output.total_size } else { 0 };
    let twice = input.total_size.saturating_add(output.total_size).saturating_mul(2);
    twice.saturating_add(readings)
}

/// The capabilities of a backend, in a form that is quick to query.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// One bit for each code of a data type. Codes of 64 and above are never declared.
    types: u64,
    /// `None` for all operators.
    operators: Option<Vec<String>>,
    /// The data types that some operators lack.
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

    /// The first part of a desc that the backend did not declare; `None` if it declared all of it. Checks the
    /// operator, the data types, the ranks, and whether arrays without a length can represent the lists.
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

/// Whether the length of every list equals its count, and no count is greater than `most`.
fn is_said_by_bare_arrays(desc: &Desc, most: u32) -> bool {
    let is_said = |count: u32, list: Option<&List>| {
        count <= most && list.is_none_or(|list| u32::try_from(list.len()).is_ok_and(|length| length == count))
    };
    let tensors_are = desc.input.iter().chain(&desc.output).all(|tensor| {
        [&tensor.sizes, &tensor.strides]
            .into_iter()
            .all(|list| is_said(tensor.dimension_count, list.as_ref()))
    });
    // An operator has one count, which applies to all of its lists.
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
