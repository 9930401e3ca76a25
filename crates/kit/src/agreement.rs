//! The spec against a backend: both must say the same of every desc and compute the same bytes.

use std::fmt;

use dmlcts_backend::{Capabilities, Lack, Limits, Operators, Refusal};
use dmlcts_generate::fill;
use dmlcts_model::{Case, FeatureLevel, Tensor};
use dmlcts_spec::{Library, Operator, Predicate, Scratch, Validity, program::Values};

/// Tensors of more bytes than this are judged but not run: fuzzing lives on many small inputs.
const MOST_BYTES: u64 = 1 << 20;

/// A backend that says something else than the spec.
#[derive(Debug)]
pub struct Disagreement {
    /// The case, as a line.
    pub line: String,
    /// The level at which they were asked.
    pub level: FeatureLevel,
    /// How the backend differs.
    pub what: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nat feature level {}: {}", self.line, self.level, self.what)
    }
}

impl std::error::Error for Disagreement {}

/// How far a backend could be compared with the spec on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compared {
    /// The spec does not have the operator, or the backend does not support the desc.
    Nothing,
    /// The pages leave the desc open, and the backend refuses it.
    Open,
    /// Both refuse it.
    Refusal,
    /// Both accept it.
    Acceptance,
    /// Both accept it, and compute the same.
    Output,
}

/// Compares at the backend's own feature level, the output included, and then at every older one, if it can
/// be set to them. Returns how far it could be compared at its own level.
///
/// If the pages leave a desc open, the backend may do either. If it accepts, it must compute what the
/// semantics say. The backend is not asked for what it does not declare.
pub fn check<T: Operators>(case: &Case, backend: &mut T) -> Result<Compared, Disagreement> {
    let Some(operator) = Library::embedded().operator(&case.desc.signature.operator) else {
        return Ok(Compared::Nothing);
    };
    let Capabilities { feature_level: highest, can_set_feature_level: can_be_set, .. } =
        *backend.capabilities();
    let mut scratch = Scratch::default();
    let mut at = |level| {
        if can_be_set {
            backend.set_feature_level(level);
        }
        at_level(case, operator, (level, level == highest), backend, &mut scratch)
            .map_err(|what| Disagreement { line: case.to_string(), level, what })
    };
    let own = at(highest)?;
    // What the highest level refuses, no older one takes: asking all of them again would teach nothing.
    if can_be_set && own != Compared::Refusal {
        for &level in FeatureLevel::all().iter().filter(|level| **level < highest) {
            at(level)?;
        }
    }
    Ok(own)
}

fn at_level<T: Operators>(
    case: &Case,
    operator: &Operator,
    (level, is_highest): (FeatureLevel, bool),
    backend: &mut T,
    scratch: &mut Scratch,
) -> Result<Compared, String> {
    let judgement = operator.judge(&case.desc, level, scratch);
    if !is_declared(case, operator, (level, judgement.validity()), backend.capabilities()) {
        return Ok(Compared::Nothing);
    }
    let mut created = match (judgement.validity(), backend.create(&case.desc)) {
        // An honest "cannot tell" is no answer to compare.
        (_, Err(Refusal::Unsupported(_))) => return Ok(Compared::Nothing),
        (Validity::Open, Err(Refusal::Invalid(_))) => return Ok(Compared::Open),
        (Validity::Invalid, Err(Refusal::Invalid(_))) => return Ok(Compared::Refusal),
        (Validity::Invalid, Ok(_)) => {
            let broken = judgement.violated.items(operator.clauses());
            let broken: Vec<&str> = broken.map(|clause| clause.id.as_str()).collect();
            return Err(format!("accepted, though it breaks {}", broken.join(", ")));
        }
        (_, Err(refusal)) => return Err(format!("no clause is broken, but the answer is {refusal:?}")),
        (_, Ok(created)) => created,
    };
    let (Some(input), Some(output)) = (&case.desc.input, &case.desc.output) else {
        return Err("accepted without its tensors".to_owned());
    };
    let limits = &backend.capabilities().limits;
    if !is_highest || [input, output].into_iter().any(|tensor| is_too_large(tensor, limits)) {
        return Ok(Compared::Acceptance);
    }

    let mut memory = vec![0; input.total_size as usize];
    fill::write(&case.fill, input.data_type, &mut memory);
    let mut expected = vec![0xcd; output.total_size as usize];
    let mut actual = expected.clone();
    let valid = operator
        .judge_valid(&case.desc, level, scratch)
        .map_err(|_| "judged twice, and differently".to_owned())?;
    operator
        .plan(valid, 0, scratch)
        .map_err(|error| format!("the oracle has no plan: {error}"))?
        .execute(&memory, &mut expected)
        .map_err(|error| format!("the oracle fails: {error}"))?;
    backend
        .run(&mut created, case.binding, &memory, &mut actual)
        .map_err(|error| format!("accepted, but running it fails: {error}"))?;
    match expected.iter().zip(&actual).position(|(expected, actual)| expected != actual) {
        None => Ok(Compared::Output),
        Some(place) => Err(format!(
            "byte {place} of the output is {:#04x} by the spec and {:#04x} by the backend",
            expected[place], actual[place]
        )),
    }
}

/// Whether a backend declares what a desc needs. It must refuse every invalid desc of its operators.
fn is_declared(
    case: &Case,
    operator: &Operator,
    (level, validity): (FeatureLevel, Validity),
    declared: &Capabilities,
) -> bool {
    let Capabilities { operators, data_types, ranks, lacks, .. } = declared;
    if operators.as_ref().is_some_and(|names| !names.iter().any(|name| name == operator.name())) {
        return false;
    }
    let mut tensors = case.desc.input.iter().chain(&case.desc.output);
    let lacks_case = |lack: &Lack| {
        let predicate = Predicate::compile(&lack.condition, [operator.scope()]);
        lack.operator == operator.name()
            && predicate.is_ok_and(|predicate| predicate.holds(case, level, &mut Values::default()))
    };
    validity == Validity::Invalid
        || tensors
            .all(|tensor| data_types.contains(&tensor.data_type) && ranks.contains(&tensor.dimension_count))
            && !lacks.iter().any(lacks_case)
}

/// Whether a tensor is larger than the limits of a backend, or than fuzzing needs.
fn is_too_large(tensor: &Tensor, limits: &Limits) -> bool {
    let sizes = tensor.sizes.iter().flat_map(|sizes| sizes.iter());
    let elements = sizes.fold(1_u64, |elements, size| elements.saturating_mul(size.unsigned_abs()));
    tensor.total_size > MOST_BYTES.min(limits.tensor_bytes) || elements > limits.elements
}
