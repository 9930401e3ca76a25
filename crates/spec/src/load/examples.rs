//! Parses, judges and executes the examples, and compares their output.

use std::sync::Arc;

use dmlcts_model::{Case, DataType, FeatureLevel, Fill, Signatures, element_to_text, line};

use super::{common::cite, rules::check_id};
use crate::{
    Diagnostic, Example, Operator, Scratch, Validity,
    form::{ExampleForm, OperatorForm},
    tensor_data::tensor_bytes,
    yaml::{Document, Place},
};

/// The examples of an operator. Each is checked with the operator.
pub(super) fn examples(
    operator: &Operator,
    document: &Document<OperatorForm>,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Example> {
    let form = &document.value;
    let mut examples: Vec<Example> = Vec::new();
    let signatures = Signatures::new([Arc::clone(operator.signature())]);
    for (index, example) in form.examples.iter().enumerate() {
        let place = document.root().key("examples").index(index);
        check_id(&example.id, form.examples[..index].iter().map(|other| &other.id), place, wrong);
        let Some((case, output)) = build(example, place, &signatures, wrong) else { continue };
        prove(operator, &case, &output, place, wrong);
        examples.push(Example {
            id: format!("{}.{}", operator.name().to_lowercase(), example.id),
            cite: cite(example.page.as_ref(), &example.cite, &form.page),
            case,
            output,
            note: example.note.clone(),
        });
    }
    examples
}

/// The case, and the bytes of the output.
fn build(
    form: &ExampleForm,
    place: Place<'_>,
    signatures: &Signatures,
    wrong: &mut Vec<Diagnostic>,
) -> Option<(Case, Vec<u8>)> {
    let parsed = line::parse(&form.desc, signatures);
    let mut case = parsed.map_err(|error| wrong.push(place.key("desc").misread(error))).ok()?;
    if let Some(at) = form.desc.find("fill=") {
        let message = "an example's fill is its `input`";
        wrong.push(place.key("desc").mistake_within(at..at + 5, message, "leave it out"));
        return None;
    }
    let (Some(input), Some(output)) = (&case.desc.input, &case.desc.output) else {
        wrong.push(place.key("desc").mistake("an example has both tensors", "one of them is null"));
        return None;
    };
    let input = tensor_bytes(&form.input, input, place.key("input"), wrong);
    let output = tensor_bytes(&form.output, output, place.key("output"), wrong);
    case.fill = Fill::Explicit(input?.into());
    Some((case, output?))
}

/// Checks that the operator judges its example valid and computes its output.
fn prove(operator: &Operator, case: &Case, output: &[u8], place: Place<'_>, wrong: &mut Vec<Diagnostic>) {
    let mut scratch = Scratch::default();
    let level = FeatureLevel::NEWEST;
    let judgement = operator.judge(&case.desc, level, &mut scratch);
    match judgement.validity() {
        Validity::Valid => {}
        Validity::Invalid => {
            let broken = judgement.violated.items(operator.clauses());
            let broken: Vec<String> =
                broken.map(|clause| format!("`{}`: {}", clause.id, clause.text)).collect();
            let message = "this spec judges its own example invalid";
            let diagnostic = place.key("desc").mistake(message, "");
            wrong.push(diagnostic.help(format!("it breaks {}", broken.join("; "))));
            return;
        }
        Validity::Open => {
            let open = judgement.questions.items(operator.questions());
            let open: Vec<&str> = open.map(|question| question.id.as_str()).collect();
            let message = format!("this spec leaves its own example open: {}", open.join(", "));
            wrong.push(place.key("desc").mistake(message, "an example is valid"));
            return;
        }
    }
    let Fill::Explicit(input) = &case.fill else { return };
    let mut computed = vec![0; output.len()];
    let done = operator
        .judge_valid(&case.desc, level, &mut scratch)
        .map(|valid| operator.plan(valid, 0, &mut scratch)?.execute(input, &mut computed));
    if let Ok(Err(error)) = done {
        wrong.push(place.mistake("this spec cannot compute its own example", error.to_string()));
        return;
    }
    let data_type = case.desc.output.as_ref().map_or(DataType::UNKNOWN, |tensor| tensor.data_type);
    let element_size = data_type.element_size().unwrap_or(1);
    let pairs = computed.chunks(element_size).zip(output.chunks(element_size));
    let width = case.desc.output.as_ref().and_then(|tensor| tensor.sizes.as_ref()?.last().copied());
    let width = width.and_then(|width| usize::try_from(width).ok()).unwrap_or(1).max(1);
    if let Some((index, (computed, written))) = pairs.enumerate().find(|(_, (one, other))| one != other) {
        let (computed, written) = (element_to_text(data_type, computed), element_to_text(data_type, written));
        let place = place.key("output").key("rows").index(index / width).index(index % width);
        let message = format!("the semantics compute {computed} here, and the example says {written}");
        wrong.push(place.mistake(message, "the first element that differs"));
    }
}
