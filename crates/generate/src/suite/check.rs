//! Checks a suite against a spec: unknown names, options that a strategy does not have, and bounds with
//! mistakes. All mistakes are reported at once, with their positions.

use dmlcts_model::{DataType, closest};
use dmlcts_spec::{
    Diagnostic, Library, Operator,
    expression::{self, Position, Term},
    yaml::{Document, Place},
};

use super::{BoundForm, PartForm, Strategy, SuiteForm};

/// A part with resolved names.
pub(crate) struct CheckedPart<'lib> {
    pub(crate) operators: Vec<&'lib Operator>,
    pub(crate) types: Vec<DataType>,
    pub(crate) ranks: (usize, usize),
    /// The bounds of each operator.
    pub(crate) bounds: Vec<Vec<Term>>,
}

/// Checks every part.
pub(crate) fn check<'lib>(
    document: &Document<SuiteForm>,
    library: &'lib Library,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<CheckedPart<'lib>> {
    let parts = &document.value.parts;
    let root = document.root().key("parts");
    if parts.is_empty() {
        wrong.push(root.mistake("a suite without parts has no cases", "expected a part at least"));
    }
    for (place, part) in parts.iter().enumerate() {
        if parts[..place].iter().any(|other| other.id == part.id) {
            let message = format!("two parts are called `{}`", part.id);
            wrong.push(root.index(place).key("id").mistake(message, "the second"));
        }
    }
    parts.iter().enumerate().map(|(at, part)| check_part(part, root.index(at), library, wrong)).collect()
}

fn check_part<'lib>(
    part: &PartForm,
    place: Place<'_>,
    library: &'lib Library,
    wrong: &mut Vec<Diagnostic>,
) -> CheckedPart<'lib> {
    options(part, place, wrong);
    let operators = operators(part, place.key("operators"), library, wrong);
    let mut types = Vec::new();
    for (at, name) in part.types.iter().flatten().enumerate() {
        let known = DataType::from_name(name).filter(|data_type| data_type.element_size().is_some());
        if let Some(data_type) = known {
            types.push(data_type);
        } else {
            let whole = DataType::all().filter(|data_type| data_type.element_size().is_some());
            let names: Vec<_> = whole.filter_map(DataType::name).collect();
            let place = place.key("types").index(at);
            wrong.push(unknown(place, "data type of whole bytes", name, &names));
        }
    }
    if part.types.is_none() {
        types.extend(DataType::all());
    }
    let mut ranks = (1, 8);
    if let Some(form) = part.ranks {
        ranks = (form.min as usize, form.max as usize);
        if !(1 <= form.min && form.min <= form.max && form.max <= 8) {
            let message = format!("there are no ranks from {} to {}", form.min, form.max);
            wrong.push(place.key("ranks").mistake(message, "expected 1 to 8, the least first"));
        }
    }
    let bounds = bounds(part, &operators, place.key("bounds"), wrong);
    CheckedPart { operators, types, ranks, bounds }
}

