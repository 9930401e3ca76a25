//! Compares what a source says of a case with what the spec says of it.

use dmlcts_model::{Case, DataType, FeatureLevel, Fill, element_to_text};
use dmlcts_spec::{Answer, Diagnostic, Library, Operator, Scratch, Validity, yaml::Place};

/// An outcome that a source states: an output, or a refusal.
pub(super) struct Claim<'a> {
    /// The implementation or project that it is from.
    pub(super) by: &'a str,
    /// The packed output; `None` for a refusal.
    pub(super) output: Option<Vec<u8>>,
    pub(super) place: Place<'a>,
}

/// What the spec allows.
struct Allowed {
    reject: bool,
    /// Any output.
    accept: bool,
    outputs: Vec<Vec<u8>>,
    /// The judgement, in words.
    judged: String,
}

/// Adds a mistake for each claim that the spec does not allow.
pub(super) fn compare(library: &Library, case: &Case, claims: &[Claim<'_>], wrong: &mut Vec<Diagnostic>) {
    let Some(operator) = library.operator(&case.desc.signature.operator) else { return };
    let allowed = allowed(operator, case);
    for claim in claims {
        let message = match &claim.output {
            None if allowed.reject => continue,
            None => format!("{} refuses this desc, and the spec judges it {}", claim.by, allowed.judged),
            Some(output) if allowed.accept || allowed.outputs.contains(output) => continue,
            Some(output) => match allowed.outputs.first() {
                Some(computed) => differ(case, claim.by, output, computed),
                None => format!("{} runs this desc, and the spec judges it {}", claim.by, allowed.judged),
            },
        };
        wrong.push(claim.place.mistake(message, "they disagree").help(
            "find out which of the two is wrong: the page decides about the spec, the source about the vector",
        ));
    }
}

fn allowed(operator: &Operator, case: &Case) -> Allowed {
    let (mut scratch, level) = (Scratch::default(), FeatureLevel::NEWEST);
    let judgement = operator.judge(&case.desc, level, &mut scratch);
    let clauses = judgement.violated.items(operator.clauses());
    let broken: Vec<&str> = clauses.map(|clause| clause.id.as_str()).collect();
    let questions = || judgement.questions.items(operator.questions());
    let asked: Vec<&str> = questions().map(|question| question.id.as_str()).collect();
    let (answers, judged): (Vec<Answer>, String) = match judgement.validity() {
        Validity::Valid => (vec![Answer::Reading(0)], "valid".to_owned()),
        Validity::Invalid => (vec![Answer::Reject], format!("invalid by {}", broken.join(", "))),
        Validity::Open => {
            let allowed = questions().flat_map(|question| question.allow.iter().copied());
            (allowed.collect(), format!("open by {}", asked.join(", ")))
        }
    };
    let readings = answers.iter().filter_map(|answer| match answer {
        Answer::Reading(reading) => output(operator, case, *reading, &mut scratch),
        Answer::Reject | Answer::Accept => None,
    });
    Allowed {
        outputs: readings.collect(),
        reject: answers.contains(&Answer::Reject),
        accept: answers.contains(&Answer::Accept),
        judged,
    }
}

/// The packed output of a case by a reading.
fn output(operator: &Operator, case: &Case, reading: usize, scratch: &mut Scratch) -> Option<Vec<u8>> {
    let Fill::Explicit(input) = &case.fill else { return None };
    let tensor = case.desc.output.as_ref()?;
    let elements: i64 = tensor.sizes.as_ref()?.iter().product();
    let mut bytes = vec![0; usize::try_from(elements).ok()? * tensor.data_type.element_size()?];
    let valid = operator.judge_valid(&case.desc, FeatureLevel::NEWEST, scratch).ok()?;
    operator.plan(valid, reading, scratch).ok()?.execute(input, &mut bytes).ok()?;
    Some(bytes)
}

/// The first element that differs from the spec's, in words.
fn differ(case: &Case, by: &str, stated: &[u8], computed: &[u8]) -> String {
    let data_type = case.desc.output.as_ref().map_or(DataType::UNKNOWN, |tensor| tensor.data_type);
    let size = data_type.element_size().unwrap_or(1);
    let mut pairs = stated.chunks(size).zip(computed.chunks(size)).enumerate();
    match pairs.find(|(_, (stated, computed))| stated != computed) {
        Some((index, (stated, computed))) => format!(
            "{by} has {} at element {index}, and the spec of {} computes {}",
            element_to_text(data_type, stated),
            case.desc.signature.operator,
            element_to_text(data_type, computed)
        ),
        None => format!("{by} has another number of elements than the spec"),
    }
}
