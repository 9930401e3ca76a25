//! Turns forms into operators: resolves every name, checks and compiles every expression, and executes every
//! example.
//!
//! After a mistake, loading continues with the parts that do not depend on it, so that one load reports as
//! many mistakes as possible. Loading returns no partly checked operators: any mistake makes it fail.

mod bindings;
mod common;
mod examples;
mod members;
mod operator;
mod proof;
mod rules;
mod semantics;
mod support;

pub(crate) use proof::Proof;

use std::sync::Arc;

use dmlcts_model::Signatures;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Diagnostic, Library, LoadError, Operator, Source, form, yaml};

/// Loads `common.yaml`, the first source, and the operators, the other sources.
pub(crate) fn load(sources: &[Source], proof: Proof) -> Result<Library, LoadError> {
    let Some((first, others)) = sources.split_first() else {
        let nothing = Source::new("the library", "");
        let place = crate::source::Located::new(&nothing);
        let message = "no sources: the first is what operators share, the others are operators";
        return Err(LoadError::of(Diagnostic::new(&place, 0..0, message, "")));
    };
    let mut wrong = Vec::new();
    let common = read::<form::CommonForm>(first, &mut wrong);
    let common = common.map(|document| common::Common::check(document, &mut wrong));
    let documents: Vec<_> =
        others.iter().filter_map(|source| read::<form::OperatorForm>(source, &mut wrong)).collect();
    // Checking the operators without it would only repeat its mistakes.
    let Some(common) = common else { return Err(LoadError { diagnostics: wrong }) };
    let mut operators: Vec<Operator> = Vec::new();
    for document in &documents {
        let name = &document.value.operator;
        if operators.iter().any(|operator| operator.name() == name) {
            let message = format!("operator `{name}` is defined twice");
            wrong.push(document.root().key("operator").mistake(message, "the second one"));
            continue;
        }
        operators.extend(operator::load(&common, document, proof, &mut wrong));
    }
    let form = &common.document.value;
    let place = common.document.root();
    let remarks = operator::remarks([&form.errata, &form.notes], place, &form.page, "", &mut wrong);
    let bindings = bindings::load(&common.document, &operators, &mut wrong);
    LoadError::check(wrong)?;
    for (position, operator) in operators.iter_mut().enumerate() {
        operator.position = position;
    }
    let hash = hash(first, &documents, others);
    let signatures = Signatures::new(operators.iter().map(|operator| Arc::clone(operator.signature())));
    Ok(Library { operators, remarks, bindings, signatures, hash })
}

/// Reads a file, or reports its mistakes.
fn read<T: DeserializeOwned + JsonSchema>(
    source: &Source,
    wrong: &mut Vec<Diagnostic>,
) -> Option<yaml::Document<T>> {
    yaml::read(source).map_err(|error| wrong.extend(error.diagnostics)).ok()
}

/// The hash of the sources: the shared file first, then the operators by name. It depends neither on the
/// order of the operators nor on line endings.
fn hash(common: &Source, documents: &[yaml::Document<form::OperatorForm>], operators: &[Source]) -> String {
    let mut operators: Vec<(&str, &Source)> =
        documents.iter().map(|document| document.value.operator.as_str()).zip(operators).collect();
    operators.sort_by_key(|(name, _)| *name);
    let mut hasher = blake3::Hasher::new();
    for source in std::iter::once(common).chain(operators.into_iter().map(|(_, source)| source)) {
        let text = source.with_line_feeds();
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