/// Reports options that a strategy does not have.
fn options(part: &PartForm, place: Place<'_>, wrong: &mut Vec<Diagnostic>) {
    use Strategy as S;
    let given: [(&str, bool, &[S]); 8] = [
        ("count", part.count.is_some(), &[S::Random, S::Layout, S::Mutated]),
        ("each", part.each.is_some(), &[S::Boundary, S::Large, S::Twins]),
        ("cross", part.cross.is_some(), &[S::Negative]),
        ("strength", part.strength.is_some(), &[S::Covering]),
        ("elements", part.elements.is_some(), &[S::Random, S::Layout, S::Large]),
        ("beyond", part.beyond.is_some(), &[S::Large]),
        ("bounds", part.bounds.is_some(), &[S::Exhaustive]),
        ("fills", part.fills.is_some(), &[S::Random, S::Layout, S::Exhaustive]),
    ];
    for (option, present, strategies) in given {
        if present && !strategies.contains(&part.strategy) {
            let names: Vec<_> = strategies.iter().map(|strategy| strategy.name()).collect();
            let message = format!("`{option}` means nothing to the strategy `{}`", part.strategy);
            let label = format!("only {} can have it", names.join(", "));
            wrong.push(place.name(option).mistake(message, label));
        }
    }
    if part.strategy == S::Exhaustive && part.bounds.as_ref().is_none_or(Vec::is_empty) {
        let message = "an exhaustive part needs `bounds`, or its search has no end";
        let label = "expected bounds such as `- that: InputTensor.Sizes <= 8`";
        wrong.push(place.name("strategy").mistake(message, label));
    }
    let empty = [
        ("count", part.count == Some(0)),
        ("each", part.each == Some(0)),
        ("cross", part.cross.as_ref().is_some_and(Vec::is_empty)),
        ("operators", part.operators.as_ref().is_some_and(Vec::is_empty)),
        ("types", part.types.as_ref().is_some_and(Vec::is_empty)),
        ("fills", part.fills.as_ref().is_some_and(Vec::is_empty)),
    ];
    for (option, _) in empty.into_iter().filter(|(_, empty)| *empty) {
        let message = format!("with this `{option}`, the part has no cases");
        wrong.push(place.key(option).mistake(message, "expected one at least"));
    }
    if let Some(strength) = part.strength.filter(|strength| !(2..=4).contains(strength)) {
        let message = format!("cases cannot cover every {strength} values together");
        wrong.push(place.key("strength").mistake(message, "expected 2 to 4"));
    }
    let limit = if part.strategy == S::Large { u32::MAX } else { MOST_ELEMENTS };
    if let Some(elements) = part.elements.filter(|elements| !(1..=limit).contains(elements)) {
        let message = format!("a tensor of at most {elements} elements cannot be drawn");
        wrong.push(place.key("elements").mistake(message, format!("expected 1 to {MOST_ELEMENTS}")));
    }
}

/// The sizes of random tensors are tabulated, so tensors must be small.
const MOST_ELEMENTS: u32 = 1 << 14;

fn operators<'lib>(
    part: &PartForm,
    place: Place<'_>,
    library: &'lib Library,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<&'lib Operator> {
    let Some(names) = &part.operators else { return library.operators().iter().collect() };
    let known: Vec<&str> = library.operators().iter().map(Operator::name).collect();
    let mut found = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match library.operator(name) {
            Some(operator) => found.push(operator),
            None => wrong.push(unknown(place.index(at), "operator", name, &known)),
        }
    }
    found
}

/// The bounds of each operator. A bound without an operator applies to the operators that have all its names.
/// There must be at least one.
fn bounds(
    part: &PartForm,
    operators: &[&Operator],
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Vec<Term>> {
    let mut all: Vec<Vec<Term>> = vec![Vec::new(); operators.len()];
    for (at, bound) in part.bounds.iter().flatten().enumerate() {
        let place = place.index(at);
        let mut mistake = None;
        let mut understood = false;
        let concerned =
            |operator: &Operator| bound.operator.as_deref().is_none_or(|name| name == operator.name());
        for (terms, operator) in all.iter_mut().zip(operators).filter(|(_, operator)| concerned(operator)) {
            match understand(bound, operator) {
                Ok(term) => {
                    understood = true;
                    terms.push(term);
                }
                Err(found) => mistake = mistake.or(Some(found)),
            }
        }
        match mistake {
            Some(mistake) if !understood => wrong.push(place.key("that").mistaken(mistake)),
            None if !understood => {
                let name = bound.operator.as_deref().unwrap_or_default();
                let known: Vec<_> = operators.iter().map(|operator| operator.name()).collect();
                wrong.push(unknown(place.key("operator"), "operator of this part", name, &known));
            }
            _ => {}
        }
    }
    all
}

fn understand(bound: &BoundForm, operator: &Operator) -> Result<Term, expression::Mistake> {
    operator.scope().condition(&expression::parse(&bound.that)?, Position::EachAxis)
}

/// A mistake in an expression, at its position in the file.
fn unknown(place: Place<'_>, what: &str, name: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = place
        .mistake(format!("there is no {what} `{name}`"), format!("expected one of {}", known.join(", ")));
    match closest(name, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}
