//! Traces an element to its source. The spec says where it should have come from. The fill of the input often
//! shows where a wrong element did come from.

use dmlcts_generate::fill;
use dmlcts_model::{FeatureLevel, List, Offsets, coordinates_of, element_to_text};
use dmlcts_spec::Scratch;

use crate::{Difference, Failure, RunKind, WrongElement, compare::is_packed, expect};

/// Only this many elements of a strided input are searched.
const MOST_ELEMENTS: usize = 1 << 20;
/// The maximum number of input elements that are named.
const MOST_ORIGINS: usize = 3;

/// The elements of the input that hold the bits of a wrong element: at most three. Empty if the fill does not
/// distinguish elements.
pub fn origins(failure: &Failure, wrong: &WrongElement) -> Vec<List> {
    let (Some(evidence), Some(input)) = (&failure.evidence, &failure.case.desc.input) else {
        return Vec::new();
    };
    let (Some(sizes), Some(size)) = (&input.sizes, input.data_type.element_size()) else { return Vec::new() };
    if evidence.run == RunKind::OtherData {
        return Vec::new();
    }
    let bytes = &wrong.actual.to_le_bytes()[..size];
    let Some(origin) = fill::origin(&failure.case.fill, input.data_type, bytes) else { return Vec::new() };
    let elements = (evidence.input.len() / size) as u64;
    let candidates = origin.candidates(elements);
    if is_packed(input) {
        let count = u64::try_from(dmlcts_model::element_count(sizes)).unwrap_or(u64::MAX);
        let within = candidates.filter(|&element| element < count);
        return within.take(MOST_ORIGINS).map(|element| coordinates_of(element, sizes)).collect();
    }
    let candidates: Vec<u64> = candidates.take(64).collect();
    Offsets::new(sizes, input.strides.as_deref())
        .take(MOST_ELEMENTS)
        .enumerate()
        .filter(|(_, offset)| candidates.contains(offset))
        .take(MOST_ORIGINS)
        .map(|(index, _)| coordinates_of(index as u64, sizes))
        .collect()
}

/// The source of an output element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The element of the input at these coordinates.
    Input(List),
    /// The member of the desc that fills positions outside the input.
    Member(String),
}

/// A short sentence about the first wrong element of a failure: `Output[0] is Input[1], expected Input[3]`.
/// `None` if no output was compared.
pub fn first_wrong(failure: &Failure) -> Option<String> {
    let wrong = failure.evidence.as_ref()?.differences.first.first()?;
    let data_type = failure.case.desc.output.as_ref()?.data_type;
    let size = data_type.element_size()?;
    let at = |coordinates: &[i64]| {
        let all: Vec<String> = coordinates.iter().map(ToString::to_string).collect();
        format!("[{}]", all.join(","))
    };
    let value = |bits: u64| element_to_text(data_type, &bits.to_le_bytes()[..size]);
    let is = match (wrong.difference, origins(failure, wrong).first()) {
        (Difference::Unwritten, _) => "never written".to_owned(),
        (_, Some(origin)) => format!("Input{}", at(origin)),
        (_, None) => value(wrong.actual),
    };
    let expected = match reads(failure, &wrong.coordinates) {
        Some(Reads::Input(source)) => format!("Input{}", at(&source)),
        Some(Reads::Member(name)) => name,
        None => value(wrong.expected),
    };
    Some(format!("Output{} is {is}, expected {expected}", at(&wrong.coordinates)))
}

/// The source of an output element according to the spec, or according to the first reading that an open
/// question allows. `None` if no output is expected.
pub fn reads(failure: &Failure, coordinates: &[i64]) -> Option<Reads> {
    let reading = expect::readings(&failure.expectation).next()?;
    let mut scratch = Scratch::default();
    // The semantics of a desc are the same at every level at which it is valid.
    let mut levels = FeatureLevel::all().iter().rev();
    let valid = levels
        .find_map(|&level| failure.operator.judge_valid(&failure.case.desc, level, &mut scratch).ok())?;
    let source = failure.operator.plan(valid, reading, &mut scratch).ok()?.source(coordinates).ok()?;
    if let Some(source) = source {
        return Some(Reads::Input(source));
    }
    let member = failure.operator.semantics().fill?;
    Some(Reads::Member(failure.operator.signature().members.get(member)?.name.clone()))
}
