//! Checks a finding's file against the spec. A check reports all mistakes at once, with their locations.

use std::path::Path;

use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_runner::{BoundsForm, Class, Digest, KnownEntry, KnownFailure, is_version};
use dmlcts_spec::{
    Diagnostic, Library, LoadError, Predicate, Source,
    program::Values,
    yaml::{Place, Reader},
};

use crate::FindingFile;

/// The longest id.
const LONGEST_ID: usize = 100;

/// Reads a file, and makes of it what a run expects.
pub(crate) fn check(
    reader: &Reader<FindingFile>,
    source: &Source,
    library: &Library,
) -> Result<(FindingFile, KnownEntry), LoadError> {
    let document = reader.read(source)?;
    let (file, root) = (&document.value, document.root());
    let mut wrong = Vec::new();
    check_id(file, &source.name, root, &mut wrong);
    let mut classes = Vec::new();
    for (at, name) in file.class.iter().enumerate() {
        // The schema check has reported unknown names.
        let class = Class::from_id(name).filter(|class| *class != Class::Lost);
        if let Some(class) = class.filter(|class| classes.contains(class)) {
            let message = format!("`{}` is named twice", class.id());
            wrong.push(root.key("class").index(at).mistake(message, "expected each class once"));
        }
        classes.extend(class);
    }
    if let Some(link) = file.link.as_deref().filter(|link| !link.contains("://")) {
        let message = format!("`{link}` is not an address");
        wrong.push(root.key("link").mistake(message, "expected one such as https://example.org/issues/7"));
    }
    if let Some(applies) = &file.applies {
        for (name, bounds) in [("version", &applies.version), ("driver", &applies.driver)] {
            if let Some(bounds) = bounds {
                check_bounds(name, bounds, root.key("applies"), &mut wrong);
            }
        }
    }
    let output = file.output.as_deref().map(|text| {
        let digest = Digest::parse(text);
        if digest.is_none() {
            let label = "expected 16 hexadecimal digits, as `accept` writes them";
            wrong.push(root.key("output").mistake(format!("`{text}` is not a digest"), label));
        }
        digest
    });
    let predicate = file.filter.as_deref().and_then(|text| {
        let parsed = Predicate::parse(text, library);
        parsed.map_err(|mistake| wrong.push(root.key("where").mistaken(mistake))).ok()
    });
    let smallest = case(&file.smallest, root.key("smallest"), library, &mut wrong);
    let cases = file.cases.iter().enumerate();
    let cases: Vec<Case> =
        cases.filter_map(|(at, text)| case(text, root.key("cases").index(at), library, &mut wrong)).collect();
    if let Some((predicate, case)) = predicate.as_ref().zip(smallest.as_ref())
        // The backend may have any level.
        && !FeatureLevel::all().iter().any(|level| predicate.holds(case, *level, &mut Values::default()))
    {
        let message = "the predicate does not hold for the smallest case";
        wrong.push(root.key("where").mistake(message, "expected one that holds for `smallest`"));
    }
    LoadError::check(wrong)?;
    let failure = KnownFailure {
        file: source.name.clone(),
        id: file.finding.clone(),
        cases: file.filter.clone().unwrap_or_else(|| format!("{} listed", 1 + file.cases.len())),
        classes,
        status: file.status,
        kind: file.kind,
        is_partial: file.partial,
        is_flaky: file.flaky,
        reason: file.reason.as_deref().unwrap_or_default().trim().to_owned(),
        link: file.link.clone(),
    };
    let applies = file.applies.clone().unwrap_or_default();
    let cases = smallest.into_iter().chain(cases).collect();
    let entry = KnownEntry::new(failure, applies, predicate, cases).with_output(output.flatten());
    Ok((document.value, entry))
}

/// Checks that the id is one, and that the file has its name.
fn check_id(file: &FindingFile, path: &str, root: Place<'_>, wrong: &mut Vec<Diagnostic>) {
    let id = &file.finding;
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(is_plain) {
        let message = format!("`{id}` is not an id");
        wrong.push(root.key("finding").mistake(message, "expected lower-case words joined by hyphens"));
    } else if Path::new(path).file_stem().is_none_or(|name| name != id.as_str()) {
        let message = format!("the file of `{id}` has another name");
        wrong.push(root.key("finding").mistake(message, format!("expected the name {id}.yaml")));
    }
}

fn check_bounds(name: &str, bounds: &BoundsForm, place: Place<'_>, wrong: &mut Vec<Diagnostic>) {
    if bounds.from.is_none() && bounds.below.is_none() {
        let label = "expected `from`, `below` or both";
        wrong.push(place.name(name).mistake("these bounds exclude nothing", label));
    }
    if bounds.are_empty() {
        let message = format!("no {name} is {bounds}, so that the finding never applies");
        wrong.push(place.name(name).mistake(message, "expected a `from` that is less than `below`"));
    }
    for (key, bound) in [("from", &bounds.from), ("below", &bounds.below)] {
        if let Some(text) = bound.as_deref().filter(|text| !is_version(text)) {
            let message = format!("`{text}` is not a version");
            wrong.push(place.key(name).key(key).mistake(message, "expected a number such as 25.2"));
        }
    }
}

fn case(text: &str, place: Place<'_>, library: &Library, wrong: &mut Vec<Diagnostic>) -> Option<Case> {
    line::parse(text, library.signatures()).map_err(|error| wrong.push(place.misread(error))).ok()
}
