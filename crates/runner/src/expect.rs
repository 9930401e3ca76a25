//! The expectation of a case: the spec's judgement, turned into an expectation and into bytes.

use dmlcts_backend::{Capabilities, OpenError};
use dmlcts_model::{
    Allowed, Case, DataType, Desc, Expectation, FeatureLevel, List, MemberKind, Tensor, Value,
};
use dmlcts_spec::{
    Answer, IdSet, Judgement, Library, Operator, Predicate, Scratch, ValidDesc, Validity,
    expression::{Mistake, Span},
    program::Values,
};

use crate::{RunError, Undeclared};

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
pub fn open(operator: &Operator, questions: IdSet) -> Expectation {
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
pub fn write_output(
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
pub fn bytes_of_a_run(input: &Tensor, output: &Tensor, expectation: &Expectation) -> u64 {
    let readings = if matches!(expectation, Expectation::Open(_)) { output.total_size } else { 0 };
    let twice = input.total_size.saturating_add(output.total_size).saturating_mul(2);
    twice.saturating_add(readings)
}

/// The capabilities of a backend, in a form that is quick to query.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// One bit for each code of a data type. Codes of 64 and above are never declared.
    types: u64,
    /// The descs that the backend declares to lack.
    lacks: Vec<Predicate>,
    capabilities: Capabilities,
}

impl Declared {
    /// Fails if the backend names an operator that does not exist, or if a condition is no condition on descs
    /// of its operator. Otherwise a misspelled name would skip all cases of an operator, as if the backend
    /// lacked it, or skip none.
    pub(crate) fn new(capabilities: &Capabilities, library: &Library) -> Result<Self, RunError> {
        check_names(capabilities, library).map_err(OpenError::Declaration)?;
        let lacks = capabilities.lacks.iter().enumerate().map(|(place, lack)| {
            let operator = library.operators().iter().find(|operator| operator.name() == lack.operator);
            let predicate = Predicate::compile(&lack.condition, operator.map(Operator::scope));
            let predicate = predicate.and_then(|predicate| {
                let whole = Span::new(0, lack.condition.len());
                if predicate.asks_for_data() {
                    return Err(Mistake::new(whole, "asks for the data of a case").help(
                        "state a condition on the desc; a backend sees no data when it creates an operator",
                    ));
                }
                if predicate.asks_for_judge() {
                    return Err(Mistake::new(whole, "asks for the judgement of a desc").help(
                        "leave it out: invalid descs run whatever a backend lacks, and all others are skipped",
                    ));
                }
                Ok(predicate)
            });
            predicate.map_err(|mistake| RunError::Lack {
                backend: capabilities.name.clone(),
                place,
                operator: lack.operator.clone(),
                condition: lack.condition.clone(),
                mistake: Box::new(mistake),
            })
        });
        let lacks = lacks.collect::<Result<_, _>>()?;
        let types = capabilities.data_types.iter().fold(0, |types, data_type| types | bit(*data_type));
        Ok(Self { types, lacks, capabilities: capabilities.clone() })
    }

    /// The first part of a desc that the backend did not declare; `None` if it declared all of it. Checks the
    /// operator, the data types, the ranks, what the backend declares to lack, and whether arrays without a
    /// length can represent the lists.
    pub(crate) fn lacks(&self, case: &Case, level: FeatureLevel, values: &mut Values) -> Option<Undeclared> {
        let desc = &case.desc;
        let Capabilities { operators, ranks, limits, .. } = &self.capabilities;
        if operators.as_ref().is_some_and(|names| !names.contains(&desc.signature.operator)) {
            return Some(Undeclared::Operator);
        }
        for tensor in desc.input.iter().chain(&desc.output) {
            if self.types & bit(tensor.data_type) == 0 {
                return Some(Undeclared::DataType);
            }
            if !ranks.contains(&tensor.dimension_count) {
                return Some(Undeclared::Rank);
            }
        }
        if let Some(place) = self.lacks.iter().position(|lack| lack.holds(case, level, values)) {
            return Some(Undeclared::Lack(place));
        }
        let is_said = limits.bare_arrays.is_none_or(|most| is_said_by_bare_arrays(desc, most));
        (!is_said).then_some(Undeclared::BareArrays)
    }

    /// Whether no tensor is larger than the backend's limits.
    pub(crate) fn runs(&self, desc: &Desc) -> bool {
        let elements = |tensor: &Tensor| {
            let sizes = tensor.sizes.iter().flat_map(|sizes| sizes.iter());
            sizes.fold(1_u64, |elements, size| elements.saturating_mul(size.unsigned_abs()))
        };
        let limits = &self.capabilities.limits;
        desc.input.iter().chain(&desc.output).all(|tensor| {
            tensor.total_size <= limits.tensor_bytes
                && (limits.elements == u64::MAX || elements(tensor) <= limits.elements)
        })
    }
}

/// Checks that a backend names only operators that exist.
fn check_names(capabilities: &Capabilities, library: &Library) -> Result<(), String> {
    let known: Vec<&str> = library.operators().iter().map(Operator::name).collect();
    let declared = capabilities.operators.iter().flatten();
    let lacking = capabilities.lacks.iter().map(|lack| &lack.operator);
    match declared.chain(lacking).find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let meant = dmlcts_model::closest(name, known.iter().copied());
            let meant = meant.map(|close| format!("did you mean `{close}`? ")).unwrap_or_default();
            Err(format!(
                "what `{}` declares makes no sense: there is no operator `{}`; {meant}it is to name those that it has of {}",
                capabilities.name,
                name.escape_debug(),
                known.join(", ")
            ))
        }
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
    use dmlcts_backend::{Lack, Limits};

    use super::*;

    fn lack(operator: &str, condition: &str) -> Lack {
        let text = str::to_owned;
        Lack { operator: text(operator), condition: text(condition), reason: text("not written yet") }
    }

    fn capabilities() -> Capabilities {
        Capabilities {
            name: "mine".to_owned(),
            version: "1".to_owned(),
            device: String::new(),
            driver: String::new(),
            feature_level: FeatureLevel::NEWEST,
            can_set_feature_level: false,
            operators: Some(vec!["SLICE".to_owned(), "PADDING1".to_owned()]),
            data_types: vec![DataType::FLOAT32],
            lacks: Vec::new(),
            ranks: 1..=8,
            limits: Limits::default(),
            is_isolated: false,
        }
    }

    /// Why a declaration with these lacks is refused.
    fn refused(lacks: Vec<Lack>) -> String {
        let capabilities = Capabilities { lacks, ..capabilities() };
        let refused = Declared::new(&capabilities, Library::embedded());
        refused.expect_err("it makes no sense").to_string()
    }

    #[test]
    fn an_operator_that_there_is_not_is_named() {
        let mut capabilities = capabilities();
        assert!(Declared::new(&capabilities, Library::embedded()).is_ok());
        let said = refused(vec![lack("Padding1", "rank > 1")]);
        assert!(said.contains("no operator `Padding1`; did you mean `PADDING1`?"), "{said}");
        capabilities.operators = Some(vec!["Slice".to_owned()]);
        assert_eq!(
            check_names(&capabilities, Library::embedded()),
            Err("what `mine` declares makes no sense: there is no operator `Slice`; did you mean `SLICE`? \
                 it is to name those that it has of SLICE, SLICE1, PADDING1"
                .to_owned())
        );
    }

    #[test]
    fn a_condition_that_is_none_on_descs_of_its_operator_is_named() {
        let right = lack("SLICE", "rank > 4");
        let said = refused(vec![right.clone(), lack("SLICE", "PaddingMode != CONSTANT")]);
        assert!(said.contains("`lacks[1]`") && said.contains("CONSTANT"), "{said}");
        let said = refused(vec![lack("PADDING1", "PaddingMode !=")]);
        assert!(said.contains("`lacks[0]`"), "{said}");
        let said = refused(vec![right, lack("PADDING1", "moves(nan)")]);
        assert!(said.contains("`lacks[1]`") && said.contains("the data of a case"), "{said}");
        // A backend lacks valid descs, so the judgement of a desc says nothing.
        for condition in ["valid", "rank > 4 and not invalid", "open", "violations == 0"] {
            let said = refused(vec![lack("SLICE", condition)]);
            assert!(said.contains("`lacks[0]`") && said.contains("the judgement of a desc"), "{said}");
        }
    }

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
