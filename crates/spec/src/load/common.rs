//! Checks `common.yaml`, the rules that all operators share.

use std::{collections::BTreeSet, sync::Arc};

use dmlcts_model::{DataType, Enumeration, Enumerator, FeatureLevel, NumberKind, closest};

use crate::{
    Citation, Diagnostic,
    form::{CommonForm, DataTypeForm, EnumeratorForm},
    names::{self, list, suggested},
    yaml::{Document, Place},
};

/// The shared rules, with every name resolved.
pub(super) struct Common {
    pub(super) document: Document<CommonForm>,
    pub(super) enumerations: Vec<KnownEnumeration>,
}

/// An enumeration, with the feature level and citation of each enumerator.
pub(super) struct KnownEnumeration {
    pub(super) enumeration: Arc<Enumeration>,
    pub(super) since: Vec<(Option<FeatureLevel>, Citation)>,
}

impl Common {
    /// Checks the file. Adds mistakes to `wrong`, and keeps the parts without mistakes.
    pub(super) fn check(document: Document<CommonForm>, wrong: &mut Vec<Diagnostic>) -> Self {
        let form = &document.value;
        let root = document.root();
        levels(root.key("levels"), &form.levels, wrong);
        let mut codes = BTreeSet::new();
        for (index, data_type) in form.data_types.iter().enumerate() {
            let place = root.key("data_types").index(index);
            check_data_type(place, data_type, wrong);
            if !codes.insert(data_type.code) {
                let message = format!("code {} is written twice", data_type.code);
                wrong.push(place.key("code").mistake(message, "the second one"));
            }
        }
        for missing in DataType::all().filter(|data_type| !codes.contains(&data_type.0)) {
            let message = format!("data type {missing} of DirectML.h is missing");
            wrong.push(root.name("data_types").mistake(message, "add it here"));
        }
        let mut enumerations = Vec::new();
        for (index, enumeration) in form.enumerations.iter().enumerate() {
            let place = root.key("enumerations").index(index);
            let earlier = form.enumerations[..index].iter().any(|other| other.name == enumeration.name);
            if earlier {
                let message = format!("enumeration `{}` is defined twice", enumeration.name);
                wrong.push(place.key("name").mistake(message, "the second one"));
            }
            let mut known = Vec::new();
            let mut since = Vec::new();
            for (index, enumerator) in enumeration.enumerators.iter().enumerate() {
                let place = place.key("enumerators").index(index);
                let before = &enumeration.enumerators[..index];
                check_unique(place, enumerator, before, wrong);
                known.push(Enumerator { name: enumerator.name.clone(), value: i64::from(enumerator.value) });
                let level = enumerator.since.as_deref();
                let level = level.and_then(|text| level_at(place.key("since"), text, wrong));
                since.push((level, cite(enumerator.page.as_ref(), &enumerator.cite, &form.page)));
            }
            let enumeration = Enumeration { name: enumeration.name.clone(), enumerators: known };
            enumerations.push(KnownEnumeration { enumeration: Arc::new(enumeration), since });
        }
        Self { document, enumerations }
    }

    /// The enumeration with this name.
    pub(super) fn enumeration(&self, name: &str) -> Option<&KnownEnumeration> {
        self.enumerations.iter().find(|known| known.enumeration.name == name)
    }
}

fn check_unique(
    place: Place<'_>,
    enumerator: &EnumeratorForm,
    before: &[EnumeratorForm],
    wrong: &mut Vec<Diagnostic>,
) {
    if before.iter().any(|other| other.name == enumerator.name) {
        let message = format!("enumerator `{}` is defined twice", enumerator.name);
        wrong.push(place.key("name").mistake(message, "the second one"));
    }
    if before.iter().any(|other| other.value == enumerator.value) {
        let message = format!("value {} is written twice", enumerator.value);
        wrong.push(place.key("value").mistake(message, "the second one"));
    }
}

/// Checks that the file's levels are those that the program knows, so that neither list becomes outdated
/// unnoticed.
fn levels(place: Place<'_>, levels: &[String], wrong: &mut Vec<Diagnostic>) {
    for (index, text) in levels.iter().enumerate() {
        let Some(level) = level_at(place.index(index), text, wrong) else { continue };
        if FeatureLevel::all().get(index) != Some(&level) {
            let message = format!("level {level} is out of order, or one before it is missing");
            let label = "levels stand oldest first, each once";
            wrong.push(place.index(index).mistake(message, label));
            return;
        }
    }
    if let Some(missing) = FeatureLevel::all().get(levels.len()) {
        wrong.push(place.mistake(format!("level {missing} of DirectML.h is missing"), "add it at the end"));
    }
}

fn check_data_type(place: Place<'_>, form: &DataTypeForm, wrong: &mut Vec<Diagnostic>) {
    let Some(data_type) = data_type_at(place.key("name"), &form.name, wrong) else { return };
    if data_type.0 != form.code {
        let message = format!("data type {} has code {} in DirectML.h", form.name, data_type.0);
        wrong.push(place.key("code").mistake(message, format!("expected {}", data_type.0)));
    }
    if data_type.bits() != Some(form.bits) {
        let bits = data_type.bits().unwrap_or(0);
        let message = format!("data type {} has {bits} bits an element", form.name);
        wrong.push(place.key("bits").mistake(message, format!("expected {bits}")));
    }
    let kind = data_type.number_kind().map_or("none", NumberKind::name);
    if kind != form.kind {
        let message = format!("data type {} is read as {kind}", form.name);
        wrong.push(place.key("kind").mistake(message, format!("expected `{kind}`")));
    }
}

/// Parses a feature level, or reports a mistake.
pub(super) fn level_at(place: Place<'_>, text: &str, wrong: &mut Vec<Diagnostic>) -> Option<FeatureLevel> {
    text.parse()
        .map_err(|_| {
            let label = "not a level of DirectML.h";
            wrong.push(
                place
                    .mistake(format!("there is no feature level `{text}`"), label)
                    .help(format!("the levels are {}", names::levels())),
            );
        })
        .ok()
}

/// Parses a data type that an element can have, or reports a mistake.
pub(super) fn data_type_at(place: Place<'_>, text: &str, wrong: &mut Vec<Diagnostic>) -> Option<DataType> {
    let found = DataType::from_name(text).filter(|&data_type| data_type != DataType::UNKNOWN);
    if found.is_none() {
        let names = || DataType::all().filter_map(DataType::name);
        let diagnostic =
            place.mistake(format!("there is no data type `{text}`"), "not a data type of DirectML.h");
        let all = || format!("the data types are {}", list(names()));
        wrong.push(diagnostic.help(suggested(closest(text, names()), all)));
    }
    found
}

/// A citation. The default page is the file's.
pub(super) fn cite(page: Option<&String>, section: &str, file: &str) -> Citation {
    Citation { page: page.map_or(file, String::as_str).to_owned(), section: section.to_owned() }
}
